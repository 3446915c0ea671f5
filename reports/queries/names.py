"""Names of issues, and of the tags that they had when a run was launched."""

from collections.abc import Collection

from django.db.models import Q, QuerySet
from django.utils.text import Truncator

from evalhub.llm.model_identity import Identity, identity_of
from evalhub.models import LanguageModel
from evalhub.values.id_in import IdIn
from issues.models import Issue
from runs.models import TagSet

ASKED_CHARS = 80
"""Of a prompt, in the name of its test."""


def titles(issues: Collection[int]) -> dict[int, str]:
    """Return the title of each issue; one query."""
    rows = Issue.objects.filter(IdIn("pk", issues)).order_by()
    return dict(rows.values_list("pk", "title"))


def tag_names(sets: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Return the tags of each of these sets; one query."""
    return _names(TagSet.objects.filter(IdIn("pk", sets)))


def all_tag_names() -> dict[int, tuple[str, ...]]:
    """Return the tags of each set that there is; one query."""
    return _names(TagSet.objects.all())


def _names(sets: QuerySet[TagSet]) -> dict[int, tuple[str, ...]]:
    return {pk: tuple(names) for pk, names in sets.order_by().values_list("pk", "names")}


def name_of_test(test: int, prompt: str | None) -> str:
    """Return what a test asks, in one short line; its id where that is not known, or sealed."""
    text = " ".join((prompt or "").split())
    return f"“{Truncator(text).chars(ASKED_CHARS)}”" if text else f"test {test}"


SEARCHED = ("label", "model_name", "release", "launch__label", "suite__name")


def run_search(search: str) -> Q:
    """Match runs with every word in their label, model, release, launch or suite."""
    wanted = Q()
    for word in search.split():
        wanted &= Q(*((f"{place}__icontains", word) for place in SEARCHED), _connector=Q.OR)
    return wanted


def identities() -> dict[int, Identity]:
    """Return the identity of every language model by id; one query."""
    rows = LanguageModel.objects.order_by("pk").only(
        "name", "litellm_model", "api_base", "identity", "developer", "family"
    )
    return {model.pk: identity_of(model) for model in rows}
