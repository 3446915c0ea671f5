"""A history of invented models for the demo, with planted findings that reports should tell."""
