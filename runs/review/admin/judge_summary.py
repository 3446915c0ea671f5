"""The judges' verdict in a few words: beside the form, and after a blind review."""

from evalhub.formatting import score
from runs.scoring.verdict import ResultVerdict


def judge_summary(verdict: ResultVerdict) -> str:
    """Return "2 of 3 pass", "fails with 0.4" for a rubric, or "no verdict"."""
    replies = [] if verdict.has_rubric else verdict.criteria[0].replies
    values = [reply.value for reply in replies if reply.value is not None]
    if values:
        passing = sum(bool(verdict.result.revision.passes(value)) for value in values)
        return f"{passing} of {len(values)} pass"
    result_score = verdict.result_score
    if result_score is None or result_score.score is None:
        return "no verdict"
    return f"{'passes' if result_score.passed else 'fails'} with {score(result_score.score)}"
