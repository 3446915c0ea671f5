"""A comparison of two runs on one page."""

from evalhub.display.formatting import counted
from reports.compare.conclusion_words import OF_MODEL, chance, lost
from reports.compare.sentences import left_out
from reports.compare.two_runs.facts_and_warnings import rates_of
from reports.compare.two_runs.state import TwoRuns
from reports.documents.handout import Handout, HandoutLine, Passed


def handout_of(two: TwoRuns) -> Handout | None:
    """Return the page; None where nothing may be concluded, or not yet."""
    if two.found is None or not two.comparison.is_conclusive:
        return None
    found, tally = two.found.conclusion, two.tally
    first, second = two.names
    before, now = (Passed(rate.passed, rate.n) if rate.n else None for rate in rates_of(two))
    model = two.comparison.second.run.model_name
    return Handout(
        about=second,
        names=two.names,
        lines=(
            HandoutLine(
                name=model,
                word=found.word,
                finding=OF_MODEL[found.word].format(model),
                before=before,
                now=now,
                changed=f"lost {tally.worse:,}, won {tally.better:,} of {counted(tally.n, 'test')}",
                sure=chance(found),
                change=tally.net,
                interval=found.interval,
            ),
        ),
        lost=tuple(lost(found, two.comparison.issues)),
        notes=tuple(left_out(two.comparison.rows, first=first, second=second)),
    )
