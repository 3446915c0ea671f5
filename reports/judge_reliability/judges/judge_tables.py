"""Tables of judges one by one, and of the judgings in which they sat."""

from collections.abc import Iterator
from decimal import Decimal

from django.urls import reverse

from evalhub.formatting import words
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.documents.links import page_url
from reports.documents.rate_cells import resampled_share, share_of
from reports.judge_reliability.figure import Alpha, alpha_lines
from reports.judge_reliability.judges.concerns_rule import Reason, trust_in
from reports.judge_reliability.judges.query import JudgeReport
from reports.judge_reliability.judges.totals_query import JudgeTotals, JuryLine
from reports.queries.human_agreement import judge_key
from runs.figures.tallies import Rate
from runs.models import Run

NO_JUDGE_RUN = "No judging is done yet. Launch a run with a jury."


def run_link(run: Run) -> Link:
    return Link(str(run), reverse("reports:run", args=[run.pk]))


# What speaks against them ------------------------------------------------------------------------


def concerns_table(report: JudgeReport) -> Table:
    return Table(
        key="judge_concerns",
        title="What speaks against them",
        columns=(
            Column("who", "Judge or jury", "link"),
            Column("why", "Why"),
            Column("trust", "Trust"),
            Column("kind", "Kind"),
        ),
        rows=[*_jury_doubts(report), *_judge_doubts(report)],
        note="Not to be trusted: judges whose alpha is below 0.667, or fewer than 80% of whose "
        "comparisons could be made; a judge of which more than 10% of the verdicts failed, one of "
        "its own answers, one that agrees with no peer while those agree with each other, and one "
        "whose kappa with people is surely below 0.667, on 20 answers or more that were drawn at "
        "random and judged blind.",
        empty="Nothing that was measured speaks against any judge."
        if report.lines
        else NO_JUDGE_RUN,
    )


def _jury_doubts(report: JudgeReport) -> Iterator[tuple[Cell, ...]]:
    for line in report.juries:
        if line.reasons:
            name = Link(line.jury, page_url("judges", run=line.run), f"newest: {line.run}")
            yield name, _why(line.reasons), str(trust_in(line.reasons)), "jury"


def _judge_doubts(report: JudgeReport) -> Iterator[tuple[Cell, ...]]:
    for judge in report.judges:
        if reasons := report.reasons(judge):
            yield judge_link(judge, report), _why(reasons), str(trust_in(reasons)), "judge"


def _why(reasons: tuple[Reason, ...]) -> str:
    return " ".join(reason.text for reason in reasons)


def judge_link(judge: JudgeTotals, report: JudgeReport) -> Link:
    """To what people say of the judge, where they said something."""
    key = judge_key(judge.judge_id)
    is_measured = report.people is not None and any(r.party == key for r in report.people.rows)
    url = page_url("calibration", party=key) if is_measured else ""
    return Link(judge.name, url, "backup" if judge.is_backup else "")


# One by one --------------------------------------------------------------------------------------

JUDGE_COLUMNS = (
    Column("judge", "Judge", "link"),
    Column("trust", "Trust"),
    Column("judge_runs", "Judgings", "count"),
    Column("answered", "Coverage", "rate", "Verdicts that came, of those asked for"),
    Column("repaired", "Repaired", "count", "Verdicts that could be read at the second try only"),
    Column("failed", "Failed", "count", "No votes: they are in no score"),
    Column("agrees", "Agrees with its peers", "rate", "The same value as another judge"),
    Column("kappa", "Kappa with people", "estimate", "On answers drawn at random, judged blind"),
)


def judges_table(report: JudgeReport) -> Table:
    return Table(
        key="judges",
        title="Judge by judge",
        columns=JUDGE_COLUMNS,
        rows=[_judge(judge, report) for judge in report.judges],
        note="A failed verdict has no value and is no vote. A dash is not measured. Agreement: "
        + report.extent,
        empty=NO_JUDGE_RUN,
    )


def _judge(judge: JudgeTotals, report: JudgeReport) -> tuple[Cell, ...]:
    return (
        judge_link(judge, report),
        str(report.trust(judge)),
        len(judge.seats),
        share_of(judge.answered, judge.asked),
        judge.repaired,
        judge.failed,
        _agrees(judge, report),
        _kappa(judge, report),
    )


def _agrees(judge: JudgeTotals, report: JudgeReport) -> Rate | None:
    """Of all criteria on which it can be compared with one; pairs are no independent trials."""
    mine = [pair for pair in report.pairs if judge.judge_id in (pair.first, pair.second)]
    n, same = sum(pair.n for pair in mine), sum(pair.same for pair in mine)
    return resampled_share(same, n, None) if n else None


def _kappa(judge: JudgeTotals, report: JudgeReport) -> Estimate | None:
    found = report.against_people(judge)
    return Estimate(found.kappa, found.n, found.intervals.kappa) if found else None


HABIT_COLUMNS = (
    Column("judge", "Judge"),
    Column("length", "Likes length", "estimate", "Spearman, its score and tokens; newest run"),
    Column("turned", "Changes when reversed", "rate", "Asked again with the order reversed"),
    Column("cost", "Cost", "usd", "Of the calls that gave its verdicts; without retries"),
    Column("costed", "Verdicts priced", "count", "Verdicts whose cost is known"),
    Column("own", "Own answers", "count", "Judgings in which it judged answers of its own"),
    Column("note", "Note"),
)


