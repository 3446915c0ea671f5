"""Statistics, one to a module. Pure."""
