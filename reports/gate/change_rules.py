"""Rules of the gate on the change from the baseline. Pure.

Of their verdicts `reports.gate.rule.decide` makes the exit code: 2 if a condition is not met, else
1 if a rule does not hold, else 2 if one cannot tell, else 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalhub.display.formatting import beside_zero
from evalhub.statistics.changes.conclusion import Conclusion, Word
from evalhub.statistics.changes.net_change import METHOD
from evalhub.statistics.interval import Interval
from reports.compare.conclusion_words import (
    deciding_p,
    excluded,
    headline,
    lost,
    missing,
)
from reports.compare.rule import Tally
from reports.gate.rule import GateLine, Verdict, verdict_within
from runs.suites.gate_policy import GatePolicy

NOTHING = "No test is scored in both runs: nothing can be compared."
NAMED = 5
"""Edited tests that a sentence names."""


@dataclass(frozen=True)
class Change:
    """The change of the tests that both runs scored.

    Attributes:
        names: Of the baseline and of the run.
        titles: Of the issues, by id.
        edited: Tests that were edited in between, passed before and fail now.
    """

    tally: Tally
    conclusion: Conclusion
    names: tuple[str, str]
    titles: Mapping[int, str]
    edited: Sequence[str] = ()

    @property
    def interval(self) -> Interval | None:
        """Of the net change, in percentage points."""
        found = self.conclusion.interval
        return None if found is None else Interval(100 * found.low, 100 * found.high)

    @property
    def method(self) -> str:
        return self.conclusion.reading.net.method if self.conclusion.reading else METHOD


def change_lines(change: Change, policy: GatePolicy) -> list[GateLine]:
    """Return the lines of the rules that are on."""
    lines = []
    if policy.conclusion:
        lines.append(conclusion_rule(change, policy.level))
    if policy.conclusion and policy.blind_spot_points is not None:
        lines.append(blind_spot_rule(change, policy.blind_spot_points))
    if policy.max_worsening_points is not None:
        lines.append(worsening_rule(change, policy.max_worsening_points))
    if policy.max_net_loss_points is not None:
        lines.append(net_loss_rule(change, policy.max_net_loss_points))
    return [*lines, edited_rule(change)] if change.edited else lines


def conclusion_rule(change: Change, level: float) -> GateLine:
    """The run must not be worse, and what is missing must not hide that it is."""
    found = change.conclusion
    said = [headline(found, change.tally), *lost(found, change.titles)]
    said += filter(None, [missing(found, *change.names)])
    verdict = Verdict.HOLDS
    if found.word.is_loss:
        verdict = Verdict.DOES_NOT_HOLD
    elif found.word == Word.NOTHING or found.would_say or found.may_hide_loss:
        verdict = Verdict.CANNOT_TELL
    return GateLine(
        rule="conclusion",
        verdict=verdict,
        sentence=" ".join(said),
        n=change.tally.n,
        value=None if found.reading is None else deciding_p(found),
        limit=level,
        unit="p",
        p=found.p,
        method=change.method,
    )


def blind_spot_rule(change: Change, limit: float) -> GateLine:
    """A loss of more than these percentage points must not go unnoticed."""
    interval = change.interval
    if interval is None:
        verdict, sentence = Verdict.CANNOT_TELL, NOTHING
    elif verdict_within(interval.low, interval.high, -limit) == Verdict.HOLDS:
        verdict, sentence = Verdict.HOLDS, excluded(change.conclusion).strip()
    else:
        verdict = Verdict.CANNOT_TELL
        sentence = (
            f"A loss of {number(-interval.low)} points would not have shown; "
            f"{limit:g} are the most that may be hidden. Add tests or repeats."
        )
    return _line("blind_spot_points", change, verdict, sentence, limit)


def worsening_rule(change: Change, limit: float) -> GateLine:
    """The run must not be worse by more than these percentage points, for sure."""
    interval = change.interval
    if interval is None:
        verdict, sentence = Verdict.CANNOT_TELL, NOTHING
    else:
        verdict = verdict_within(interval.low, interval.high, -limit)
        sentence = (
            f"The change is between {number(interval.low)} and {number(interval.high)} points; "
            f"allowed is {number(-limit)}."
        )
    return _line("max_worsening_points", change, verdict, sentence, limit)


def net_loss_rule(change: Change, limit: float) -> GateLine:
    """The run must not lose more than these percentage points on these tests, sure or not."""
    verdict, sentence, net = Verdict.CANNOT_TELL, NOTHING, change.tally.net
    found = change.conclusion
    if net is not None and found.against_new and found.against_old:
        low, high = 100 * found.against_new.net.change, 100 * found.against_old.net.change
        verdict = verdict_within(low, high, -limit)
        direction = "loss" if net < 0 else "gain"
        sentence = (
            f"Net {direction} of {number(abs(100 * net))} points on these {change.tally.n:,} "
            f"tests; allowed is a loss of {limit:g} points."
        )
        if verdict == Verdict.CANNOT_TELL:
            sentence += f" With what is missing it may be a loss of {number(-low)}. Retry it."
    return _line("max_net_loss_points", change, verdict, sentence, limit)


def edited_rule(change: Change) -> GateLine:
    """Tests that were edited are compared with nothing: who fails them now must be looked at."""
    n = len(change.edited)
    more = f" and {n - NAMED:,} more" if n > NAMED else ""
    return GateLine(
        rule="edited_tests",
        verdict=Verdict.CANNOT_TELL,
        sentence=f"Edited since the baseline, passed before and failing now: "
        f"{', '.join(change.edited[:NAMED])}{more}. Look at them.",
        n=n,
        value=float(n),
        unit="tests",
    )


def _line(rule: str, change: Change, verdict: Verdict, sentence: str, limit: float) -> GateLine:
    loss = change.interval and Interval(-change.interval.high, -change.interval.low)
    net = change.tally.net
    return GateLine(
        rule=rule,
        verdict=verdict,
        sentence=sentence,
        n=change.tally.n,
        value=None if net is None else -100 * net,
        limit=limit,
        unit="points",
        interval=loss,
        p=change.conclusion.p,
        method=change.method,
    )


def number(points: float) -> str:
    """Format percentage points."""
    text = f"{points:z.1f}".removesuffix(".0").replace("-", "−")
    return text if text != "0" else beside_zero(points) or text
