"""Whom a review concerns besides the reviewer."""

from runs.review.models import Place


def told_sent_back(place: Place) -> None:
    """Tell the annotator that their review was sent back, and why."""
