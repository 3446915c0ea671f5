"""Tables of single judges, and of judge runs."""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from evalhub.formatting import words
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.documents.links import run_url
from reports.documents.rate_cells import resampled_share, share_of
from reports.judge_reliability.figure import Alpha, alpha_lines
from reports.judge_reliability.humans.accuracy_tables import kappa, party_url
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.query import JudgeReport
from reports.judge_reliability.judges.totals_query import JuryLine
from reports.judge_reliability.trust_rule import Concern, trust_in
from reports.queries.human_agreement import judge_key
from runs.figures.tallies import Rate
from runs.models import Run

NO_JUDGE_RUN = "No judge run is done yet. Launch a run with a jury."


def run_link(run: Run) -> Link:
    return Link(str(run), run_url(run))


# Concerns -----------------------------------------------------------------------------------------


def concerns_table(report: JudgeReport) -> Table:
    return Table(
        key="judge_concerns",
        title="Concerns",
        columns=(
            Column("name", "Judge or jury", "link"),
            Column("why", "Why"),
            Column("trust", "Trust"),
            Column("kind", "Kind"),
        ),
        rows=[*_jury_concerns(report), *_judge_concerns(report)],
        note="Unreliable: a jury with alpha below 0.667, or fewer than 80% of whose judge pairs "
        "could be compared; a judge at least 10% of whose judgments failed, that judged its own "
        "answers, that disagrees with all others while two of them agree, or whose kappa with "
        "humans is significantly below 0.667. Use with caution: accuracy not shown to be 90%. "
        "Figures of humans need 20 answers drawn at random and judged blind.",
        empty="No concern found." if report.lines else NO_JUDGE_RUN,
    )


def _jury_concerns(report: JudgeReport) -> Iterator[tuple[Cell, ...]]:
    for line in report.juries:
        if line.concerns:
            name = Link(line.jury, line.url, f"newest: {line.run}")
            yield name, texts(line.concerns), str(trust_in(line.concerns)), "jury"


def _judge_concerns(report: JudgeReport) -> Iterator[tuple[Cell, ...]]:
    for judge in report.judges:
        if concerns := report.concerns(judge):
            yield judge_link(judge, report), texts(concerns), str(report.trust(judge)), "judge"


def texts(concerns: Iterable[Concern]) -> str:
    return " ".join(concern.text for concern in concerns)


def judge_link(judge: JudgeLine, report: JudgeReport) -> Link:
    """Link to its agreement with humans, if it was measured."""
    key = judge_key(judge.judge_id)
    is_measured = report.humans is not None and any(r.party == key for r in report.humans.rows)
    url = party_url(party=key) if is_measured else ""
    return Link(judge.name, url, "backup" if judge.is_backup else "")


# Single judges ------------------------------------------------------------------------------------

JUDGE_COLUMNS = (
    Column("judge", "Judge", "link"),
    Column("trust", "Trust"),
    Column("judge_runs", "Judge runs", "count"),
    Column("answered", "Coverage", "rate", "Judgments with a verdict"),
    Column("repaired", "Repaired", "count", "Verdicts read at the second attempt"),
    Column("failed", "Failed", "count", "Judgments without a verdict: in no score"),
    Column("agrees", "Agrees with peers", "rate", "Same value as another judge"),
    Column("kappa", "Kappa with humans", "estimate", "On answers drawn at random, judged blind"),
)


def judges_table(report: JudgeReport) -> Table:
    return Table(
        key="judges",
        title="Judges",
        columns=JUDGE_COLUMNS,
        rows=[_judge(judge, report) for judge in report.judges],
        note="A failed judgment has no value and counts in no score. A dash is not measured. "
        "Agreement: " + report.extent,
        empty=NO_JUDGE_RUN,
    )


def _judge(judge: JudgeLine, report: JudgeReport) -> tuple[Cell, ...]:
    return (
        judge_link(judge, report),
        str(report.trust(judge)),
        judge.judge_runs,
        share_of(judge.answered, judge.asked),
        judge.repaired,
        judge.failed,
        _agrees(judge, report),
        kappa(found) if (found := report.against_humans(judge)) else None,
    )


def _agrees(judge: JudgeLine, report: JudgeReport) -> Rate | None:
    """Pool its pairs, which are not independent: without an interval."""
    mine = [pair for pair in report.pairs if judge.judge_id in (pair.first, pair.second)]
    n, same = sum(pair.n for pair in mine), sum(pair.same for pair in mine)
    return resampled_share(same, n, None) if n else None