def habits_table(report: JudgeReport) -> Table:
    return Table(
        key="habits",
        title="Cost and biases",
        columns=HABIT_COLUMNS,
        rows=[_habits(judge, report) for judge in report.judges],
        note="A dash is not measured: nothing asks judges in reversed order yet. That a judge "
        "likes long answers is a bias only where they are not better: compare it with its peers. "
        + report.extent,
        empty=NO_JUDGE_RUN,
    )


def _habits(judge: JudgeTotals, report: JudgeReport) -> tuple[Cell, ...]:
    cost, costed = _cost(judge, report)
    return (
        judge.name,
        _length(judge, report),
        _turned(judge, report),
        cost,
        costed,
        judge.own_answers,
        "; ".join(filter(None, ["scripted" if judge.is_scripted else "", judge.note])),
    )


def _length(judge: JudgeTotals, report: JudgeReport) -> Estimate | None:
    lengths = report.look.lengths if report.look else ()
    found = next((length for length in lengths if length.judge == judge.judge_id), None)
    return Estimate(found.rho, found.n) if found else None


def _turned(judge: JudgeTotals, report: JudgeReport) -> Rate | None:
    found = report.look.turned.get(judge.judge_id) if report.look else None
    return share_of(found.changed, found.n) if found else None


def _cost(judge: JudgeTotals, report: JudgeReport) -> tuple[Decimal | None, int | None]:
    found = report.look.spent.get(judge.judge_id) if report.look else None
    return (found.usd, found.known) if found else (None, None)


# Judging by judging ------------------------------------------------------------------------------

AGREEMENT_COLUMNS = (
    Column("at", "Judged", "date"),
    Column("run", "Run", "link"),
    Column("jury", "Jury"),
    Column("judges", "Judges", "count"),
    Column("alpha", "Alpha", "estimate", "Krippendorff's, ordinal; n criteria with two verdicts"),
    Column("band", "Worth"),
    Column("compared", "Comparisons made", "rate", "Pairs of judges, of those expected"),
    Column("cost", "Cost", "usd", "Of all its calls, retries too; a dash: no prices are known"),
    Column("trust", "Trust"),
)


def agreement_table(report: JudgeReport) -> Table:
    points = [
        Alpha(
            _line_of(line, report),
            line.at,
            line.agreement.alpha,
            line.agreement.units,
            str(line.run),
        )
        for line in report.lines
        if line.agreement.alpha is not None
    ]
    return Table(
        key="agreement",
        title="Agreement over time",
        columns=AGREEMENT_COLUMNS,
        rows=[_judge_run(line) for line in report.lines],
        note="Each judging is told from the sums that it kept when it was done. Judgings of "
        "different juries are not to be compared: each jury has a line of its own.",
        empty=NO_JUDGE_RUN,
        draw=lambda: alpha_lines(points) if points else None,
        describes="Krippendorff's alpha of each judging over time, one line per jury",
        look="long",
    )


def _line_of(line: JuryLine, report: JudgeReport) -> str:
    """The jury's name, with the start of a digest where others that judge otherwise share it."""
    alike = [other for other in report.juries if other.jury == line.jury]
    return line.jury if len(alike) < 2 else f"{line.jury} {line.judge_run.jury_fingerprint[:6]}"


def _judge_run(line: JuryLine) -> tuple[Cell, ...]:
    alpha, band, units = line.agreement
    made, expected = line.comparisons.made, line.comparisons.expected
    return (
        line.at,
        run_link(line.run),
        line.jury,
        len([seat for seat in line.seats if not seat.is_backup]),
        Estimate(alpha, units),
        str(band),
        share_of(made, expected) if expected else None,
        line.spent_usd,
        str(trust_in(line.reasons, is_known=alpha is not None)),
    )


# What failed -------------------------------------------------------------------------------------


def failures_table(report: JudgeReport) -> Table:
    return Table(
        key="failures",
        title="How verdicts failed",
        columns=(
            Column("judge", "Judge"),
            Column("kind", "Kind"),
            Column("n", "Verdicts", "count"),
        ),
        rows=sorted(_failures(report), key=lambda row: (-row[2], row[0], row[1])),
        note=report.extent,
        empty="No verdict failed." if report.lines else NO_JUDGE_RUN,
    )


def _failures(report: JudgeReport) -> Iterator[tuple[str, str, int]]:
    for judge, kinds in (report.look.failures if report.look else {}).items():
        for kind, n in kinds.items():
            yield report.names.get(judge, f"judge {judge}"), words(kind), n


# Long answers ------------------------------------------------------------------------------------


def lengths_table(report: JudgeReport) -> Table:
    runs = {line.judge_run.pk: line.run for line in report.lines}
    return Table(
        key="lengths",
        title="Does a judge like long answers?",
        columns=(
            Column("judge", "Judge"),
            Column("run", "Run", "link"),
            Column("rho", "Score and length", "estimate", "Spearman's rank correlation, −1 to 1"),
        ),
        rows=[
            (
                report.names.get(one.judge, f"judge {one.judge}"),
                run_link(runs[one.judge_run]),
                Estimate(one.rho, one.n),
            )
            for one in (report.look.lengths if report.look else ())
        ],
        note="Above 0 the judge scores longer answers higher. Judges of one run saw the same "
        "answers: what differs between them is the judge's. " + report.extent,
        empty="No judgments with a measured length of the answer were found.",
    )
