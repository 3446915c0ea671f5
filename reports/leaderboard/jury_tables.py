"""The jury of each suite on a board, and the runs that were judged otherwise."""

from collections.abc import Iterable

from evalhub.display.formatting import few
from evalhub.models import User
from reports.documents.document import Cell, Column, Link, Table
from reports.documents.links import row_url
from reports.documents.rejudging import refusal
from reports.leaderboard.jury_rule import Apart
from reports.leaderboard.query import Field
from runs.models import Run

MAX_NAMED = 3
NO_JURY = "no jury"


def judged_by(field: Field, suites: Iterable[int]) -> tuple[str, ...]:
    """Name the juries under which these suites are ranked; () without any."""
    names = {field.entrants[field.comparable.like[suite]].jury or NO_JURY for suite in suites}
    if names <= {NO_JURY}:
        return ()
    named = few(sorted(names), most=MAX_NAMED)
    rule = "Only runs of one jury are ranked together in a suite: that of its baseline, else that "
    return (f"Judged by {named}. {rule}under which most models ran.",)


def apart_table(field: Field, reader: User) -> Table:
    """List the newest runs that no rank counts, each with a way to make it count."""
    apart = field.comparable.apart
    runs = Run.objects.select_related("suite").in_bulk(
        {run for one in apart for run in (one.run, one.like)}
    )
    return Table(
        key="apart",
        title="Not comparable: other jury or scoring",
        columns=(
            Column("model", "Model"),
            Column("suite", "Suite"),
            Column("run", "Run", "link"),
            Column("jury", "Judged by"),
            Column("like", "Others in the suite", "link"),
            Column("reason", "Reason", "link"),
        ),
        rows=[_row(one, field, runs, reader) for one in apart],
        note="The newest run of a model counts in no rank until it is re-judged; an earlier one "
        "that is comparable counts in its place.",
        empty="The newest runs of all models are comparable in every suite.",
    )


def _row(one: Apart, field: Field, runs: dict[int, Run], reader: User) -> tuple[Cell, ...]:
    entrant, run, like = field.entrants[one.run], runs[one.run], runs[one.like]
    return (
        field.identities[entrant.model].name,
        str(run.suite),
        Link(run.label, row_url("reports:run", run.pk)),
        entrant.jury or NO_JURY,
        Link(like.label, row_url("reports:run", like.pk), field.entrants[like.pk].jury),
        refusal(run, like, one.comparable, reader),
    )
