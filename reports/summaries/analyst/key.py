"""The anonymous ids of one exchange, how they are drawn, and the figures sent with them. Pure.

Developers are MK_…, models MD_…, system prompts S_…, temperatures T_…, tests P_…, groups of tests
G_…. Numbers of the first four are drawn at random under a seed, so that neither they nor their
order reveal anything; equal seeds and subjects give equal ids.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from math import comb
from random import Random
from typing import Any, NamedTuple

from evalhub.display.formatting import in_hundredths
from evalhub.statistics.interval import Interval
from runs.comparison.completeness import is_enough

FIRST = {"MK": 5000, "MD": 6000, "S": 7000, "T": 8000}
"""First of the thousand numbers from which ids are drawn."""


class Subject(NamedTuple):
    """The attributes that distinguish a run. `temperature` None: the default."""

    run: int
    language_model: int
    model_name: str
    developer: str
    system_prompt: str
    temperature: float | None


class Model(NamedTuple):
    """The model behind an id: its name in the runs, and its row id."""

    name: str
    language_model: int


class System(NamedTuple):
    """The system prompt behind an id. `title` is its name on pages; `text` may be ""."""

    title: str
    text: str


class Variant(NamedTuple):
    """A model under one system prompt and temperature, by ids; "" where all runs have the same.

    `runs` answered as this variant, the newest last.
    """

    developer: str
    model: str
    system: str
    temperature: str
    runs: tuple[int, ...]

    @property
    def label(self) -> str:
        """Its name in the request, such as MK_5312/MD_6127 (sys: S_7004, temp: T_8400)."""
        named = {"sys": self.system, "temp": self.temperature}
        settings = ", ".join(f"{name}: {value}" for name, value in named.items() if value)
        return f"{self.developer}/{self.model}" + (f" ({settings})" if settings else "")


@dataclass(frozen=True)
class Key:
    """The ids of one exchange: developers ("" if unknown), tests (row ids), titles of groups."""

    developers: Mapping[str, str]
    models: Mapping[str, Model]
    systems: Mapping[str, System] = field(default_factory=dict)
    temperatures: Mapping[str, float | None] = field(default_factory=dict)
    variants: Sequence[Variant] = ()
    tests: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Key":
        """Restore the key from `to_json`; {} is one without ids."""
        return cls(
            developers=dict(stored.get("developers", {})),
            models={name: Model(*entry) for name, entry in stored.get("models", {}).items()},
            systems={name: System(*entry) for name, entry in stored.get("systems", {}).items()},
            temperatures=dict(stored.get("temperatures", {})),
            variants=tuple(
                Variant._make((*ids, tuple(runs))) for *ids, runs in stored.get("variants", ())
            ),
            tests=dict(stored.get("tests", {})),
            groups=dict(stored.get("groups", {})),
        )

    def matching(self, ids: Mapping[str, str]) -> list[Variant]:
        """Return the variants with all given ids of developer, model, system and temperature."""
        return [
            variant
            for variant in self.variants
            if all(getattr(variant, name) == value for name, value in ids.items())
        ]


def make_key(subjects: Sequence[Subject], seed: int) -> Key:
    """Draw ids for the subjects, and order the variants at random.

    Models of unknown developers get a developer id each: nothing says that they share one.
    System prompts and temperatures have ids where they tell runs apart, or are set at all.
    """
    random = Random(seed)
    developers = _drawn("MK", (s.developer or s.language_model for s in subjects), random)
    models = _drawn("MD", (s.language_model for s in subjects), random)
    systems = _drawn("S", _varying({s.system_prompt for s in subjects}, ""), random)
    temperatures = _drawn("T", _varying({s.temperature for s in subjects}, None), random)
    runs: dict[Variant, list[int]] = {}
    for s in subjects:
        variant = Variant(
            developers[s.developer or s.language_model],
            models[s.language_model],
            systems.get(s.system_prompt, ""),
            temperatures.get(s.temperature, ""),
            (),
        )
        runs.setdefault(variant, []).append(s.run)
    variants = [variant._replace(runs=tuple(sorted(runs[variant]))) for variant in sorted(runs)]
    random.shuffle(variants)
    names = {s.language_model: s.model_name for s in subjects}
    titles = {"": "No system prompt"}
    titles |= {text: f"System prompt {n}" for n, text in enumerate(sorted({*systems} - {""}), 1)}
    return Key(
        developers={id: one if isinstance(one, str) else "" for one, id in developers.items()},
        models={id: Model(names[model], model) for model, id in models.items()},
        systems={id: System(titles[text], text) for text, id in systems.items()},
        temperatures={id: value for value, id in temperatures.items()},
        variants=tuple(variants),
    )


def _varying(values: set[Any], unset: Any) -> set[Any]:
    """Return the values that get an id: all that differ, and a single one if set."""
    return values if len(values) > 1 or unset not in values else set()


def _drawn(kind: str, values: Iterable[Any], random: Random) -> dict[Any, str]:
    """Draw an id for each different value, independent of their order."""
    ordered = sorted(set(values), key=lambda value: (str(type(value)), str(value)))
    first = FIRST[kind]
    numbers = random.sample(range(first, first + max(1000, len(ordered))), len(ordered))
    return {value: f"{kind}_{number}" for value, number in zip(ordered, numbers, strict=True)}


# Figures -----------------------------------------------------------------------------------------

ALL_TESTS = "G_1"
"""The group of all tests; those of tags follow."""


class Measure(StrEnum):
    """The columns of the table, and the difference of two pass rates."""

    PASS_RATE = "pass_rate"
    PASSED = "passed"
    SCORED = "scored"
    MEAN_SCORE = "mean_score"
    ERRORS = "errors"
    UNSCORED = "unscored"
    DIFFERENCE = "difference"


class Place(NamedTuple):
    """A cell's row and group: the position of its variant in the key, and the group's id."""

    variant: int
    group: str


@dataclass(frozen=True)
class FigureCell:
    """A variant's figures on a group of tests. Errors and unscored results are in no rate.

    Attributes:
        score: The weighted mean score, in [0, 1]; None: nothing was scored.
        interval: The 95 % interval of the pass rate, in [0, 1]; None without scored results.
        method: Of the interval; "" without one.
    """

    passed: int
    scored: int
    score: float | None
    errors: int = 0
    unscored: int = 0
    interval: Interval | None = None
    method: str = ""

    @property
    def share(self) -> float | None:
        """The pass rate, in [0, 1]; None without scored results."""
        return self.passed / self.scored if self.scored else None

    @property
    def total(self) -> int:
        return self.scored + self.errors + self.unscored

    @property
    def is_enough(self) -> bool:
        """Enough is scored to compare the pass rate with another."""
        return is_enough(self.scored, self.total)

    def figure(self, measure: Measure) -> float | None:
        """Return the figure as the table has it, pass rates in percent; None: not measured.

        A difference has two of them, from two cells.
        """
        rate = None if self.share is None else 100 * self.share
        figures = {
            Measure.PASS_RATE: rate,
            Measure.DIFFERENCE: rate,
            Measure.PASSED: self.passed,
            Measure.SCORED: self.scored,
            Measure.MEAN_SCORE: self.score,
            Measure.ERRORS: self.errors,
            Measure.UNSCORED: self.unscored,
        }
        return figures[measure]


@dataclass(frozen=True)
class FigureTable:
    """The cells that were sent."""

    cells: Mapping[Place, FigureCell]

    @property
    def comparisons(self) -> int:
        """The pairs of variants in one group: as many differences can be claimed."""
        rows = Counter(place.group for place in self.cells)
        return sum(comb(n, 2) for n in rows.values())

    def to_json(self) -> dict[str, Any]:
        return {"cells": [[*place, asdict(cell)] for place, cell in self.cells.items()]}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "FigureTable":
        """Restore the table from `to_json`; {} is one without cells."""
        return cls(
            {
                Place(row, group): FigureCell(
                    **{**cell, "interval": cell["interval"] and Interval(*cell["interval"])}
                )
                for row, group, cell in stored.get("cells", ())
            }
        )


def printed(figure: float, measure: Measure) -> str:
    """Return a figure as texts and tables show it, with its unit."""
    if measure == Measure.PASS_RATE:
        return f"{in_hundredths(figure / 100)} %"
    if measure == Measure.DIFFERENCE:
        return f"{figure:+.1f} points".replace("-", "\u2212")
    return f"{figure:.2f}" if measure == Measure.MEAN_SCORE else f"{figure:,.0f}"
