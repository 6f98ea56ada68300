"""What runs on a vendor's machine: the base install only, no web and no database."""
