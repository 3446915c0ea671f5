"""Files of feedback and of tables, read as records. Pure."""
