"""The sentences and tables of a release against the one before."""

from collections import defaultdict
from collections.abc import Iterator

from evalhub.display.charts import Figure
from evalhub.display.formatting import counted, few
from evalhub.statistics.changes.conclusion import ORDER, Basis, Word
from evalhub.statistics.changes.lost_issues import LostIssue
from reports.compare.conclusion_words import (
    IN_PICTURE,
    RESTS_ON,
    family,
    first_run,
    in_line,
    lost,
    missing,
    said,
    said_of,
)
from reports.compare.figure import NetRow, net_changes
from reports.documents.document import Cell, Column, Link, Linked, Table, folded
from reports.documents.links import page_url
from reports.overrides.rule import ALL
from reports.releases.query import ReleaseLine, ReleasesReport, models_in
from reports.releases.reference_query import reference_sentences
from runs.comparison.comparability_rule import Comparable

STEPS = 3
"""Models that a page offers to compare."""
LOSSES = 5
"""Losses that a page shows, sure or not."""


def names_of(report: ReleasesReport) -> tuple[str, str]:
    """Return the names of both sides."""
    if not report.release:
        return "Run before", "Newest run"
    return (f"Release {report.before}" if report.before else "Before"), f"Release {report.release}"


def title_of(report: ReleasesReport) -> str:
    if not report.release:
        return "Newest runs against the runs before"
    against = f" against {report.before}" if report.before else ""
    return f"Release {report.release}{against}"


# In words ----------------------------------------------------------------------------------------


def headline(report: ReleasesReport) -> str:
    """Return how many models got each conclusion."""
    if not report.lines:
        return ""
    compared = report.compared
    if report.is_pending:
        of = counted(models_in(report.lines), "model")
        return f"{of} in this release: conclusions are being computed."
    if not any(line.before for line in report.lines):
        return first_run(report.release, len(report.lines))
    if not compared:
        return "No model can be compared with itself in the release before."
    names: dict[tuple[Word, Basis], dict[str, None]] = {}
    for line in sorted(report.with_word(*ORDER), key=lambda line: ORDER.index(line.word)):
        names.setdefault((line.word, line.basis), {})[line.run.model_name] = None
    joined = "; ".join(said_of(list(some), *what, most=NAMED) for what, some in names.items())
    return f"{joined[0].upper()}{joined[1:]}."


NAMED = 3
"""Models that the headline names of each conclusion."""


def line_sentence(line: ReleaseLine, report: ReleasesReport) -> str:
    """Return what became of one model, with the issues that it lost."""
    if line.change is None:
        return f"{line.full_name}: being computed."
    found = line.change.conclusion
    said = [in_line(found, line.change.whole.tally), *lost(found, report.titles, in_short=True)]
    before, now = names_of(report)
    said += filter(None, [missing(found, before, now)])
    if line.attempts.are_several:
        said.append(f"{line.attempts.words.capitalize()} are judged together.")
    return f"{line.full_name}: {' '.join(said)}"


def sentences(report: ReleasesReport) -> Iterator[str]:
    if not report.lines:
        return
    yield headline(report)
    joined = [line for line in report.shown if line.is_joined]
    yield from (line_sentence(line, report) for line in joined)
    yield from reference_sentences(report.looks)
    new = [line.name for line in report.lines if line.before is None]
    if 0 < len(new) < len(report.lines):
        where = f"run in release {report.before}" if report.before else "earlier run"
        yield f"Without a complete {where}: {few(new, most=3)}."
    if len(report.shown) < len(report.lines):
        of = counted(len(report.lines), "run")
        yield f"{len(report.shown):,} of {of} are listed, losses first."
    yield from cost_sentence(report)


def basis(report: ReleasesReport) -> Iterator[str]:
    """Yield what the conclusions rest on, and how sure they are together."""
    yield from dict.fromkeys(RESTS_ON[line.basis] for line in report.compared)
    yield from filter(None, [family(len(report.compared), "comparison")])


def next_steps(report: ReleasesReport) -> list[Link]:
    """Return the comparisons of the models that lost most."""
    lost = [line for line in report.shown if line.before and line.word.is_loss]
    return [
        Link(f"Compare {line.name}", page_url("compare", runs=[line.before, line.run]))
        for line in lost[:STEPS]
    ]


def refusals(report: ReleasesReport) -> list[str]:
    """Return each reason why listed models cannot be compared with themselves, once."""
    against = f"release {report.before}" if report.before else "the run before"
    names: dict[Comparable, list[str]] = defaultdict(list)
    for line in report.shown:
        if line.is_refused:
            names[line.comparable].append(line.name)
    return [f"{few(some)}: {why.reason_against(against)}" for why, some in names.items()]


# Tables ------------------------------------------------------------------------------------------


