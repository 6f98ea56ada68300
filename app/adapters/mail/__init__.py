"""Mail: sent, received, and its signatures checked."""
