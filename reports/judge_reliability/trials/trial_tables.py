"""Tables of a benchmark's trials: judges, tasks, groups of claims, scores and single claims."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.urls import reverse

from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.cells import share_without_interval
from reports.documents.document import Cell, Column, Link, Table
from reports.judge_reliability.trials.figure import Scores, bin_of, score_bars
from reports.judge_reliability.trials.fit_rule import RULE
from reports.judge_reliability.trials.query import TrialReport
from runs.figures.rate import Rate
from runs.laboratory.trials.judges.measures import JudgeMeasures, Share
from runs.laboratory.trials.judges.verdicts import Judged
from runs.laboratory.trials.models import ClaimKind, Task, Trial

TASK_LABELS = {task.value: str(task.label) for task in Task}
ORDER_NAMES = {0: "as given", 1: "reversed"}


def empty(report: TrialReport) -> str:
    """Say why a table has no rows."""
    if not report.trials:
        return "No judge was tried on this benchmark yet."
    return "No judgment gave a verdict: the page of each trial says why."


def judges_table(report: TrialReport) -> Table:
    """Return judges × measures, on the claims that pass the filters."""
    return Table(
        key="fitness",
        title="Measures of each judge",
        columns=(
            Column("judge", "Judge"),
            Column("balanced_accuracy", "Balanced accuracy", "share", "50% is a coin"),
            Column("balanced_low", "95% from", "share"),
            Column("balanced_high", "to", "share"),
            Column("scored", "Scored", "rate", "Of its judgments; failed ones count nowhere"),
            Column("true_found", "True claims found", "rate", "Sensitivity"),
            Column("false_found", "False claims found", "rate", "Specificity"),
            Column("hard_taken", "Hard negatives taken", "rate", "Related ideas called the same"),
            Column("symmetric", "Same in both orders", "rate", "Symmetry"),
            Column("transitive", "Transitive", "rate", "Of a = b and b = c"),
            Column("prefers_first", "Prefers the first", "rate", "Position bias, rank claims"),
            Column("cost_usd", "Cost", "usd"),
        ),
        rows=[_judge_row(report, trial, report.measures[trial.pk]) for trial in report.trials],
        note="On the claims that the filters leave. Balanced accuracy is the mean of the shares of "
        "true and of false claims found. Pairs without both verdicts, and triples without all "
        "three, do not count.",
        empty=empty(report),
    )


def _judge_row(report: TrialReport, trial: Trial, found: JudgeMeasures) -> tuple[Cell, ...]:
    balanced = found.balanced
    notes = [f"threshold {trial.threshold:.3g}", *(["scripted"] if trial.is_scripted else [])]
    low, high = balanced.interval if balanced else (None, None)
    return (
        Link(report.names[trial.pk], trial.get_absolute_url(), ", ".join(notes)),
        balanced.value if balanced else None,
        low,
        high,
        share_without_interval(found.scored, found.asked),
        _rate(found.sensitivity, balanced.sensitivity if balanced else None, found),
        _rate(found.specificity, balanced.specificity if balanced else None, found),
        _plain(found.hard_false),
        _plain(found.symmetric),
        _plain(found.transitive),
        _plain(found.prefers_first),
        None if trial.metric else trial.spent.usd,
    )


def _rate(share: Share | None, interval: Interval | None, found: JudgeMeasures) -> Cell:
    if share is None:
        return None
    method = found.balanced.method if found.balanced and interval else Method.NONE
    return Rate(share.part, share.n, share.share, interval, method)


def _plain(share: Share | None) -> Cell:
    """Return a share without an interval: its pairs or triples are not independent."""
    return share_without_interval(share.part, share.n) if share else None


def tasks_table(report: TrialReport) -> Table:
    """Return a row for each judge and task, with the conclusion and its reason."""
    return Table(
        key="tasks",
        title="Which judge is fit for which task, and why?",
        columns=(
            Column("judge", "Judge"),
            Column("task", "Task"),
            Column("conclusion", "Conclusion", "verdict"),
            Column("reason", "Reason"),
            Column("true_found", "True claims found", "rate"),
            Column("false_found", "False claims found", "rate"),
        ),
        rows=[
            (
                report.names[trial.pk],
                TASK_LABELS[one.task],
                one.fit.value,
                f"It {one.reason}.",
                _plain(one.measures.sensitivity),
                _plain(one.measures.specificity),
            )
            for trial in report.trials
            for one in report.fits[trial.pk]
        ],
        note="Of all claims, whatever the filters; of the held-out ones once a judge was tuned. "
        + RULE,
        empty=empty(report),
    )


class Grouping(NamedTuple):
    """A way to divide claims, and the title of each part; "" leaves a claim out."""

    name: str
    key: Callable[[Judged], str]
    title: Callable[[str], str]


def groups_table(report: TrialReport) -> Table:
    """Return the share of right verdicts by kind, topic and cluster, judges side by side."""
    shown = report.shown
    groupings = (
        Grouping("kind", lambda one: one.verdict.kind, lambda key: str(ClaimKind(key).label)),
        Grouping("topic", lambda one: one.verdict.topic, lambda key: report.topics.get(key, key)),
        Grouping(
            "cluster",
            lambda one: "cluster" if one.verdict.cluster else "other",
            lambda key: "clusters of related ideas" if key == "cluster" else "other topics",
        ),
        Grouping("order", lambda one: str(one.order), lambda key: ORDER_NAMES[int(key)]),
    )
    rows = []
    for grouping in groupings:
        tallies = {pk: _tally(judged, grouping.key) for pk, judged in shown.items()}
        for key in sorted({key for tally in tallies.values() for key in tally}):
            cells = (share_without_interval(*tallies[t.pk][key]) for t in report.trials)
            rows.append((grouping.title(key), grouping.name, *cells))
    return Table(
        key="groups",
        title="Right verdicts by kind, topic and cluster",
        columns=(
            Column("group", "Claims"),
            Column("by", "By"),
            *(Column(f"trial_{pk}", name, "rate") for pk, name in report.names.items()),
        ),
        rows=rows,
        empty=empty(report),
        look="heat",
    )


def _tally(judged: Sequence[Judged], key: Callable[[Judged], str]) -> dict[str, tuple[int, int]]:
    found: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in judged:
        if one.verdict.is_right is not None:
            right, n = found[key(one)]
            found[key(one)] = (right + one.verdict.is_right, n + 1)
    return found


def scores_table(report: TrialReport) -> Table:
    """Return the number of claims by judge, truth and score, with the figure."""
    lines = []
    for trial in report.trials:
        for truth in (True, False):
            counts: Counter[int] = Counter()
            for score, n in report.measures[trial.pk].scores[truth].items():
                counts[bin_of(score, is_metric=bool(trial.metric))] += n
            lines.append((report.names[trial.pk], truth, counts))
    drawn = [
        Scores(f"{name}, {'true' if truth else 'false'}", counts)
        for name, truth, counts in lines
        if counts
    ]
    return Table(
        key="scores",
        title="Scores of true and of false claims",
        columns=(
            Column("judge", "Judge"),
            Column("truth", "Claims"),
            *(Column(f"score_{n}", str(n), "count") for n in range(1, 8)),
        ),
        rows=[
            (name, "true" if truth else "false", *(counts.get(n, 0) for n in range(1, 8)))
            for name, truth, counts in lines
        ],
        note="A good judge gives high scores to true claims and low ones to false claims. Metrics "
        "go from 0 to 1, which is shown in seven equal parts.",
        empty=empty(report),
        draw=lambda: score_bars(drawn) if drawn else None,
        look="folded",
        describes="Shares of scores from 1 to 7, for true and for false claims of each judge",
    )


def start_url(report: TrialReport) -> str:
    return f"{reverse('admin:trials_trial_add')}?benchmark={report.benchmark.pk}"
