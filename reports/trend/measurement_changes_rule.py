"""Changes of tests, judges and scoring between runs, in words. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from evalhub.display.formatting import listed, percent
from evalhub.values.digest import digest


class Measure(NamedTuple):
    """Fingerprints of a run's tests and judges; different ones are marked as a change.

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
    judges = "jury" if _judges(juries[0]) != _judges(juries[1]) else "template"
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
    old, new = percent(before.beta), percent(after.beta)
    similarity = f"The weight of similarity changed from {old} to {new}."
    return (
        *(words_of_tests(details) if "tests" in kinds else ()),
        *(jury_words(*juries) if "jury" in kinds else ()),
        *(_template_words(details, alone="template" in kinds) if before.jury != after.jury else ()),
        *((similarity,) if "similarity" in kinds else ()),
    )


def words_of_tests(details: Details | None) -> tuple[str, ...]:
    """Return a sentence such as "2 tests were added and 25 tests were reworded."."""
    if details is None:
        return ("The tests changed.",)
    counts = (
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
    parts = [
        f"{n:,} test {one}" if n == 1 else f"{n:,} tests {several}"
        for n, one, several in counts
        if n
    ]
    return (f"{listed(parts)}.",) if parts else ("The tests changed.",)


def jury_words(before: Jury, after: Jury) -> tuple[str, ...]:
    """Describe judges that left, joined, or changed settings."""
    if not after:
        return ("There is no jury any more.",)
    if not before:
        return (f"New jury: {', '.join(judge['name'] for judge in after.get('judges', ()))}.",)
    old, new = _judges(before), _judges(after)
    left = [name for key, name in old.items() if key not in new]
    joined = [name for key, name in new.items() if key not in old]
    both = [name for name in left if name in joined]
    sentences = [f"{_capitalized(name)} has new settings." for name in both]
    left = [name for name in left if name not in both]
    joined = [name for name in joined if name not in both]
    if len(left) == len(joined) == 1:
        return (*sentences, f"{_capitalized(joined[0])} replaced {left[0]}.")
    sentences += [f"{listed(left)} left the jury."] if left else []
    sentences += [f"{listed(joined)} joined the jury."] if joined else []
    return tuple(sentences)


def _capitalized(name: str) -> str:
    return name[:1].upper() + name[1:] if name.startswith("the ") else name


def _judges(jury: Jury) -> dict[str, str]:
    """Return the names of the judges by their identity; the backup is marked."""
    backup = jury.get("backup")
    judges = {_identity(judge): str(judge["name"]) for judge in jury.get("judges", ())}
    if backup:
        judges[f"backup {_identity(backup)}"] = f"the backup {backup['name']}"
    return judges


def _identity(judge: Mapping[str, Any]) -> str:
    endpoint = judge["endpoint"]
    params = endpoint.get("params", {}) | judge.get("params", {})
    address = [endpoint.get("litellm_model"), endpoint.get("api_base")]
    method = [judge.get("method") or "single", judge.get("role") or ""]
    return digest([*address, judge.get("approach"), params, judge.get("samples"), *method])


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
