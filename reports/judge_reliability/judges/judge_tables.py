"""Tables of single judges, and of judge runs."""

from collections.abc import Iterable

from evalhub.display.formatting import percent, words
from evalhub.statistics.agreement.alpha_bands import TENTATIVE
from reports.documents.cells import share_of, share_without_interval
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.documents.links import run_url
from reports.judge_reliability.concerns_rule import Concern, trust_in
from reports.judge_reliability.figure import Alpha, alpha_lines
from reports.judge_reliability.humans.accuracy_tables import RATE_COLUMNS, kappa, party_url, rates
from reports.judge_reliability.judge_line import JudgeLine
from reports.judge_reliability.judges.judgments_query import JudgeCost
from reports.judge_reliability.judges.query import JudgeReport
from reports.judge_reliability.judges.totals_query import JuryLine
from reports.judge_reliability.trust_rule import MIN_RATE, NOTHING
from reports.queries.human_agreement import judge_key
from runs.figures.rate import Rate
from runs.models import Run

NO_JUDGE_RUN = "No judge run is done yet. Launch a run with a jury."


def run_link(run: Run) -> Link:
    return Link(str(run), run_url(run))


def judge_link(judge: JudgeLine, report: JudgeReport) -> Link:
    """Link to its agreement with humans, if it was measured."""
    key = judge_key(judge.judge_id)
    is_measured = report.humans is not None and any(r.party == key for r in report.humans.rows)
    url = party_url(party=key) if is_measured else ""
    return Link(judge.name, url, "backup" if judge.is_backup else "")


def texts(concerns: Iterable[Concern]) -> str:
    return " ".join(concern.text for concern in concerns)


def concerns_table(report: JudgeReport) -> Table:
    juries = [
        (
            Link(line.jury, line.url, f"newest: {line.run}"),
            texts(line.concerns),
            str(trust_in(line.concerns)),
            "jury",
        )
        for line in report.juries
        if line.concerns
    ]
    judges = [
        (judge_link(judge, report), texts(concerns), str(report.trust(judge)), "judge")
        for judge in report.judges
        if (concerns := report.concerns(judge))
    ]
    return Table(
        key="judge_concerns",
        title="Concerns",
        columns=(
            Column("name", "Judge or jury", "link"),
            Column("why", "Why"),
            Column("trust", "Trust"),
            Column("kind", "Kind"),
        ),
        rows=[*juries, *judges],
        note=f"Unreliable: a jury with alpha below {TENTATIVE}, or fewer than 80% of whose "
        "judge pairs could be compared; a judge at least 10% of whose judgments failed, that "
        "judged its own answers, that disagrees with all others while two of them agree, or whose "
        f"sensitivity or specificity is significantly below {percent(MIN_RATE)}. Use with caution: "
        f"these are not shown to be {percent(MIN_RATE)}. Only human verdicts on answers "
        "drawn at random and judged blind count.",
        empty="No concern found." if report.lines else NO_JUDGE_RUN,
    )


def judges_table(report: JudgeReport) -> Table:
    return Table(
        key="judges",
        title="Judges",
        columns=(
            Column("judge", "Judge", "link"),
            Column("trust", "Trust"),
            Column("judge_runs", "Judge runs", "count"),
            Column("answered", "Coverage", "rate", "Judgments with a verdict"),
            Column("repaired", "Repaired", "count", "Verdicts read at the second attempt"),
            Column("failed", "Failed", "count", "Judgments without a verdict: in no score"),
            Column("agrees", "Agrees with peers", "rate", "Same value as another judge"),
            *RATE_COLUMNS,
            Column(
                "kappa", "Kappa with humans", "estimate", "On answers drawn at random, judged blind"
            ),
            Column("needed", "Needed to trust it"),
        ),
        rows=[
            (
                judge_link(judge, report),
                str(report.trust(judge)),
                judge.judge_runs,
                share_of(judge.answered, judge.asked),
                judge.repaired,
                judge.failed,
                _agrees(judge, report),
                *(
                    rates(found.evidence)
                    if (found := report.against_humans(judge))
                    else (None, None)
                ),
                kappa(found) if found else None,
                _needed(judge, report),
            )
            for judge in report.judges
        ],
        note="A failed judgment has no value and counts in no score. A dash is not measured. "
        "Agreement: " + report.extent,
        empty=NO_JUDGE_RUN,
    )


def _needed(judge: JudgeLine, report: JudgeReport) -> str:
    """Return what is still needed to trust it alone; "" while it is being computed."""
    if report.humans is None:
        return ""
    return (report.human_proof(judge) or NOTHING).needed


