"""Workers, the queue and locked-out logins, to be read."""

from typing import Any

from axes.admin import AccessAttemptAdmin, AccessFailureLogAdmin, AccessLogAdmin
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.db.models import BooleanField, ExpressionWrapper, Model, QuerySet
from django.http import HttpRequest
from django_q.admin import FailAdmin, QueueAdmin, ScheduleAdmin, TaskAdmin
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, ReadOnlyAdmin
from evalhub.work.leases import alive
from evalhub.work.models import Worker


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    when_empty = "Start one with manage.py worker."
    list_display = ("name", "status", "started_at", "beat_at", "stopped_at")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        workers: QuerySet[Worker] = super().get_queryset(request)
        return workers.annotate(alive=ExpressionWrapper(alive(), BooleanField()))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return ("name", "status", "started_at", "beat_at", "stopped_at", "models")

    @display(
        description="state", label={"working": "success", "not heard of": "danger", "stopped": ""}
    )
    def status(self, worker: Worker) -> str:
        if worker.stopped_at:
            return "stopped"
        return "working" if worker.alive else "not heard of"  # type: ignore[attr-defined]

    @display(description="models in use")
    def models(self, worker: Worker) -> str:
        return ", ".join(worker.models_in_use) or "none"


class _ToRead:
    """A foreign admin without its acts: a schedule or task names any function to be called."""

    section = "Settings"
    keeps_history = False
    actions: Any = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


for model, theirs, when_empty in (
    (Schedule, ScheduleAdmin, "What the house does by the clock is put here by its workers."),
    (Success, TaskAdmin, "A task is the time that one worker process spent on all work."),
    (Failure, FailAdmin, "A run's own errors are on its page; a task fails where a worker did."),
    (OrmQ, QueueAdmin, "A token here lets one more worker process work; none is needed now."),
):
    admin.site.unregister(model)
    words = {"when_empty": when_empty}
    admin.site.register(model, type(theirs.__name__, (_ToRead, theirs, PageAdmin), words))

for model, theirs in (
    (AccessAttempt, AccessAttemptAdmin),
    (AccessLog, AccessLogAdmin),
    (AccessFailureLog, AccessFailureLogAdmin),
):
    admin.site.unregister(model)
    admin.site.register(model, type(theirs.__name__, (theirs, PageAdmin), {}))
