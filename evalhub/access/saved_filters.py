"""Saved filters of a list. The list itself validates them when they are applied."""

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import NoReverseMatch, reverse

from evalhub.access.models import SavedFilter, User
from evalhub.limits import MAX_SAVED_FILTERS
from evalhub.values.storable import UNSTORABLE

MAX_QUERY = 2000
"""Characters of a saved query."""
TRANSIENT = {"p", "e", "all", "_popup", "_to_field", "_changelist_filters"}
"""Parameters of the position in a list, not of its content."""
LIST_PAGES = ("_changelist", "_board")


def address_of(page: str) -> str:
    """Return the address of a list by its URL name, or ""."""
    if not page.startswith("admin:") or not page.endswith(LIST_PAGES):
        return ""
    try:
        return reverse(page)
    except NoReverseMatch:
        return ""


def saved_query(query: str) -> str:
    """Normalise a query string: drop empty and transient parameters."""
    kept = QueryDict(mutable=True)
    for name, values in QueryDict(query).lists():
        if name not in TRANSIENT and any(values):
            kept.setlist(UNSTORABLE.sub("", name), [UNSTORABLE.sub("", v) for v in values if v])
    return kept.urlencode()


def filters_of(user: User, page: str) -> QuerySet[SavedFilter]:
    return SavedFilter.objects.filter(user=user, page=page)


def save(user: User, page: str, name: str, query: str, *, replace: bool = False) -> SavedFilter:
    """Save a list's filters under a name.

    Raises:
        ValidationError: The list or name is invalid, the name is taken, nothing is filtered, or a
            limit is reached.
    """
    name, kept = " ".join(name.split()), saved_query(query)
    old = filters_of(user, page).filter(name__iexact=name).first()
    problems = []
    if not address_of(page):
        problems.append(f"There is no list called {page[:100]!r}.")
    if not kept:
        problems.append("Nothing is filtered: filter or search first, then save.")
    if len(kept) > MAX_QUERY:
        problems.append(f"These filters have {len(kept)} characters, more than {MAX_QUERY}.")
    if filters_of(user, page).count() >= MAX_SAVED_FILTERS and old is None:
        problems.append(
            f"This list has {MAX_SAVED_FILTERS} saved filters already: delete one first."
        )
    if old is not None and not replace:
        raise ValidationError({"name": f"This list already has a saved filter “{old}”."})
    if problems:
        raise ValidationError(problems)
    row = old or SavedFilter(user=user, page=page)
    row.name, row.query = name, kept
    row.full_clean()
    row.save()
    return row
