"""Drafts of tests that a model writes and a person accepts, and edits of texts by a model."""
