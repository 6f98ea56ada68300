"""Proof of life: that a person stands behind an account, shown by mail."""
