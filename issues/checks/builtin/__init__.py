"""The built-in checks, a module for each family."""
