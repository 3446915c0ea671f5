"""Filters of a list that a person keeps under a name. What they mean is the list's to check."""

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import NoReverseMatch, reverse

from evalhub.access.models import SavedFilter, User
from evalhub.storable import UNSTORABLE

LONGEST = 2000
"""Characters of a query that is kept."""
MOST = 50
"""Filters that a person keeps of one list."""
PASSING = {"p", "e", "all", "_popup", "_to_field", "_changelist_filters"}
"""Parameters that say where in a list one is, not what it shows."""
SAVED_PARAMETERS = ("_changelist", "_board")


def address_of(page: str) -> str:
    """The address of a list by its URL name; "" where there is no such list."""
    if not page.startswith("admin:") or not page.endswith(SAVED_PARAMETERS):
        return ""
    try:
        return reverse(page)
    except NoReverseMatch:
        return ""


def saved_query(query: str) -> str:
    """A query string as it is kept: its pairs, without what is empty or passing."""
    kept = QueryDict(mutable=True)
    for name, values in QueryDict(query).lists():
        if name not in PASSING and any(values):
            kept.setlist(UNSTORABLE.sub("", name), [UNSTORABLE.sub("", v) for v in values if v])
    return kept.urlencode()


def filters_of(user: User, page: str) -> QuerySet[SavedFilter]:
    return SavedFilter.objects.filter(user=user, page=page)


def save(user: User, page: str, name: str, query: str, *, replace: bool = False) -> SavedFilter:
    """Keep a list's filters under a name, in the place of those of that name if so wanted.

    Raises:
        ValidationError: There is no such list, nothing is filtered, the name is empty, too long
            or in use, the filters are too long, or there are too many already.
    """
    name, kept = " ".join(name.split()), saved_query(query)
    old = filters_of(user, page).filter(name__iexact=name).first()
    problems = _problems(page, kept)
    if filters_of(user, page).count() >= MOST and old is None:
        problems.append(f"You keep {MOST} filters of this list already: delete one first.")
    if old is not None and not replace:
        raise ValidationError({"name": f"You have a filter “{old}” for this list already."})
    if problems:
        raise ValidationError(problems)
    row = old or SavedFilter(user=user, page=page)
    row.name, row.query = name, kept
    row.full_clean()
    row.save()
    return row


def _problems(page: str, query: str) -> list[str]:
    problems = []
    if not address_of(page):
        problems.append(f"There is no list called {page[:100]!r}.")
    if not query:
        problems.append("Nothing is filtered: choose filters or search first, then save them.")
    if len(query) > LONGEST:
        problems.append(f"These filters take {len(query)} characters; at most {LONGEST} are kept.")
    return problems
