"""Which compute kernels a pull request touches, and whether vendors agree on them."""
