from typing import Any

from axes.admin import AccessAttemptAdmin
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.db.models import BooleanField, ExpressionWrapper, Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, ReadOnlyAdmin, require
from evalhub.work import overview
from evalhub.work.leases import alive
from evalhub.work.models import Worker


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    when_empty = "Start a worker with manage.py worker."
    list_display = ("name", "status", "started_at", "beat_at", "stopped_at")
    search_fields = ("name",)
    views = {"queue": "queue/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        workers: QuerySet[Worker] = super().get_queryset(request)
        return workers.annotate(alive=ExpressionWrapper(alive(), BooleanField()))

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return ("name", "status", "problem", "started_at", "beat_at", "stopped_at", "models")

    @display(
        description="state", label={"running": "success", "not responding": "danger", "stopped": ""}
    )
    def status(self, worker: Worker) -> str:
        if worker.stopped_at:
            return "stopped"
        return "running" if worker.alive else "not responding"  # type: ignore[attr-defined]

    @display(description="models in use")
    def models(self, worker: Worker) -> str:
        return ", ".join(worker.models_in_use) or "none"

    def queue_view(self, request: HttpRequest) -> HttpResponse:
        require(self.has_view_permission(request))
        return self.page(
            request,
            "evalhub/work/queue.html",
            title="Workers and queue",
            workers=overview.running_workers(),
            outages=overview.outages(),
            holdings=overview.holdings(),
            batches=list(overview.live_batches()),
            queued=overview.queued_tasks(),
            finished=overview.finished_tasks(),
            dead=overview.dead_workers(),
            dead_days=overview.DEAD_DAYS,
        )


# Their admins list tokens, and a schedule or task names any function to call.
admin.site.unregister([Schedule, Success, Failure, OrmQ])

# The audit shows logins, and lets nobody delete them.
admin.site.unregister([AccessAttempt, AccessLog, AccessFailureLog])


@admin.register(AccessAttempt)
class AttemptAdmin(AccessAttemptAdmin, PageAdmin):
    """Failed logins that count towards a limit; deleting one forgives it."""
