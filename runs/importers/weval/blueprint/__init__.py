"""Weval's blueprint files, read and written. Pure."""