def _agrees(judge: JudgeLine, report: JudgeReport) -> Rate | None:
    """Pool its pairs, which are not independent: without an interval."""
    mine = [pair for pair in report.pairs if judge.judge_id in (pair.first, pair.second)]
    n, same = sum(pair.n for pair in mine), sum(pair.same for pair in mine)
    return share_without_interval(same, n) if n else None


def habits_table(report: JudgeReport) -> Table:
    read = report.judgments
    newest = {length.judge: Estimate(length.rho, length.n) for length in reversed(read.lengths)}
    return Table(
        key="habits",
        title="Cost and biases",
        columns=(
            Column("judge", "Judge"),
            Column("length", "Length bias", "estimate", "Spearman, score and tokens; newest run"),
            Column("cost", "Cost", "usd", "Of the calls that gave its verdicts, without retries"),
            Column("costed", "With known cost", "count", "Verdicts"),
            Column(
                "own", "Self-evaluation", "count", "Judge runs in which it judged its own answers"
            ),
            Column("note", "Note"),
        ),
        rows=[
            (
                judge.name,
                newest.get(judge.judge_id),
                *read.spent.get(judge.judge_id, JudgeCost()),
                judge.own_answers,
                "; ".join(filter(None, ["scripted" if judge.is_scripted else "", judge.note])),
            )
            for judge in report.judges
        ],
        note="A dash is not measured. A judge that scores long answers higher is biased only if "
        "they are not better: compare it with its peers. " + report.extent,
        empty=NO_JUDGE_RUN,
    )


def agreement_table(report: JudgeReport) -> Table:
    points = [
        Alpha(_jury_name(line, report), line.at, alpha, line.agreement.units, str(line.run))
        for line in report.lines
        if (alpha := line.agreement.alpha) is not None
    ]
    return Table(
        key="agreement",
        title="Agreement over time",
        columns=(
            Column("at", "Judged", "date"),
            Column("run", "Run", "link"),
            Column("jury", "Jury"),
            Column("judges", "Judges", "count"),
            Column(
                "alpha",
                "Alpha",
                "estimate",
                "Krippendorff's, ordinal; n criteria with two verdicts; 95% interval: bootstrap "
                "over results",
            ),
            Column("band", "Reliability"),
            Column("compared", "Judge pairs compared", "rate", "Of those expected"),
            Column("cost", "Cost", "usd", "Of all calls with retries; a dash: prices unknown"),
            Column("trust", "Trust"),
        ),
        rows=[_agreement_row(line) for line in report.lines],
        note="Juries have a line each: judge runs of different juries cannot be compared.",
        empty=NO_JUDGE_RUN,
        draw=lambda: alpha_lines(points) if points else None,
        describes="Krippendorff's alpha of each judge run over time, one line per jury",
        look="long",
    )


def _agreement_row(line: JuryLine) -> tuple[Cell, ...]:
    alpha = line.agreement.alpha
    return (
        line.at,
        run_link(line.run),
        line.jury,
        len(line.members),
        Estimate(alpha, line.agreement.units, line.agreement.interval),
        str(line.agreement.band),
        share_of(*line.comparisons) if line.comparisons.expected else None,
        line.spent.usd,
        str(trust_in(line.concerns, is_known=alpha is not None)),
    )


def _jury_name(line: JuryLine, report: JudgeReport) -> str:
    """Name the jury, with the start of a digest if another jury has the same name."""
    is_single = sum(other.jury == line.jury for other in report.juries) < 2
    return line.jury if is_single else f"{line.jury} {line.judge_run.jury_fingerprint[:6]}"


def failures_table(report: JudgeReport) -> Table:
    rows = [
        (report.name_of(judge), words(kind), n)
        for judge, kinds in report.judgments.failures.items()
        for kind, n in kinds.items()
    ]
    return Table(
        key="failures",
        title="Failures by kind",
        columns=(
            Column("judge", "Judge"),
            Column("kind", "Kind"),
            Column("n", "Judgments", "count"),
        ),
        rows=sorted(rows, key=lambda row: (-row[2], row[0], row[1])),
        note=report.extent,
        empty="No judgment failed." if report.lines else NO_JUDGE_RUN,
    )


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
            (report.name_of(one.judge), run_link(runs[one.judge_run]), Estimate(one.rho, one.n))
            for one in report.judgments.lengths
        ],
        note="Above 0 the judge scores longer answers higher. Judges of one run saw the same "
        "answers: differences between them come from the judges. " + report.extent,
        empty="No judgment of an answer with a known length.",
    )
