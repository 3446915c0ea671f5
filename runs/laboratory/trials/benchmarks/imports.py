"""Benchmarks of real texts with the labels of annotators, from JSON lines.

Each line is an object with two texts and a label, or a score from 1 to 7. Nothing is dropped: an
unknown key or a wrong value is a problem that names its line.
"""

from collections.abc import Sequence
from typing import NamedTuple

from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalhub.models import User
from evalhub.refusals import Refused
from evalhub.values.option_problems import option_problems
from evalhub.values.storable import REASON, unstorable
from evalhub.values.strict_json import excerpt, parse
from runs.laboratory.trials.claims.claim_rows import split_of
from runs.laboratory.trials.generation.graph import KEY, KINDS, ArtifactKind
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    BenchmarkState,
    Claim,
    ClaimKind,
    Idea,
    Source,
    Topic,
    Validity,
)
from runs.limits import MAX_BENCHMARK_LINES

MAX_TEXT = 200_000
TRUE_FROM = 4.0
"""Least score of annotators by which two texts count as similar."""

OTHERS = "Imported"
"""Topic of lines without one."""


class LabelledPair(BaseModel):
    """A line: two texts of a kind, and what annotators say of them.

    Lines with the same `idea` are about one thing: figures are resampled by it.
    """

    model_config = ConfigDict(extra="forbid")

    left: str = Field(min_length=1, max_length=MAX_TEXT)
    right: str = Field(min_length=1, max_length=MAX_TEXT)
    label: bool | None = None
    score: float | None = Field(None, ge=1, le=7)
    kind: str = Field("summary", pattern=f"^{KEY.pattern}$")
    topic: str = Field(OTHERS, min_length=1, max_length=200)
    idea: str = Field("", max_length=200)

    @model_validator(mode="after")
    def is_labelled(self) -> "LabelledPair":
        if self.label is None and self.score is None:
            raise ValueError("label and score are missing: give one of them.")
        if self.left == self.right:
            raise ValueError("left and right are the same text.")
        return self

    @property
    def truth(self) -> bool:
        return self.label if self.label is not None else (self.score or 0) >= TRUE_FROM


class Line(NamedTuple):
    """A pair with its line number."""

    number: int
    pair: LabelledPair


def read_lines(text: str) -> list[Line]:
    """Parse JSON lines; raise Refused with every problem and its line."""
    found, problems = [], []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(Line(number, _pair(parse(line))))
        except ValidationError as error:
            problems += [f"Line {number}: {problem}" for problem in option_problems(error)]
        except (ValueError, RecursionError) as error:
            problems.append(f"Line {number}: {error}")
    if not found and not problems:
        problems.append('There is no line. Each is an object such as {"left": …, "right": …}.')
    if len(found) > MAX_BENCHMARK_LINES:
        problems.append(f"There are {len(found):,} lines: at most {MAX_BENCHMARK_LINES:,} at once.")
    if problems:
        raise Refused(problems[:200], field="claims")
    return found


def _pair(value: object) -> LabelledPair:
    if not isinstance(value, dict):
        raise ValueError(f"expected an object, not {excerpt(value)}.")
    if places := unstorable(value):
        raise ValueError(f"{places[0]} {REASON}")
    return LabelledPair.model_validate(value)


@transaction.atomic
def import_benchmark(
    name: str, lines: Sequence[Line], *, by: User | None, sealed: bool = False
) -> Benchmark:
    """Make a benchmark of labelled pairs, with a claim for each.

    Raises:
        Refused: The name is taken.
    """
    if Benchmark.objects.filter(name=name).exists():
        raise Refused([f"There is a benchmark {name!r} already: choose another name."])
    kinds = {kind.key: kind for kind in KINDS}
    kinds |= {
        line.pair.kind: ArtifactKind(line.pair.kind, line.pair.kind)
        for line in lines
        if line.pair.kind not in kinds
    }
    benchmark: Benchmark = Benchmark.objects.create(
        name=name,
        kinds=[kind.as_json() for kind in kinds.values()],
        is_imported=True,
        sealed=sealed,
        state=BenchmarkState.READY,
        author=by,
    )
    ideas = _ideas(benchmark, lines)
    texts = _artifacts(benchmark, lines, ideas, kinds)
    Claim.objects.bulk_create(
        Claim(
            benchmark=benchmark,
            kind=ClaimKind.LABELLED,
            left=left,
            right=right,
            truth=line.pair.truth,
            score=line.pair.score,
            split=split_of(benchmark, {ideas[line.number].pk}),
            idea=ideas[line.number],
            topic_id=ideas[line.number].topic_id,
        )
        for line, left, right in zip(lines, texts[::2], texts[1::2], strict=True)
    )
    return benchmark


def _ideas(benchmark: Benchmark, lines: Sequence[Line]) -> dict[int, Idea]:
    """Return the idea of each line, by its number."""
    titles = list(dict.fromkeys(line.pair.topic for line in lines))
    topics = {
        title: Topic(benchmark=benchmark, title=title, place=place, source=Source.IMPORTED)
        for place, title in enumerate(titles, 1)
    }
    Topic.objects.bulk_create(topics.values())
    made: dict[tuple[str, str], Idea] = {}
    found = {}
    for line in lines:
        name = line.pair.idea or f"Line {line.number}"
        key = (line.pair.topic, name)
        if key not in made:
            made[key] = Idea(
                topic=topics[key[0]], name=name, place=line.number, source=Source.IMPORTED
            )
        found[line.number] = made[key]
    Idea.objects.bulk_create(made.values())
    return found


def _artifacts(
    benchmark: Benchmark,
    lines: Sequence[Line],
    ideas: dict[int, Idea],
    kinds: dict[str, ArtifactKind],
) -> list[Artifact]:
    """Return the texts, left and right of each line in turn.

    Programs are not parsed: they are real, and annotators have read them.
    """
    return Artifact.objects.bulk_create(
        [
            Artifact(
                benchmark=benchmark,
                idea=ideas[line.number],
                kind=line.pair.kind,
                source=Source.IMPORTED,
                text=text,
                validity=Validity.NOT_CHECKED if kinds[line.pair.kind].is_code else Validity.VALID,
            )
            for line in lines
            for text in (line.pair.left, line.pair.right)
        ],
        batch_size=500,
    )
