"""Tables of judges two by two, and of the effective number of judges in a jury."""

from collections.abc import Iterator, Sequence

from django.urls import reverse

from evalhub.display.charts import share_label
from evalhub.display.formatting import counted
from evalhub.statistics.agreement.effective_votes import effective_votes
from reports.compare.conclusion_words import is_p
from reports.documents.cells import share_of, share_without_interval
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.judge_reliability.figure import matrix
from reports.judge_reliability.judges.pairs_rule import MIN_CRITERIA, Pair, correlations
from reports.judge_reliability.judges.position_bias_query import OPTIONS, BiasRow
from reports.judge_reliability.judges.query import JudgeReport
from reports.judge_reliability.judges.totals_query import JuryLine
from runs.figures.rate import Rate

SAME, KAPPA = "same", "kappa"
MEASURES = [(SAME, "share of equal verdicts"), (KAPPA, "kappa, beyond chance")]

NO_PAIRS = "No criterion has verdicts of two judges. Use a jury of two or more."


def matrix_table(report: JudgeReport, measure: str) -> Table:
    pairs = {frozenset((pair.first, pair.second)): pair for pair in report.pairs}
    compared = {judge for pair in pairs for judge in pair}
    known = [judge for judge in report.names if judge in compared]
    judges = [*known, *sorted(compared.difference(known))]
    names = [report.name_of(judge) for judge in judges]
    cells = [[_cell(pairs.get(frozenset((a, b))), measure) for b in judges] for a in judges]
    values = [[_value(cell) for cell in line] for line in cells]
    texts = [[_text(cell) for cell in line] for line in cells]
    return Table(
        key="matrix",
        title="Agreement matrix",
        columns=(
            Column("judge", "Judge"),
            *(
                Column(f"judge_{judge}", name, "rate" if measure == SAME else "estimate")
                for judge, name in zip(judges, names, strict=True)
            ),
        ),
        rows=[(name, *line) for name, line in zip(names, cells, strict=True)],
        note="A dash is a pair without a common criterion"
        + (f", or with fewer than {MIN_CRITERIA}. " if measure == KAPPA else ". ")
        + report.extent,
        empty=NO_PAIRS,
        draw=lambda: matrix(names, values, texts) if judges else None,
        look="heat" if measure == SAME else "",
        describes="Agreement of each two judges, darker where they agree more",
    )


def _cell(pair: Pair | None, measure: str) -> Cell:
    if pair is None:
        return None
    return share_of(pair.same, pair.n) if measure == SAME else Estimate(pair.kappa, pair.n)


def _value(cell: Cell) -> float | None:
    return cell.share if isinstance(cell, Rate) else cell.value if cell is not None else None


def _text(cell: Cell) -> str:
    value = _value(cell)
    if value is None:
        return ""
    return f"{share_label(value) if isinstance(cell, Rate) else f'{value:.2f}'}<br>n {cell.n:,}"


def pairs_table(report: JudgeReport) -> Table:
    def lowest_first(pair: Pair) -> tuple[float, int]:
        return 2.0 if pair.kappa is None else pair.kappa, -pair.n

    return Table(
        key="pairs",
        title="Judge pairs",
        columns=(
            Column("first", "Judge"),
            Column("second", "Second judge"),
            Column("same", "Equal verdicts", "rate"),
            Column("kappa", "Kappa", "estimate", "Cohen's; on finer scales by squared steps"),
            Column("correlation", "Correlation", "number", "Pearson's, of their values"),
            Column("rarest", "Minority verdict", "share", "Share of the rarer of pass and fail"),
            Column("note", "Note"),
        ),
        rows=[
            (
                report.name_of(pair.first),
                report.name_of(pair.second),
                share_of(pair.same, pair.n),
                Estimate(pair.kappa, pair.n),
                pair.correlation,
                pair.rarest,
                _note(pair),
            )
            for pair in sorted(report.pairs, key=lowest_first)
        ],
        note="Lowest agreement first; the order is not tested. Two scales cannot be compared: a "
        "pair is measured on the scale with most common criteria. " + report.extent,
        empty=NO_PAIRS,
    )


