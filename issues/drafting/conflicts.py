"""Why a model should not draft: it would be judged by itself, or tested on its own kind of text.

Higher floors know juries and candidates, and contribute their reasons.
"""

from collections.abc import Callable, Iterable

from evalhub.llm.model_identity import identity_of
from evalhub.models import LanguageModel
from issues.models import Issue

Reasons = Callable[[LanguageModel, Issue | None], Iterable[str]]

_contributed: list[Reasons] = []


def contribute_conflicts(reasons: Reasons) -> None:
    """Let `reasons` say in sentences why a model should not draft tests of an issue."""
    _contributed.append(reasons)


def conflicts_of(generator: LanguageModel, issue: Issue | None) -> list[str]:
    """Return why the generator is not independent; empty if it is. A person can overrule these."""
    return [reason for reasons in _contributed for reason in reasons(generator, issue)]


def is_same_model(one: LanguageModel, other: LanguageModel) -> bool:
    return one.pk == other.pk or identity_of(one).key == identity_of(other).key


def is_same_family(one: LanguageModel, other: LanguageModel) -> bool:
    """Return whether two models share a family, or are one model; unknown families differ."""
    families = identity_of(one).family, identity_of(other).family
    return is_same_model(one, other) or (bool(families[0]) and families[0] == families[1])
