"""The annotator's day in a ledger to look at: queues, examples, rehearsals, notices."""

from django.urls import reverse
from django.utils import timezone

from evalhub.models import Delivery, DeliveryState, Exposure, NotificationKind, User, Webhook
from evalhub.notifications.events import Event, notify
from issues.models import Issue
from runs.laboratory.tuning.models import Tuning
from runs.models import HumanEvaluation, Run
from runs.review.assignment_actions import send_back, skip
from runs.review.models import Correction, Queue
from runs.review.queue_items import add_runs
from runs.review.reservations import take
from runs.scoring.examples import mark
from tests.factories import make_user
from tests.runs.laboratory.tuning.rows import scored, tuning_of
from tests.runs.review.rows import review


def make_annotator_day(run: Run, *, long: str) -> None:
    """All that people do in a day with a run's answers; `long` is a word without an end."""
    ann, bob = make_user("annotator", username=f"ann-{long[:40]}"), make_user("adjudicator")
    queue = Queue.objects.create(
        name=f"Nightly {long}"[:150], instructions=f"Read **all**. {long}", reviewers=2, seed=1
    )
    add_runs(queue, run)
    done = review(take(queue, by=ann), why=f"It says so: {long}").assignment
    send_back(done, f"Look at the reference. {long}", by=bob)
    other = take(queue, by=bob)
    assert other is not None
    skip(other, f"In a language that I do not read: {long}", by=bob)
    take(queue, by=bob)
    Queue.objects.create(name="An empty queue", seed=2)
    _correct_and_label(ann, long)
    tuning_of(scored(label=f"Judged by people {long}"[:150]))
    _notify(ann, long)


def _correct_and_label(annotator: User, long: str) -> None:
    evaluation = HumanEvaluation.objects.filter(result__test__sealed=False).latest("pk")
    mark(evaluation, f"A plain case. {long}", by=annotator)
    Correction.objects.create(
        result=evaluation.result, annotator=annotator, text=f"It is 4. {long}"
    )
    Exposure.objects.create(
        test=evaluation.result.test_id,
        kind="sent",
        endpoint=f"{long[:60]}.example.org:443",
        day=timezone.now().date(),
    )


def _notify(annotator: User, long: str) -> None:
    webhook = Webhook.objects.create(
        name="ci", url=f"https://example.org/{long}", secret_env="HOOK", kinds=["run_finished"]
    )
    Delivery.objects.create(
        webhook=webhook, key="run 1", state=DeliveryState.FAILED, attempts=8, problem=f"500 {long}"
    )
    for n, reader in enumerate((annotator, *User.objects.filter(is_superuser=True))):
        event = Event(
            NotificationKind.ASSIGNED, f"k{n}", f"Yours now: {long}"[:200], f"Look. {long}"
        )
        notify(event, to=[reader])


def addresses() -> dict[str, str]:
    """Pages of the day that no sidebar leads to."""
    found = {
        "inbox": reverse("admin:issues_feedback_inbox"),
        "upload of feedback": reverse("admin:issues_feedback_upload"),
        "board": reverse("admin:issues_issue_board"),
        "notification settings": reverse("admin:evalhub_notification_settings"),
    }
    for queue in Queue.objects.order_by("pk")[:2]:
        for page in ("work", "overview", "runs", "change"):
            found[f"{page} of {queue.name[:10]}"] = reverse(
                f"admin:review_queue_{page}", args=[queue.pk]
            )
    if correction := Correction.objects.first():
        found["correction"] = reverse("admin:review_correction_change", args=[correction.pk])
        found["promoting"] = reverse("admin:review_correction_promote", args=[correction.pk])
    if tuning := Tuning.objects.first():
        for page in ("change", "disagreements"):
            found[f"rehearsal: {page}"] = reverse(f"admin:tuning_tuning_{page}", args=[tuning.pk])
    if (issues := Issue.objects.order_by("pk")[:2]) and len(issues) == 2:
        chosen = "&".join(f"issue={issue.pk}" for issue in issues)
        found["merging"] = f"{reverse('admin:issues_issue_merge')}?{chosen}"
    return found
