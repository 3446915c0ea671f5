"""What an analyst is sent and what is read in its reply. Pure."""
