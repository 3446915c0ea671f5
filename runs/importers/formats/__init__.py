"""Files of other tools read as records. Pure."""