def models_table(report: ReleasesReport) -> Table:
    before, now = names_of(report)
    lines = sorted(report.shown, key=lambda line: line.before is None)
    shown = sum(line.before is not None for line in lines)
    return Table(
        key="models",
        title="Models",
        columns=(
            Column("model", "Model", "link"),
            Column("before", before, "rate"),
            Column("now", now, "rate"),
            Column("net", "Net change", "points", "On tests that are the same in both runs"),
            Column("tests", "Tests", "count", "Tests compared between the runs"),
            Column("conclusion", "Conclusion"),
            Column("p", "p", "p", "Of the net change; lost issues have their own"),
            Column("overturned", "Overturned", note="Of the results reviewed by annotators"),
            Column("cost_before", f"Cost: {before.lower()}", "usd"),
            Column("cost", f"Cost: {now.lower()}", "usd", "Answers and judgments"),
        ),
        rows=[_model(line) for line in lines],
        note="Judges’ outcomes, without overrides. Rates are of all scored tests of a run, the "
        "change only of those that both runs share.",
        empty="No complete run yet. Launch a run to compare it with the next.",
        draw=lambda: _figure(report),
        describes="Net change of each model with its 95% interval, and the conclusion",
        **(
            folded(len(lines), shown, "run", said=f"without one in {before.lower()}")
            if shown
            else {}
        ),
    )


def _model(line: ReleaseLine) -> tuple[Cell, ...]:
    whole = line.change.whole if line.change else None
    compare = page_url("compare", runs=[line.before, line.run]) if line.before else ""
    reviews, url = line.reviews, page_url("overrides", run=line.run, shown=ALL)
    before = line.figures_before
    return (
        Link(line.full_name, line.run.get_absolute_url(), line.run.label),
        line.rate_before,
        line.figures.rate,
        Linked(whole.net, compare) if whole and whole.net is not None else None,
        whole.tally.n if whole else None,
        said(line.change.conclusion) if line.change else None,
        whole.p if whole else None,
        Linked(f"{reviews.overturned:,} of {len(reviews):,}", url) if len(reviews) else None,
        before.spent.usd if before else None,
        line.figures.spent.usd,
    )


def _figure(report: ReleasesReport) -> Figure | None:
    """Draw the net change of each compared model; None where none is compared."""
    rows = []
    for line in report.shown:
        change = line.change
        if change and change.whole.net is not None:
            found = change.conclusion
            said = IN_PICTURE.get(found.word, "")
            rows.append(NetRow(line.name, change.whole.net, found.interval, found.word, said))
    return net_changes(rows) if rows else None


def issues_table(report: ReleasesReport) -> Table:
    losses = report.lost_issues()
    shown = max(LOSSES, sum(is_sure for _, _, is_sure in losses))
    return Table(
        key="issues",
        title="Lost issues",
        columns=(
            Column("issue", "Issue", "link"),
            Column("model", "Model", "link"),
            Column("lost", "Lost", "number", "Tests, or shares of their repeats"),
            Column("won", "Won", "number"),
            Column("tests", "Tests", "count", "Tests compared between the runs"),
            Column("is_sure", "Sure", note="By itself, or together with others"),
            Column("p", "p", "p", "Sign flips, one-sided, among all issues of the model"),
        ),
        rows=[
            (
                Link(report.titles[one.issue], page_url("issue_timeline", issue=one.issue)),
                Link(line.name, page_url("compare", runs=[line.before, line.run], issue=one.issue)),
                *(one.lost, one.won, one.tests),
                *(_how_sure(line, one, is_sure=is_sure), one.adjusted),
            )
            for line, one, is_sure in losses
        ],
        **folded(len(losses), shown, "loss", "losses", said="more that may be chance"),
        empty="Being computed."
        if report.is_pending
        else "No issue lost more tests than it won."
        if report.compared
        else "No run can be compared.",
    )


def _how_sure(line: ReleaseLine, one: LostIssue, *, is_sure: bool) -> str:
    if not is_sure or line.change is None or line.change.conclusion.reading is None:
        return "may be chance"
    losses = line.change.conclusion.reading.lost
    return "yes" if one in losses.found[: losses.named] else "together with others"


def cost_note(report: ReleasesReport) -> str:
    cost, before = report.cost, report.cost_before
    parts = [counted(cost.runs, "run")]
    if cost.spent.unpriced:
        parts.append(f"{counted(cost.spent.unpriced, 'call')} of unknown cost")
    if before.runs:
        parts.append(f"before: {before.spent} in {counted(before.runs, 'run')}")
    return ", ".join(parts)


def cost_sentence(report: ReleasesReport) -> Iterator[str]:
    """Yield what the release cost, and the part of it that the one before ran, too."""
    alike, cost = report.cost_alike, report.cost
    if alike is None or not report.before or not cost.spent.usd:
        return
    before, now = alike
    same = "" if now == cost.spent else f"; what {report.before} ran, too, cost {now}"
    yield (
        f"Release {report.release} cost {cost.spent} in {counted(cost.runs, 'run')}{same}, "
        f"before {before}."
    )
