"""Failed answers of a run with the reasons against them, and filing answers under an issue."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction
from django.db.models.fields.json import KeyTransform
from django.utils.text import Truncator

from evalhub.access.models import User
from evalhub.history import save_signed, sign
from evalhub.refusals import Refused
from issues.lifecycle.undoable_drafts import delete_untouched
from issues.models import Feedback, FeedbackState, Issue, Polarity
from issues.triage.actions import TITLE_LENGTH, attach, taking_issue
from issues.triage.intake import take_in
from runs.models import JudgeRun, Judgment, Result
from runs.result_list.listing import prompt_of

SOURCE = "EvalHub"
FAILING = 0.5
"""Score of a judgment, after inversion, up to which its justification speaks against the answer."""
CHUNK = 500


@dataclass(frozen=True)
class FailedAnswer:
    """An answer of a test that is not sealed. `reasons` are those of judges and checks against it.

    `prompt` is the last turn of the user.
    """

    result: int
    run: int
    test: int
    issue: int
    model: str
    prompt: str
    answer: str
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        return "\n".join(self.reasons)

    @property
    def key(self) -> str:
        """The `source_id` of its feedback, so that it is filed once."""
        return f"result-{self.result}"


def read_answers(
    results: Iterable[int], judge_run: JudgeRun | None, *, against: bool = True
) -> Iterator[FailedAnswer]:
    """Yield these results' answers in order of id, without those of sealed tests.

    Args:
        against: Only reasons against an answer; otherwise all.
    """
    ids = sorted(results)
    for start in range(0, len(ids), CHUNK):
        rows = Result.objects.filter(pk__in=ids[start : start + CHUNK], test__sealed=False)
        rows = rows.filter(answer__removed_at=None)
        reasons = _reasons(rows.values_list("pk", flat=True), judge_run, against)
        names = ("pk", "run_id", "test_id", "issue_id", "run__model_name", "answer__text")
        found = rows.order_by("pk").annotate(messages=KeyTransform("messages", "revision__content"))
        for pk, run, test, issue, model, answer, messages in found.values_list(*names, "messages"):
            prompt = prompt_of(messages)
            told = tuple(reasons.get(pk, ()))
            yield FailedAnswer(pk, run, test, issue, model, prompt, answer or "", told)


def _reasons(
    results: Iterable[int], judge_run: JudgeRun | None, against: bool
) -> dict[int, dict[str, None]]:
    """Return the different justifications by result; one query."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    rows = Judgment.objects.filter(
        judge_run=judge_run, result__in=list(results), value__isnull=False
    )
    names = ("result_id", "value", "criterion__polarity", "justification")
    for pk, value, polarity, text in rows.order_by("result", "pk").values_list(*names):
        score = 1 - value if polarity == Polarity.SHOULD_NOT else value
        if text.strip() and not (against and score > FAILING):
            found[pk][text.strip()] = None
    return found


@dataclass(frozen=True)
class Filed:
    """Feedback ids that filing made, and how many answers had been filed before."""

    issue: Issue
    feedback: tuple[int, ...]
    known: int


@transaction.atomic
def file_answers(
    answers: Iterable[FailedAnswer],
    *,
    by: User,
    issue: Issue | None = None,
    title: str = "",
    description: str = "",
) -> Filed:
    """Attach answers to an issue as accepted feedback, each answer once.

    Args:
        issue: The issue; None creates a draft of this title.

    Raises:
        Refused: There is no title, no new answer, or the issue is deprecated.
    """
    answers = list(answers)
    if not answers:
        raise Refused(["No answer can be filed: those of sealed tests would open their texts."])
    intake = take_in([_feedback_of(one) for one in answers], by=by, reason="Failed in a run")
    if not intake.added:
        raise Refused(["All these answers have been filed as feedback already."])
    if issue is None:
        issue = _draft(title, description, answers, by)
    for feedback in intake.added.values():
        attach(feedback, issue, by=by)
    ids = tuple(feedback.pk for feedback in intake.added.values())
    return Filed(taking_issue(issue), ids, len(intake.duplicates))


@transaction.atomic
def unfile(issue: Issue | None, feedback: Collection[int], *, deletes: bool, by: User) -> None:
    """Delete feedback that filing made and, with `deletes`, the draft issue made for it.

    Raises:
        Refused: Somebody has worked on either since.
    """
    rows = Feedback.objects.filter(pk__in=feedback).select_for_update(of=("self",))
    moved = [row for row in rows if issue is None or row.issue_id != issue.pk]
    if moved or any(row.state != FeedbackState.ACCEPTED or row.note for row in rows):
        raise Refused(["Its feedback was changed since: move or dismiss it in the inbox instead."])
    for row in rows:
        sign(row, by, "Undone")
        row.delete()
    if issue is not None and deletes and not delete_untouched(issue, "Undone", by=by):
        raise Refused([f"“{issue}” was changed since: edit or deprecate the issue instead."])


def _feedback_of(answer: FailedAnswer) -> dict[str, object]:
    return {
        "prompt": answer.prompt,
        "answer": answer.answer,
        "comment": answer.reason,
        "model": answer.model,
        "source": SOURCE,
        "source_id": answer.key,
        "raw": {"result": answer.result, "run": answer.run, "test": answer.test},
    }


def _draft(title: str, description: str, answers: list[FailedAnswer], by: User) -> Issue:
    if not title.strip():
        raise Refused(["Enter a title for the new issue."])
    issue = Issue(
        title=Truncator(title.strip()).chars(TITLE_LENGTH), description=description, author=by
    )
    return save_signed(issue, by, f"Made from {len(answers)} answers of run {answers[0].run}")
