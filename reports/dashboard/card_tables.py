"""The tables of the cards of Home."""

from collections.abc import Sequence

from reports.documents.document import Column, Link, Table
from reports.documents.links import page_url
from reports.judge_reliability.judges.query import JudgeConcern
from reports.underperforming.page import reason
from reports.underperforming.query import UnderperformingReport

SHOWN = 6


def underperforming_table(report: UnderperformingReport) -> Table:
    found = report.comparisons
    below = found.below if found else ()
    if report.run is None:
        empty = "No run is complete yet."
    elif found is None:
        empty = "Being computed."
    else:
        empty = f"No issue of the newest run, {report.run}, is significantly below its others."
    more = len(below) - SHOWN
    return Table(
        key="underperforming",
        title="Underperforming issues",
        columns=(Column("issue", "Issue", "link"), Column("why", "Why")),
        rows=[
            (
                Link(report.titles[one.issue], page_url("issue_timeline", issue=one.issue)),
                reason(one, found),
            )
            for one in below[:SHOWN]
            if found
        ],
        note=f"{more:,} more." if more > 0 else "",
        empty=empty,
    )


def judges_table(found: Sequence[JudgeConcern]) -> Table:
    return Table(
        key="judges",
        title="Unreliable judges",
        columns=(Column("name", "Judge or jury", "link"), Column("why", "Why")),
        rows=[
            (
                Link(one.name, one.url, "jury" if one.is_jury else "judge"),
                " ".join(concern.text for concern in one.concerns),
            )
            for one in found[:SHOWN]
        ],
        note=(f"{len(found) - SHOWN:,} more. " if len(found) > SHOWN else "")
        + "By the rule of Judge reliability: human verdicts on answers drawn at random, agreement "
        "with other judges, failed judgments, and judging its own answers.",
        empty="No serious concern about a judge or jury in the last judge runs.",
    )
