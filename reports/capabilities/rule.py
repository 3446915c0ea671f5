"""Capabilities: a model's score in broad buckets of grades, topics and suites. Pure.

A bucket weighs dimensions (an analyst's grades, as shares), topics (every suite about one) and
suites by name. A suite listed by name does not count by its topics; of several topics the heaviest
counts. This is commentary, not a truth about a model.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, fsum

from reports.leaderboard.rule import Excluded, needs

MIN_RUNS = 10
MIN_SUITES = 5

DIMENSION, TOPIC, SUITE = "dimension", "topic", "suite"


@dataclass(frozen=True)
class Bucket:
    """Weights above 0: of dimensions by key, of topics by topic key, of suites by name."""

    name: str
    dimensions: Mapping[str, float]
    topics: Mapping[str, float]
    suites: Mapping[str, float]


@dataclass(frozen=True)
class InSuite:
    """A model's score in one suite, in [0, 1], and the topics of its runs."""

    score: float
    topics: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Record:
    """A model's runs, grades and scores.

    Attributes:
        runs: Conclusive runs, of any suite.
        suites: Suites with a conclusive run.
        grades: Its mean grade by dimension, from 1 to 10.
        scores: By name of the suite.
    """

    model: str
    runs: int
    suites: int
    grades: Mapping[str, float]
    scores: Mapping[str, InSuite]


@dataclass(frozen=True)
class Part:
    """A component of a score.

    For a topic, `name` is the topic and `suite` the suite about it; for others `suite` is "".
    """

    kind: str
    name: str
    suite: str
    weight: float
    score: float


@dataclass(frozen=True)
class Capability:
    """A model's score in one bucket: Σ w·s / Σ w over its parts, in [0, 1]."""

    model: str
    score: float
    parts: tuple[Part, ...]


def share_of_grade(grade: float) -> float:
    """Return a grade from 1 to 10 as a share in [0, 1]."""
    return (grade - 1) / 9


def parts_of(bucket: Bucket, record: Record) -> tuple[Part, ...]:
    """Return the components of this model's score in this bucket."""
    graded = [
        Part(DIMENSION, key, "", weight, share_of_grade(record.grades[key]))
        for key, weight in bucket.dimensions.items()
        if key in record.grades
    ]
    named = [
        Part(SUITE, name, "", weight, record.scores[name].score)
        for name, weight in bucket.suites.items()
        if name in record.scores
    ]
    about = [
        Part(TOPIC, topic, name, bucket.topics[topic], found.score)
        for name, found in sorted(record.scores.items())
        if name not in bucket.suites and (topic := _heaviest(bucket, found))
    ]
    return (*graded, *about, *named)


def _heaviest(bucket: Bucket, found: InSuite) -> str:
    """Return the suite's topic with the highest weight, the first by name of equals; "": none."""
    topics = [topic for topic in found.topics if topic in bucket.topics]
    return min(topics, key=lambda topic: (-bucket.topics[topic], topic), default="")


def capability(bucket: Bucket, record: Record) -> Capability | Excluded:
    """Score the model in the bucket, or list everything it lacks."""
    lacks = _lacks(bucket, record)
    parts = parts_of(bucket, record)
    if not parts:
        lacks.append("has no component of this capability")
    if lacks:
        return Excluded(record.model, "; ".join(lacks))
    weight = fsum(part.weight for part in parts)
    return Capability(
        record.model, fsum(part.weight * part.score for part in parts) / weight, parts
    )


def _lacks(bucket: Bucket, record: Record) -> list[str]:
    half = ceil(len(bucket.suites) / 2)
    listed = sum(name in record.scores for name in bucket.suites)
    gates = (
        (MIN_RUNS, "run", record.runs),
        (MIN_SUITES, "suite", record.suites),
        (half, f"of the {len(bucket.suites)} listed suite", listed),
    )
    return [needs(least, what, has) for least, what, has in gates if has < least]