HABIT_COLUMNS = (
    Column("judge", "Judge"),
    Column("length", "Length bias", "estimate", "Spearman, score and tokens; newest run"),
    Column("turned", "Position bias", "rate", "Verdict changed with the order reversed"),
    Column("cost", "Cost", "usd", "Of the calls that gave its verdicts, without retries"),
    Column("costed", "With known cost", "count", "Verdicts"),
    Column("own", "Self-evaluation", "count", "Judge runs in which it judged its own answers"),
    Column("note", "Note"),
)


def habits_table(report: JudgeReport) -> Table:
    return Table(
        key="habits",
        title="Cost and biases",
        columns=HABIT_COLUMNS,
        rows=[_habits(judge, report) for judge in report.judges],
        note="A dash is not measured. A judge that scores long answers higher is biased only if "
        "they are not better: compare it with its peers. " + report.extent,
        empty=NO_JUDGE_RUN,
    )


def _habits(judge: JudgeLine, report: JudgeReport) -> tuple[Cell, ...]:
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


def _length(judge: JudgeLine, report: JudgeReport) -> Estimate | None:
    lengths = report.judgments.lengths if report.judgments else ()
    found = next((length for length in lengths if length.judge == judge.judge_id), None)
    return Estimate(found.rho, found.n) if found else None


def _turned(judge: JudgeLine, report: JudgeReport) -> Rate | None:
    found = report.judgments.turned.get(judge.judge_id) if report.judgments else None
    return share_of(found.changed, found.n) if found else None


def _cost(judge: JudgeLine, report: JudgeReport) -> tuple[Decimal | None, int | None]:
    found = report.judgments.spent.get(judge.judge_id) if report.judgments else None
    return (found.usd, found.known) if found else (None, None)


# Judge runs ---------------------------------------------------------------------------------------

AGREEMENT_COLUMNS = (
    Column("at", "Judged", "date"),
    Column("run", "Run", "link"),
    Column("jury", "Jury"),
    Column("judges", "Judges", "count"),
    Column("alpha", "Alpha", "estimate", "Krippendorff's, ordinal; n criteria with two verdicts"),
    Column("band", "Reliability"),
    Column("compared", "Judge pairs compared", "rate", "Of those expected"),
    Column("cost", "Cost", "usd", "Of all calls with retries; a dash: prices unknown"),
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
        note="Juries have a line each: judge runs of different juries cannot be compared.",
        empty=NO_JUDGE_RUN,
        draw=lambda: alpha_lines(points) if points else None,
        describes="Krippendorff's alpha of each judge run over time, one line per jury",
        look="long",
    )


def _line_of(line: JuryLine, report: JudgeReport) -> str:
    """Name the jury, with the start of a digest if another jury has the same name."""
    namesakes = [other for other in report.juries if other.jury == line.jury]
    return line.jury if len(namesakes) < 2 else f"{line.jury} {line.judge_run.jury_fingerprint[:6]}"


def _judge_run(line: JuryLine) -> tuple[Cell, ...]:
    alpha, band, units = line.agreement
    made, expected = line.comparisons.made, line.comparisons.expected
    return (
        line.at,
        run_link(line.run),
        line.jury,
        len(line.members),
        Estimate(alpha, units),
        str(band),
        share_of(made, expected) if expected else None,
        line.spent_usd,
        str(trust_in(line.concerns, is_known=alpha is not None)),
    )


# Failures -----------------------------------------------------------------------------------------


def failures_table(report: JudgeReport) -> Table:
    return Table(
        key="failures",
        title="Failures by kind",
        columns=(
            Column("judge", "Judge"),
            Column("kind", "Kind"),
            Column("n", "Judgments", "count"),
        ),
        rows=sorted(_failures(report), key=lambda row: (-row[2], row[0], row[1])),
        note=report.extent,
        empty="No judgment failed." if report.lines else NO_JUDGE_RUN,
    )


def _failures(report: JudgeReport) -> Iterator[tuple[str, str, int]]:
    for judge, kinds in (report.judgments.failures if report.judgments else {}).items():
        for kind, n in kinds.items():
            yield report.name_of(judge), words(kind), n


# Length bias --------------------------------------------------------------------------------------


def lengths_table(report: JudgeReport) -> Table:
    runs = {line.judge_run.pk: line.run for line in report.lines}
    return Table(
        key="lengths",
        title="Length bias",
        columns=(
            Column("judge", "Judge"),
            Column("run", "Run", "link"),
            Column("rho", "Score and length", "estimate", "Spearman's rank correlation, −1 to 1"),
        ),
        rows=[
            (
                report.name_of(one.judge),
                run_link(runs[one.judge_run]),
                Estimate(one.rho, one.n),
            )
            for one in (report.judgments.lengths if report.judgments else ())
        ],
        note="Above 0 the judge scores longer answers higher. Judges of one run saw the same "
        "answers: differences between them come from the judges. " + report.extent,
        empty="No judgment of an answer with a known length.",
    )