def _note(pair: Pair) -> str:
    if pair.n < MIN_CRITERIA:
        return f"fewer than {MIN_CRITERIA} criteria"
    if pair.kappa is None:
        return "a single verdict throughout: kappa is not defined"
    return "one verdict is rare: kappa says little" if pair.is_lopsided else ""


def votes_table(report: JudgeReport) -> Table:
    newest: dict[frozenset[int], JuryLine] = {}
    for line in report.lines:
        newest.setdefault(frozenset(judge.judge_id for judge in line.judges), line)
    return Table(
        key="effective_judges",
        title="Effective number of judges",
        columns=(
            Column("jury", "Jury"),
            Column("judges", "Judges", "count"),
            Column(
                "effective_judges",
                "Effective number",
                "number",
                "Kish: judges squared over the sum of r",
            ),
            Column("note", "Note"),
        ),
        rows=[(line.jury, *_votes(report, line.members)) for line in newest.values()],
        note="Judges that always agree count as one. They also agree where both are right, so this "
        "is a lower bound.",
        empty="No jury of two or more judges has a judge run yet.",
    )


def _votes(report: JudgeReport, members: list[int]) -> tuple[int, float | None, str]:
    """Return the number of judges, the effective number, and a note."""
    n = len(members)
    if n < 2:
        return n, None, "a single judge: no peer to compare it with"
    votes = effective_votes(correlations(members, report.pairs))
    if votes is None:
        note = "not measured: too few common criteria in the judge runs read, or no variation"
        return n, None, note
    return n, votes, f"{n} judges count as {votes:.1f} independent ones"


def favour_sentences(rows: Sequence[BiasRow]) -> Iterator[str]:
    """Name each judge that favours a place, with its figures."""
    for row in rows:
        if row.favours and row.bias and row.p is not None:
            changed, moved = row.bias.changed, row.bias.towards_first
            moved = moved if row.bias.direction > 0 else changed - moved
            yield (
                f"{row.judge.name} favours {row.favours}: of {counted(changed, 'verdict')} that "
                f"changed with the order, {moved:,} moved there ({is_p(row.p)}, Holm)."
            )


def position_bias_table(
    rows: Sequence[BiasRow], lines: Sequence[JuryLine], live: frozenset[int]
) -> Table:
    return Table(
        key="position_bias",
        title="Position bias",
        columns=(
            Column("judge", "Judge"),
            Column("shown", "Reversed"),
            Column("changed", "Changed with the order", "rate", "Of verdicts given in both orders"),
            Column("first", "Towards the first", "rate", "Of those that changed"),
            Column("p", "p", "p", "Mid-p sign flips by test and by issue, Holm over this table"),
            Column("finding", "Direction"),
            Column("measure", "Measure", "link"),
        ),
        rows=[
            (
                f"{row.judge.name} (scripted)" if row.judge.is_scripted else row.judge.name,
                row.shown,
                row.changed,
                share_without_interval(row.bias.towards_first, row.bias.changed)
                if row.bias and row.bias.changed
                else None,
                row.p,
                row.finding,
                _measure(row, lines, live),
            )
            for row in rows
        ],
        note="A dash is not measured. Some verdicts change by chance, also between two equal "
        "requests: only a direction shows that the order decides. A judge favours a place if its "
        "changes go there significantly (p ≤ 0.05).",
        empty="No judge is known.",
    )


def _measure(row: BiasRow, lines: Sequence[JuryLine], live: frozenset[int]) -> Link | None:
    """Return the way to measure the judge, in the newest judge run in which it judges."""
    if row.shown != OPTIONS or row.judge.is_backup:
        return None
    line = next((line for line in lines if row.judge.judge_id in line.members), None)
    if line is None:
        return None
    if line.judge_run.pk in live:
        url = reverse("admin:position_bias_reversedjudgerun_changelist")
        return Link("Being measured", url)
    url = reverse("admin:position_bias_reversedjudgerun_add")
    text = "Measure again" if row.changed else "Measure position bias"
    return Link(text, f"{url}?judge_run={line.judge_run.pk}", f"in {line.run}")
