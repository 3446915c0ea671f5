"""Tables of a run's judges: judgments, agreement, errors and judge runs."""

from collections.abc import Sequence

from evalhub.display.formatting import words
from reports.documents.document import Cell, Column, Estimate, Link, Linked, Table
from reports.judge_reliability.judge_line import JudgeLine
from reports.run.jury_query import RunJury
from reports.run.progress_query import ScoringProgress
from reports.run.query import RunReport
from reports.run.result_links import ResultLinks
from reports.run.usage_tables import ADVICE
from runs.figures.partly_judged import PartlyJudged
from runs.models import JudgeRun


def judges(panel: RunJury, links: ResultLinks) -> Table:
    columns = (
        Column("judge", "Judge", "link"),
        Column("answered", "Answered", "count"),
        Column("asked", "Asked", "count"),
        Column("repaired", "Repaired", "count"),
        Column("failed", "Failed", "count"),
    )
    failed = links.results(failed_judgments=True)
    rows: list[tuple[Cell, ...]] = [
        (
            Link(j.name, "", _about_judge(j)),
            j.answered,
            j.asked,
            j.repaired,
            Linked(j.failed, failed) if j.failed else 0,
        )
        for j in panel.judges
    ]
    return Table("judges", "Judges", columns, rows)


def _about_judge(judge: JudgeLine) -> str:
    notes = {
        "backup": judge.is_backup,
        "fails often": judge.fails_often,
        "scripted": judge.is_scripted,
        "self-evaluation": judge.judges_itself,
    }
    return ", ".join(note for note, holds in notes.items() if holds)


def partly_judged(kinds: Sequence[PartlyJudged], links: ResultLinks) -> Table:
    columns = (
        Column("expected", "Expected", "count", "Judgments of judges and checks on one answer"),
        Column("answered", "Answered", "count"),
        Column("replaced", "By the backup", "count"),
        Column("answers", "Answers", "count"),
    )
    lacking = links.results(failed_judgments=True)
    rows = [(*kind[:-1], Linked(kind.answers, lacking)) for kind in kinds]
    note = "A missing judgment is left out of the score. The lowest and the highest score count it."
    return Table("partly_judged", "Partly judged answers", columns, rows, note=note)


BANDS = {
    "not enough data to say": "Reliable takes an interval from 0.8 on, unreliable one below 0.667; "
    "both take two judges and five such criteria.",
    "no variation": "All verdicts were the same, so agreement beyond chance is not defined.",
    "unreliable": "The judges disagree too often to be trusted without human review.",
}


def agreement(panel: RunJury) -> Table:
    columns = (
        Column("alpha", "Krippendorff's alpha", "estimate", "95% interval: bootstrap over results"),
        Column("band", "Agreement"),
        Column("criteria", "Criteria", "count", "With two or more verdicts"),
        Column("pairs", "Judge pairs compared", "count"),
        Column("expected", "Expected", "count"),
    )
    found = panel.comparisons
    pairs = (found.made, found.expected) if found else (None, None)
    alpha = Estimate(panel.alpha, panel.units, panel.interval)
    rows = [(alpha, panel.band, panel.units, *pairs)] if panel.band else []
    note = BANDS.get(panel.band or "", "")
    empty = "Agreement is computed when the judge run is done."
    return Table("agreement", "Judge agreement", columns, rows, note=note, empty=empty)


def judge_errors(panel: RunJury) -> Table:
    columns = (
        Column("kind", "Error"),
        Column("n", "Judgments", "count"),
        Column("advice", "What to do"),
    )
    rows = [(words(kind), n, ADVICE.get(kind, "")) for kind, n in panel.failures]
    note = "A failed judgment is neither a pass nor a fail: it is not counted."
    return Table("judge_errors", "Judge errors", columns, rows, note=note)


def judge_runs(report: RunReport) -> Table:
    columns = (
        Column("number", "Judge run", "link"),
        Column("jury", "Jury", "link"),
        Column("state", "State"),
        Column("passed", "Passed", "count", "Before human verdicts"),
        Column("scored", "Of", "count"),
        Column("created_at", "Requested", "date"),
        Column("by", "By"),
        Column("jury_fingerprint", "Jury fingerprint"),
    )
    rows = [_judge_run(one, report) for one in report.judge_runs]
    note = (
        "These judge runs differ in judges, approaches, parameters or prompts: "
        "do not compare their scores."
        if report.juries_differ
        else ""
    )
    return Table("judge_runs", "Judge runs", columns, rows, note=note)


def _judge_run(row: JudgeRun, report: RunReport) -> tuple[Cell, ...]:
    current, scored = report.current, report.scoring.get(row.pk, ScoringProgress())
    differs = current is not None and row.jury_fingerprint != current.jury_fingerprint
    notes = {"checks run again": row.judgments_from_id, "active: decides the scores": row.is_active}
    return (
        Link(str(row.number), "", ", ".join(note for note, holds in notes.items() if holds)),
        Link(row.jury_name or "no judges", "", "differs from the active one" if differs else ""),
        f"{row.state}: {row.reason}" if row.reason else row.state,
        scored.passed,
        scored.scored,
        row.created_at,
        str(row.requested_by) if row.requested_by else None,
        row.jury_fingerprint,
    )
