"""Replies of analysts with true, invented and swapped figures, at 4 models × 10 tags.

From "Claims of a summary". A table of pass rates, counts and mean scores is drawn; an analyst then
claims a cell's figure truly (as the table prints it, or rounded), invents one, writes that of
another model or tag, swaps the sides of a difference, speaks of one model beside a figure of
another, or writes a figure into the text in one of the ways in which people do. A figure that
prints like the right one is neither invented nor swapped.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from reports.summaries.analyst.claims import Evidence
from reports.summaries.analyst.key import FigureCell, FigureTable, Key, Place, Subject, make_key
from reports.summaries.analyst.replies import parse
from reports.summaries.analyst.statements import check_statement
from tests.bench.validity import Check

MODELS, TAGS, TESTS = 4, 10, (20, 60)

WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


class World(NamedTuple):
    """A table, the ids in it, and the generator of what is claimed."""

    rng: np.random.Generator
    key: Key
    table: FigureTable

    def model(self, row: int) -> str:
        return self.key.variants[row].model

    def cell(self) -> tuple[int, int]:
        """Draw a row and a tag."""
        return int(self.rng.integers(MODELS)), int(self.rng.integers(TAGS))

    def at(self, row: int, tag: int) -> FigureCell:
        return self.table.cells[Place(row, f"G_{tag + 2}")]


def world(rng: np.random.Generator) -> World:
    subjects = [Subject(n, n, f"model {n}", f"developer {n % 3}", "", None) for n in range(MODELS)]
    key = make_key(subjects, int(rng.integers(2**31)))
    groups = {"G_1": "All tests", **{f"G_{n + 2}": f"tag {n}" for n in range(TAGS)}}
    cells = {}
    for row in range(MODELS):
        skill = rng.beta(4, 2)
        drawn = []
        for tag in range(TAGS):
            n = int(rng.integers(*TESTS))
            passed = int(rng.binomial(n, np.clip(skill + rng.normal(0, 0.1), 0.02, 0.98)))
            drawn.append(FigureCell(passed, n, float(rng.random()), errors=int(rng.integers(2))))
            cells[Place(row, f"G_{tag + 2}")] = drawn[-1]
        total = FigureCell(sum(c.passed for c in drawn), sum(c.scored for c in drawn), 0.5)
        cells[Place(row, "G_1")] = total
    return World(rng, Key(**{**vars(key), "groups": groups}), FigureTable(cells))


def is_flagged(made: World, text: str, *claims: dict[str, Any]) -> bool:
    """Return whether anything in a reply with this one finding is flagged."""
    reply = json.dumps({"findings": [{"text": text, "claims": claims}]})
    (statement,) = parse(reply, made.key).statements
    tested = Evidence(0.01, "exact McNemar", 66, 40)
    return bool(check_statement(statement, made.key, made.table, lambda bound: tested).flagged)


def claim(made: World, row: int, tag: int, measure: str, value: float, **other: Any) -> dict:
    place = {"model": made.model(row), "group": f"G_{tag + 2}"}
    absent = {"other_model": None, "other_group": None}
    return {"id": "c1", **place, "measure": measure, "value": value, **absent, **other}


MEASURES = ("pass_rate", "passed", "mean_score", "scored", "errors")


def figure(cell: FigureCell, measure: str, *, decimals: int | None = None) -> float:
    """Return a figure as the table prints it; a rate with other decimals."""
    if measure == "pass_rate":
        return round(100 * cell.passed / cell.scored, 1 if decimals is None else decimals)
    if measure == "mean_score":
        return round(float(cell.score or 0), 2)
    return float(getattr(cell, measure))


def shares_a_print(value: float, cell: FigureCell, measure: str) -> bool:
    """Return whether the value is the cell's, exactly or rounded to whole percent."""
    return any(abs(value - figure(cell, measure, decimals=n)) < 1e-6 for n in (0, 1, 2))


