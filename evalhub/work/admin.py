"""Workers, the queue and locked-out logins, to be read."""

from typing import Any

from axes.admin import AccessAttemptAdmin, AccessFailureLogAdmin, AccessLogAdmin
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django_q.admin import FailAdmin, QueueAdmin, ScheduleAdmin, TaskAdmin
from django_q.models import Failure, OrmQ, Schedule, Success
from unfold.decorators import display

from evalhub.pages import PageAdmin, ReadOnlyAdmin
from evalhub.work.models import Worker


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("name", "standing", "started_at", "beat_at", "stopped_at")
    search_fields = ("name",)

    @display(description="state", label={"working": "success", "stopped": ""})
    def standing(self, worker: Worker) -> str:
        return "stopped" if worker.stopped_at else "working"


class _ToRead:
    """A foreign admin without its acts: a schedule or task names any function to be called."""

    actions: Any = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


for model, theirs in (
    (Schedule, ScheduleAdmin),
    (Success, TaskAdmin),
    (Failure, FailAdmin),
    (OrmQ, QueueAdmin),
):
    admin.site.unregister(model)
    admin.site.register(model, type(theirs.__name__, (_ToRead, theirs, PageAdmin), {}))

for model, theirs in (
    (AccessAttempt, AccessAttemptAdmin),
    (AccessLog, AccessLogAdmin),
    (AccessFailureLog, AccessFailureLogAdmin),
):
    admin.site.unregister(model)
    admin.site.register(model, type(theirs.__name__, (theirs, PageAdmin), {}))
