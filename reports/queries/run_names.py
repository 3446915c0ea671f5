"""Text search for runs."""

from django.db.models import Q

PLACES = ("label", "model_name", "release", "launch__label", "suite__name")


def saying(search: str) -> Q:
    """Match runs with every word in their label, model, release, launch or suite."""
    wanted = Q()
    for word in search.split():
        wanted &= Q(*((f"{place}__icontains", word) for place in PLACES), _connector=Q.OR)
    return wanted