NEUTRAL = (
    "{c1} guesses where dates are asked for.",
    "Sources are made up, as with {c1}.",
    "It is {c1} that keeps to the point. Long tables confuse it.",
    "<ref model='M' /> stays polite: {c1}.",
)


def true_claim(made: World) -> bool:
    row, tag = made.cell()
    text = str(made.rng.choice(NEUTRAL)).replace("'M'", f"'{made.model(row)}'")
    if made.rng.random() < 0.3:
        other = (row + 1 + int(made.rng.integers(MODELS - 1))) % MODELS
        rates = [figure(made.at(one, tag), "pass_rate") for one in (row, other)]
        value = round(rates[0] - rates[1], 1)
        stated = claim(made, row, tag, "difference", value, other_model=made.model(other))
        is_complete = all(made.at(one, tag).is_enough for one in (row, other))
        return is_complete and is_flagged(made, text, stated)
    measure = str(made.rng.choice(MEASURES))
    decimals = int(made.rng.integers(2))
    value = figure(made.at(row, tag), measure, decimals=decimals)
    return is_flagged(made, text, claim(made, row, tag, measure, value))


def invented_value(made: World) -> bool:
    row, tag = made.cell()
    cell, measure = made.at(row, tag), str(made.rng.choice(MEASURES))
    value = figure(cell, measure)
    while shares_a_print(value, cell, measure):
        value = {
            "pass_rate": round(100 * float(made.rng.random()), int(made.rng.integers(2))),
            "mean_score": round(float(made.rng.random()), 2),
        }.get(measure, float(made.rng.integers(0, 61)))
    return is_flagged(made, "Sources are made up: {c1}.", claim(made, row, tag, measure, value))


def in_words(n: int) -> str:
    tens, rest = divmod(n, 10)
    if n < len(WORDS):
        return WORDS[n]
    if n >= 100:
        return "a hundred"
    return TENS[tens - 2] + (f"-{WORDS[rest]}" if rest else "")


WAYS: tuple[Callable[[int, int], str], ...] = (
    lambda a, b: f"passes {a} % of them",
    lambda a, b: f"passes {a}.{b}% of them",
    lambda a, b: f"reaches 0.{a:02}",
    lambda a, b: f"passes {a} percent",
    lambda a, b: f"passes {in_words(a)} percent of them",
    lambda a, b: f"answers {in_words(max(2, b))} of {in_words(b + 10)} well",
    lambda a, b: f"solves {a}/{a + b} tasks",
    lambda a, b: f"wins {a}:{b}",
    lambda a, b: f"is right {a} times",
    lambda a, b: f"is right {in_words(max(2, b))} times as often",
    lambda a, b: "fails twice as often",
    lambda a, b: "fails on half of them",
    lambda a, b: "gets a third of them wrong",
    lambda a, b: "is right in three quarters of cases",
    lambda a, b: "doubles its rate there",
    lambda a, b: f"shows a {in_words(max(2, b))}fold gain",
    lambda a, b: f"ranks {('first', 'second', 'third', 'fourth', 'last')[b % 5]}",
    lambda a, b: f"comes {('first', 'second', 'third', 'fourth', 'last')[b % 5]}",
    lambda a, b: f"is {a}th of all",
    lambda a, b: f"gains {a} points",
    lambda a, b: "fails the majority of them",
    lambda a, b: "passes all of them",
    lambda a, b: f"errs in dozens of cases, about {a}",
    lambda a, b: f"scores **{a}** there",
    lambda a, b: f"fails one in {in_words(max(2, b))}",
    lambda a, b: f"passes more than {in_words(max(2, a))} tests",
    lambda a, b: "solves two-thirds of them",
    lambda a, b: f"is right in {in_words(b + 1)} out of ten",
    lambda a, b: "fails a tenth of them",
    lambda a, b: "passes none of them",
    lambda a, b: "fails a single test",
    lambda a, b: "is second to none",
    lambda a, b: f"is right {a} \uff05 of the time",
    lambda a, b: "is right in \u00bd of cases",
    lambda a, b: f"keeps {chr(0x660 + b)} answers",
    lambda a, b: f"errs \u2212{a} points",
)
"""Ways to write a figure into a text, of a number up to 99 and a digit."""


