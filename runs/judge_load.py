"""What judges would be asked: who about what, how often, and how much text that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from issues.models import Criterion, Test
from issues.prompts import variables_of
from runs.asking import Wording
from runs.loads import CHARS_PER_TOKEN, Load, Span
from runs.models import Judge
from runs.seats import Panel, Seat, panel_from, snapshot

USUAL_VERDICT = (60, 400)
"""Tokens of a judge's reply."""
VERDICT_SCHEMA_TOKENS = 150
"""Tokens by which options and form of reply lengthen a judge's prompt."""


class Share(NamedTuple):
    """How often one judge is asked about one answer: of a test as a whole, and of a rubric."""

    seat: Seat
    whole: int
    rubric: int


def would_sit(judges: Sequence[Judge]) -> Panel:
    """These judges as a judging would have them now."""
    return panel_from(snapshot(judges, None, name=""))


def shares(panel: Panel, criteria: int) -> list[Share]:
    """Questions to each judge about one answer, where a rubric has so many criteria for judges."""
    return [
        Share(
            seat,
            seat.samples if sits(panel, seat, on_rubric=False) else 0,
            seat.samples * criteria if sits(panel, seat, on_rubric=True) else 0,
        )
        for seat in panel.seats
    ]


def sits(panel: Panel, seat: Seat, *, on_rubric: bool) -> bool:
    return any(seat is other for other in panel.sitting(on_rubric=on_rubric))


@dataclass
class _Asked:
    """What one judge is asked in one pass over the answers; their own tokens are not counted."""

    questions: int = 0
    tokens: int = 0


@dataclass(frozen=True)
class Bench:
    """The panel before the tests of a launch."""

    panel: Panel
    tests: Sequence[Test]
    own: dict[int, Wording] = field(default_factory=dict)

    def load(self, seat: Seat, passes: int, answer: Span) -> Load:
        """What this judge is asked in so many passes; each verdict may have to be repaired once.

        Args:
            answer: Tokens of one answer.
        """
        asked = self._asked(seat)
        calls = Span(asked.questions * passes, 2 * asked.questions * passes)
        low = passes * (asked.tokens + asked.questions * answer.low)
        high = passes * (asked.tokens + asked.questions * (answer.high + USUAL_VERDICT[1]))
        limit = token_limit(seat.params)
        reply = [min(size, limit or size) for size in USUAL_VERDICT]
        return Load(
            seat.endpoint,
            calls,
            Span(low, 2 * high),
            Span(calls.low * reply[0], calls.high * reply[1]),
        )

    def _asked(self, seat: Seat) -> _Asked:
        asked = _Asked()
        on_rubric, on_whole = (
            sits(self.panel, seat, on_rubric=True),
            sits(self.panel, seat, on_rubric=False),
        )
        for test in self.tests:
            rubric = list(test.criteria.all())
            if rubric and on_rubric and seat.rubric:
                _add(asked, seat, seat.rubric, test, for_judges(rubric))
            elif not rubric and on_whole and (whole := seat.whole or self._own(test)):
                _add(asked, seat, whole, test, [None])
        return asked

    def _own(self, test: Test) -> Wording | None:
        if test.template is None:
            return None
        if test.template.pk not in self.own:
            self.own[test.template.pk] = Wording.of(test.template)
        return self.own[test.template.pk]


def for_judges(rubric: Iterable[Criterion]) -> list[Criterion]:
    """Criteria that are not decided by a check."""
    return [criterion for criterion in rubric if not criterion.check_name]


def _add(
    asked: _Asked, seat: Seat, wording: Wording, test: Test, matters: Sequence[Criterion | None]
) -> None:
    """Questions about these criteria; None is the test as a whole."""
    shown = _named(wording.text)
    always = len(wording.text) + sum(_length(test, name) for name in shown)
    own = sum(len(criterion.text) for criterion in matters if criterion)
    characters = always * len(matters) + (own if "criterion" in shown else 0)
    size = characters // CHARS_PER_TOKEN + VERDICT_SCHEMA_TOKENS * len(matters)
    asked.questions += seat.samples * len(matters)
    asked.tokens += seat.samples * size


@lru_cache(maxsize=256)
def _named(text: str) -> frozenset[str]:
    """The variables of a wording, which is parsed once."""
    return frozenset(variables_of(text))


def _length(test: Test, name: str) -> int:
    """Characters that a wording shows with this variable, whatever criterion it asks about."""
    if name == "input":
        return sum(len(str(message.get("content") or "")) for message in test.messages)
    if name == "criteria":
        return sum(len(criterion.text) for criterion in test.criteria.all())
    return len(getattr(test, name)) if name in ("reference", "guidelines", "context") else 0


def token_limit(params: Mapping[str, object]) -> int | None:
    """The most tokens that a reply may have; None where nothing limits it."""
    limits = [params.get(name) for name in ("max_tokens", "max_completion_tokens")]
    known = [limit for limit in limits if isinstance(limit, int) and limit > 0]
    return min(known) if known else None
