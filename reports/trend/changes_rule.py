"""Changes of tests, judges and scoring between runs, in words. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.digest import digest
from evalhub.formatting import percent


class Measure(NamedTuple):
    """Fingerprints of a run's tests and judges; equal ones mean comparable runs.

    `jury` is "" without judges; `beta` is the share of similarity in a score.
    """

    suite: str
    jury: str
    beta: float


@dataclass(frozen=True)
class Details:
    """The differences of two measures, which take a look at all tests to find.

    Attributes:
        added, removed: Tests of only the later, or only the earlier run.
        reworded: Tests whose prompt changed.
        rejudged: Tests of which only reference, rubric or judge template changed.
        reweighted: Tests of which only the weight changed.
        templates: Families of judge templates with their versions before and after; None: none.
    """

    added: int = 0
    removed: int = 0
    reworded: int = 0
    rejudged: int = 0
    reweighted: int = 0
    templates: tuple[tuple[str, int | None, int | None], ...] = ()


Jury = Mapping[str, Any]
"""The content of `JudgeRun.jury`; {} without judges."""


def kinds_of(before: Measure, after: Measure, juries: tuple[Jury, Jury]) -> tuple[str, ...]:
    """Return the kinds of change: tests, jury (template, if the judges are equal), similarity."""
    judges = "jury" if _seats(juries[0]) != _seats(juries[1]) else "template"
    found = {
        "tests": before.suite != after.suite,
        judges: before.jury != after.jury,
        "similarity": before.beta != after.beta,
    }
    return tuple(kind for kind, changed in found.items() if changed)


def words_of(
    before: Measure, after: Measure, juries: tuple[Jury, Jury], details: Details | None
) -> tuple[str, ...]:
    """Describe the changes in sentences.

    Args:
        details: None where they are not computed yet.
    """
    kinds = kinds_of(before, after, juries)
    return (
        *(words_of_tests(details) if "tests" in kinds else ()),
        *(jury_words(*juries) if "jury" in kinds else ()),
        *(_template_words(details, alone="template" in kinds) if before.jury != after.jury else ()),
        *(_similarity_words(before, after) if "similarity" in kinds else ()),
    )


def words_of_tests(details: Details | None) -> tuple[str, ...]:
    """Return a sentence such as "2 tests were added and 25 tests were reworded."."""
    parts = [] if details is None else [*_parts_of_tests(details)]
    return (f"{_sentence(parts)}.",) if parts else ("The tests changed.",)


def _parts_of_tests(details: Details) -> Iterable[str]:
    told = (
        (details.reworded, "was reworded", "were reworded"),
        (
            details.rejudged,
            "has a new reference, rubric or judge template",
            "have a new reference, rubric or judge template",
        ),
        (details.reweighted, "has a new weight", "have new weights"),
        (details.added, "was added", "were added"),
        (details.removed, "was removed", "were removed"),
    )
    for n, one, several in told:
        if n:
            yield f"{n:,} {'test' if n == 1 else 'tests'} {one if n == 1 else several}"


def _sentence(parts: Sequence[str]) -> str:
    *rest, last = parts
    return f"{', '.join(rest)} and {last}" if rest else last


def jury_words(before: Jury, after: Jury) -> tuple[str, ...]:
    """Describe judges that left, joined, or changed settings."""
    if not after:
        return ("There is no jury any more.",)
    if not before:
        return (f"New jury: {', '.join(_names(after))}.",)
    old, new = _seats(before), _seats(after)
    gone = [name for key, name in old.items() if key not in new]
    came = [name for key, name in new.items() if key not in old]
    both = [name for name in gone if name in came]
    return (
        *(f"{_named(name)} has new settings." for name in both),
        *_exchanged(
            [name for name in gone if name not in both], [name for name in came if name not in both]
        ),
    )


def _exchanged(gone: Sequence[str], came: Sequence[str]) -> tuple[str, ...]:
    if len(gone) == len(came) == 1:
        return (f"{_named(came[0])} replaced {gone[0]}.",)
    return (
        *((f"{_sentence(gone)} left the jury.",) if gone else ()),
        *((f"{_sentence(came)} joined the jury.",) if came else ()),
    )


def _named(name: str) -> str:
    return name[:1].upper() + name[1:] if name.startswith("the ") else name


def _names(jury: Jury) -> list[str]:
    return [judge["name"] for judge in jury.get("judges", ())]


def _seats(jury: Jury) -> dict[str, str]:
    """Return the names of the judges by their identity; the backup is marked."""
    backup = jury.get("backup")
    seats = {_identity(judge): str(judge["name"]) for judge in jury.get("judges", ())}
    if backup:
        seats[f"backup {_identity(backup)}"] = f"the backup {backup['name']}"
    return seats


def _identity(judge: Mapping[str, Any]) -> str:
    endpoint = judge["endpoint"]
    params = endpoint.get("params", {}) | judge.get("params", {})
    address = [endpoint.get("litellm_model"), endpoint.get("api_base")]
    return digest([*address, judge.get("approach"), params, judge.get("samples")])


def _template_words(details: Details | None, *, alone: bool) -> Iterable[str]:
    """Describe changed judge templates; `alone`: nothing else explains the change."""
    templates = details.templates if details else ()
    for family, before, after in templates:
        if before is None or after is None:
            yield f"The judge template {family} is {'new' if before is None else 'no longer used'}."
        else:
            yield f"The judge template {family} went from version {before} to {after}."
    if alone and not templates:
        yield "A judge template changed."


def _similarity_words(before: Measure, after: Measure) -> tuple[str, ...]:
    old, new = percent(before.beta), percent(after.beta)
    return (f"The weight of similarity changed from {old} to {new}.",)