def invented_in_text(made: World) -> bool:
    row, tag = made.cell()
    way = WAYS[int(made.rng.integers(len(WAYS)))]
    written = way(int(made.rng.integers(100)), int(made.rng.integers(10)))
    if made.rng.random() < 0.5:  # beside a true claim
        stated = claim(made, row, tag, "passed", figure(made.at(row, tag), "passed"))
        return is_flagged(made, f"{{c1}} {written} where sums are asked.", stated)
    return is_flagged(made, f"<ref model='{made.model(row)}' /> {written}.")


def _swapped(made: World, cells: Callable[[], tuple[tuple[int, int], tuple[int, int]]]) -> bool:
    measure = str(made.rng.choice(("pass_rate", "passed", "mean_score")))
    (row, tag), other = cells()
    while shares_a_print(figure(made.at(*other), measure), made.at(row, tag), measure):
        (row, tag), other = cells()
    value = figure(made.at(*other), measure)
    return is_flagged(made, "Sources are made up: {c1}.", claim(made, row, tag, measure, value))


def _other(made: World, one: int, n: int) -> int:
    return (one + 1 + int(made.rng.integers(n - 1))) % n


def swapped_models(made: World) -> bool:
    def cells() -> tuple[tuple[int, int], tuple[int, int]]:
        row, tag = made.cell()
        return (row, tag), (_other(made, row, MODELS), tag)

    return _swapped(made, cells)


def swapped_tags(made: World) -> bool:
    def cells() -> tuple[tuple[int, int], tuple[int, int]]:
        row, tag = made.cell()
        return (row, tag), (row, _other(made, tag, TAGS))

    return _swapped(made, cells)


def swapped_sides(made: World) -> bool:
    """A difference with its models swapped; equal rates have no sides."""
    rates = [0.0, 0.0]
    while rates[0] == rates[1]:
        row, tag = made.cell()
        other = _other(made, row, MODELS)
        rates = [figure(made.at(one, tag), "pass_rate") for one in (row, other)]
    value = round(rates[1] - rates[0], 1)
    stated = claim(made, row, tag, "difference", value, other_model=made.model(other))
    return is_flagged(made, "{c1} when sources are asked for.", stated)


def swapped_names(made: World) -> bool:
    """Two models, each named before the true figure of the other."""
    row, tag = made.cell()
    other = _other(made, row, MODELS)
    claims = [
        {**claim(made, one, tag, "pass_rate", figure(made.at(one, tag), "pass_rate")), "id": name}
        for one, name in ((other, "c1"), (row, "c2"))
    ]
    first, second = (f"<ref model='{made.model(one)}' />" for one in (row, other))
    return is_flagged(made, f"{first} reaches {{c1}}, and {second} {{c2}}.", *claims)


def share(kind: Callable[[World], bool], draws: int, *, seed: int = 1) -> float:
    """Return the share of such statements that are flagged, over tables drawn anew."""
    rng = np.random.default_rng(seed)
    tables = max(1, draws // 50)
    per_table = max(1, draws // tables)
    flagged = sum(
        kind(made) for made in (world(rng) for _ in range(tables)) for _ in range(per_table)
    )
    return flagged / (tables * per_table)


WRONG = {
    "invented figures of claims": invented_value,
    "invented figures in the text": invented_in_text,
    "figures of another model": swapped_models,
    "figures of another tag": swapped_tags,
    "differences with swapped sides": swapped_sides,
    "figures beside the name of another model": swapped_names,
}


def checks() -> Iterator[Check]:
    at = f"claims: {MODELS} models × {TAGS} tags"
    for name, kind in WRONG.items():
        yield Check(f"{at}: {name} flagged", 0.99, 1, partial(share, kind))
    yield Check(f"{at}: true claims flagged", 0, 0.01, partial(share, true_claim))
