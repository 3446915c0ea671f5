"""A comparison of two runs on one page."""

from evalhub.display.formatting import counted
from evalhub.statistics.changes.conclusion import Conclusion
from reports.compare.conclusion_words import chance, lost, said_of
from reports.compare.rule import Tally
from reports.compare.sentences import left_out
from reports.compare.two_runs.facts_and_warnings import rates_of
from reports.compare.two_runs.state import TwoRuns
from reports.documents.handout import Handout, HandoutLine, Passed
from runs.figures.rate import Rate


def passed_of(rate: Rate | None) -> Passed | None:
    return Passed(rate.passed, rate.n) if rate and rate.n else None


def concluded_line(
    name: str, found: Conclusion, tally: Tally, before: Passed | None, now: Passed | None
) -> HandoutLine:
    """Return what became of a model on whose two runs something is concluded."""
    return HandoutLine(
        name=name,
        word=found.word,
        basis=found.basis,
        finding=said_of([name], found.word, found.basis),
        before=before,
        now=now,
        changed=f"lost {tally.worse:,}, won {tally.better:,} of {counted(tally.n, 'test')}",
        sure=chance(found),
        change=tally.net,
        interval=found.interval,
    )


def handout_of(two: TwoRuns) -> Handout | None:
    """Return the page; None where nothing may be concluded, or not yet."""
    if two.found is None or not two.comparison.is_conclusive:
        return None
    found, tally = two.found.conclusion, two.tally
    first, second = two.names
    before, now = map(passed_of, rates_of(two))
    model = two.comparison.second.run.model_name
    return Handout(
        about=second,
        names=two.names,
        lines=(concluded_line(model, found, tally, before, now),),
        lost=tuple(lost(found, two.comparison.issues)),
        notes=tuple(left_out(two.comparison.rows, first=first, second=second)),
    )
