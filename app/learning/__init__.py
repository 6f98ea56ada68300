"""Training and judging of models: numpy, pyarrow and scikit-learn, which no service process imports."""
