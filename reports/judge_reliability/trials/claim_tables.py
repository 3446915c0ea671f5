"""Tables of single claims and judgments, and of triples that are not transitive."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from evalhub.models import ItemState, User
from reports.documents.document import Cell, Column, LazyRows, Link, Table
from reports.documents.links import row_url
from reports.judge_reliability.trials.query import TrialReport, claim_names
from reports.judge_reliability.trials.trial_tables import ORDER_NAMES, empty
from runs.laboratory.trials.judges.verdicts import Judged
from runs.laboratory.trials.models import Trial


def violations_table(report: TrialReport) -> Table | None:
    """Return the triples that break transitivity; None without any."""
    rows = [
        (report.names[trial.pk], *(_text(text) for text in violation))
        for trial in report.trials
        for violation in report.measures[trial.pk].violations
    ]
    columns = (
        Column("judge", "Judge"),
        Column("first", "First text"),
        Column("middle", "Same as the first and the last"),
        Column("last", "Last text, not the same as the first"),
    )
    if not rows:
        return None
    return Table("violations", "Triples that are not transitive", columns, rows, look="folded")


def _text(text: tuple[int, int | None]) -> str:
    artifact, part = text
    return f"text {artifact}" + (f", program of idea {part}" if part else "")


VERDICTS = (
    ("wrong", "wrong for any judge"),
    ("split", "judges differ"),
    ("orders", "changes with the order"),
    ("failed", "failed"),
)


def claims_table(report: TrialReport, verdict: str, reader: User) -> Table:
    """Return claims × judges, loaded a page at a time."""
    by_claim: dict[int, dict[int, list[Judged]]] = defaultdict(lambda: defaultdict(list))
    for trial, judged in report.shown.items():
        for one in judged:
            by_claim[one.claim][trial].append(one)
    ids = [pk for pk in sorted(report.claims) if _is_wanted(by_claim.get(pk, {}), verdict)]

    def load(some: Sequence[int]) -> list[tuple[Cell, ...]]:
        names = claim_names(some, reader)
        return [_claim_row(report, names[pk], by_claim.get(pk, {})) for pk in some]

    return Table(
        key="claims",
        title="Claims",
        columns=(
            Column("claim", "Claim"),
            Column("kind", "Kind"),
            Column("topic", "Topic"),
            Column("ideas", "Texts"),
            Column("languages", "Languages"),
            Column("truth", "Truth"),
            *(
                Column(f"trial_{pk}", name, note="Score in each order; ✓ right, ✗ wrong")
                for pk, name in report.names.items()
            ),
        ),
        rows=LazyRows(ids, load),
        empty="No claim matches these filters.",
    )


def _is_wanted(judged: Mapping[int, Sequence[Judged]], verdict: str) -> bool:
    everything = [one for mine in judged.values() for one in mine]
    match verdict:
        case "wrong":
            return any(one.verdict.is_right is False for one in everything)
        case "failed":
            return any(one.state == ItemState.ERROR for one in everything)
        case "split":
            return len(_rightness(everything)) > 1
        case "orders":
            return any(len(_rightness(mine)) > 1 for mine in judged.values())
    return True


def _rightness(judged: Sequence[Judged]) -> set[bool]:
    """Return whether verdicts are right, where they did not fail."""
    return {one.verdict.is_right for one in judged if one.verdict.is_right is not None}


def _claim_row(
    report: TrialReport, claim: Mapping[str, Cell], judged: Mapping[int, Sequence[Judged]]
) -> tuple[Cell, ...]:
    left, right = claim["of_left"] or claim["of_part"], claim["of_right"] or claim["of_part"]
    hard = ", hard negative" if claim["hardness"] == "within_cluster" and not claim["truth"] else ""
    return (
        Link(f"Claim {claim['pk']}", row_url("reports:claim", claim["pk"])),
        str(claim["kind"]),
        report.topics.get(str(claim["topic"]), ""),
        left if left == right else f"{left} – {right}",
        claim["languages"],
        f"{'true' if claim['truth'] else 'false'}{hard}",
        *(_scores(judged.get(trial.pk, ())) for trial in report.trials),
    )


def _scores(judged: Sequence[Judged]) -> Cell:
    return " · ".join(_score(one) for one in judged) or None


def _score(one: Judged) -> str:
    if one.verdict.score is None:
        return "failed"
    return f"{one.verdict.score:.3g} {'✓' if one.verdict.is_right else '✗'}"


def judgments_table(report: TrialReport) -> Table:
    """Return every judgment that the filters leave, a row each, for files."""
    keys = [(trial, one) for trial in report.trials for one in report.shown[trial.pk]]

    def load(some: Sequence[tuple[Trial, Judged]]) -> list[tuple[Cell, ...]]:
        return [_judgment_row(report, trial, one) for trial, one in some]

    return Table(
        key="judgments",
        title="Judgments",
        columns=(
            Column("claim", "Claim", "count"),
            Column("kind", "Kind"),
            Column("topic", "Topic"),
            Column("is_hard", "Hard negative"),
            Column("judge", "Judge"),
            Column("order", "Order"),
            Column("truth", "Truth"),
            Column("score", "Score", "number"),
            Column("verdict", "Verdict"),
            Column("is_right", "Right"),
            Column("is_scripted", "Scripted endpoint, not a model"),
        ),
        rows=LazyRows(keys, load),
        note="A rank claim is true as shown if the first text is the better one. No score: failed.",
        empty=empty(report),
        look="folded",
    )


def _judgment_row(report: TrialReport, trial: Trial, one: Judged) -> tuple[Cell, ...]:
    verdict = one.verdict
    return (
        one.claim,
        verdict.kind,
        report.topics.get(verdict.topic, ""),
        verdict.is_hard,
        report.names[trial.pk],
        ORDER_NAMES[one.order],
        verdict.truth,
        verdict.score,
        verdict.verdict,
        verdict.is_right,
        trial.is_scripted,
    )
