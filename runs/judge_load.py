"""What judges would be asked: who about what, how often, and how much text that is."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from issues.models import Criterion, Test
from issues.prompts import variables_of
from issues.shown_examples import Matter, as_text
from runs.asking import Wording
from runs.loads import CHARS_PER_TOKEN, Load, Span
from runs.models import Judge
from runs.seats import Panel, Seat, panel_from, snapshot

USUAL_VERDICT = (60, 400)
"""Tokens of a judge's reply."""
VERDICT_SCHEMA_TOKENS = 150
"""Tokens by which options and form of reply lengthen a judge's prompt."""
MENDING_TOKENS = 250
"""Tokens of what a model that mends a reply is told beside the reply."""


class Share(NamedTuple):
    """How often one judge is asked about one answer: of a test as a whole, and of a rubric."""

    seat: Seat
    whole: int
    rubric: int


def would_sit(judges: Sequence[Judge], tests: Iterable[Test] = ()) -> Panel:
    """These judges as a judging of these tests would have them now."""
    templates = {test.template_id for test in tests if test.template_id}
    return panel_from(snapshot(judges, None, name="", templates=templates))


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
    """What one judge is asked in one pass over the answers; their own tokens are not counted.

    `mended` counts questions of which another model mends the reply, by that model.
    """

    questions: int = 0
    tokens: int = 0
    mended: Counter[int] = field(default_factory=Counter)


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
        repairs = asked.questions - asked.mended.total()
        calls = Span(asked.questions * passes, (asked.questions + repairs) * passes)
        low = passes * (asked.tokens + asked.questions * answer.low)
        high = passes * (asked.tokens + asked.questions * (answer.high + USUAL_VERDICT[1]))
        again = high * repairs // max(1, asked.questions)
        limit = token_limit(seat.params)
        reply = [min(size, limit or size) for size in USUAL_VERDICT]
        return Load(
            seat.endpoint,
            calls,
            Span(low, high + again),
            Span(calls.low * reply[0], calls.high * reply[1]),
        )

    def mending(self, passes: int) -> list[Load]:
        """What other models are asked that mend the judges' replies, where each has to be."""
        mended: Counter[int] = Counter()
        for seat in self.panel.seats:
            mended.update(self._asked(seat).mended)
        endpoints = {e.language_model_id: e for e in self.panel.menders.values()}
        return [
            Load(
                endpoints[model],
                Span(0, n * passes),
                Span(0, n * passes * (USUAL_VERDICT[1] + VERDICT_SCHEMA_TOKENS + MENDING_TOKENS)),
                Span(0, n * passes * USUAL_VERDICT[1]),
            )
            for model, n in sorted(mended.items())
        ]

    def _asked(self, seat: Seat) -> _Asked:
        asked = _Asked()
        on_rubric, on_whole = (
            sits(self.panel, seat, on_rubric=True),
            sits(self.panel, seat, on_rubric=False),
        )
        for test in self.tests:
            rubric = list(test.criteria.all())
            if rubric and on_rubric and seat.rubric:
                self._add(asked, seat, seat.rubric, test, for_judges(rubric))
            elif not rubric and on_whole and (whole := seat.whole or self._own(test)):
                self._add(asked, seat, whole, test, [None])
        return asked

    def _add(
        self,
        asked: _Asked,
        seat: Seat,
        wording: Wording,
        test: Test,
        matters: Sequence[Criterion | None],
    ) -> None:
        """Questions about these criteria; None is the test as a whole."""
        n = seat.samples * len(matters)
        asked.questions += n
        asked.tokens += seat.samples * _size(seat, wording, test, matters)
        mender = self.panel.menders.get(wording.template_id)
        if n and mender and mender.language_model_id != seat.endpoint.language_model_id:
            asked.mended[mender.language_model_id] += n

    def _own(self, test: Test) -> Wording | None:
        if test.template is None:
            return None
        if test.template.pk not in self.own:
            self.own[test.template.pk] = Wording.of(test.template)
        return self.own[test.template.pk]


def for_judges(rubric: Iterable[Criterion]) -> list[Criterion]:
    """Criteria that are not decided by a check."""
    return [criterion for criterion in rubric if not criterion.check_name]


def _size(seat: Seat, wording: Wording, test: Test, matters: Sequence[Criterion | None]) -> int:
    """Tokens of the prompts with which one judge is asked once about each of these."""
    text = wording.text_for(seat.endpoint.language_model_id)
    shown = _named(text)
    always = len(text) + sum(_length(test, name) for name in shown)
    own = sum(len(criterion.text) for criterion in matters if criterion)
    taught = sum(_taught(wording, shown, test, criterion is not None) for criterion in matters)
    characters = always * len(matters) + taught + (own if "criterion" in shown else 0)
    return characters // CHARS_PER_TOKEN + VERDICT_SCHEMA_TOKENS * len(matters)


def _taught(wording: Wording, shown: Collection[str], test: Test, is_criterion: bool) -> int:
    """Characters of the examples that are shown, as long as they are on average."""
    fit = wording.examples.that_fit(Matter(test.pk, "", "", is_criterion))
    if not fit:
        return 0
    number = min(len(fit), wording.examples.most)
    return number * len(as_text(fit, shown, "0" * 16)) // len(fit)


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
