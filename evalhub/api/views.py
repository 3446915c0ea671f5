import json
from collections.abc import Callable
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from evalhub.access.pagination import Pagination
from evalhub.api.errors import Conflict
from evalhub.api.filters import Id, NamedFilters, OneOf, Since, YesNo
from evalhub.api.serializers import (
    AuditEntrySerializer,
    CallSerializer,
    ExposureSerializer,
    NotificationSerializer,
)
from evalhub.audit.changes import told
from evalhub.audit.models import READ_AUDIT
from evalhub.idempotency import MAX_KEY, KeyReused, carry_out_once
from evalhub.models import (
    Act,
    AuditEntry,
    Call,
    CallRole,
    Exposure,
    ExposureKind,
    Notification,
    NotificationKind,
)

IDEMPOTENCY_KEY = "Idempotency-Key"
Handler = Callable[..., Response]


class Rows(GenericViewSet):
    """Base of all viewsets; only the allowed verbs are mixed in."""

    lookup_value_regex = "[0-9]{1,18}"
    keeps_answers = True
    """False: answers hold secrets, and none is kept for an `Idempotency-Key`."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Carry out a POST with an `Idempotency-Key` once."""
        super().initial(request, *args, **kwargs)
        key = request.headers.get(IDEMPOTENCY_KEY, "")
        if key and request.method == "POST" and self.keeps_answers:
            handler: Handler = getattr(self, "post")  # noqa: B009  set by `as_view`
            self.post: Handler = partial(self._once, handler, key)

    def _once(
        self, handler: Handler, key: str, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        if len(key) > MAX_KEY or not key.isprintable():
            problem = f"Send at most {MAX_KEY} printable characters, not {key[:80]!r}."
            raise ValidationError({IDEMPOTENCY_KEY: [problem]})

        def act() -> tuple[int, Any]:
            response = handler(request, *args, **kwargs)
            return response.status_code, json.loads(JSONRenderer().render(response.data) or b"null")

        user: Any = request.user
        try:
            answer = carry_out_once(user, key, [request.get_full_path(), request.data], act)
        except KeyReused as error:
            raise Conflict(str(error)) from None
        headers = {"Idempotency-Replayed": "true"} if answer.is_repeated else {}
        return Response(answer.body, status=answer.status, headers=headers)

    def sent(self, request: Request) -> dict[str, Any]:
        """Return the validated body of the request."""
        body = self.get_serializer(data=request.data)
        body.is_valid(raise_exception=True)
        values: dict[str, Any] = body.validated_data
        return values

    def shown(self, row: Any, code: int = status.HTTP_200_OK) -> Response:
        """Return the row as the viewset shows it, also after an action with another body."""
        serializer: Any = type(self).serializer_class
        return Response(serializer(row, context=self.get_serializer_context()).data, status=code)


class ReadOnly(mixins.ListModelMixin, mixins.RetrieveModelMixin, Rows):
    """Rows that can only be read."""


class Written(mixins.CreateModelMixin, ReadOnly):
    """Rows that can be created and changed by PATCH, never deleted."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = self.get_serializer(data=request.data)
        body.is_valid(raise_exception=True)
        self.perform_create(body)
        made: Any = body.instance
        row = self.get_queryset().get(pk=made.pk)  # with all that a list shows
        return Response(self.get_serializer(row).data, status=status.HTTP_201_CREATED)

    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = self.get_serializer(self.get_object(), data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        self.perform_update(body)
        return Response(self.get_serializer(self.get_object()).data)

    def perform_update(self, serializer: BaseSerializer[Any]) -> None:
        serializer.save()


class CallFilters(filters.FilterSet):
    language_model = Id(field_name="language_model_id")
    role = OneOf(CallRole)
    batch = filters.CharFilter(help_text="Such as run 12, or judge run 3.")
    error_kind = filters.CharFilter()
    failed = YesNo(method="with_error")

    def with_error(self, queryset: QuerySet[Call], name: str, value: bool) -> QuerySet[Call]:
        return queryset.exclude(error_kind="") if value else queryset.filter(error_kind="")


class CallViewSet(ReadOnly):
    """Calls to providers, failures included.

    Replies require the right to read sealed tests: a reply may quote any of them.
    """

    queryset = Call.objects.order_by("-pk")
    serializer_class = CallSerializer
    filterset_class = CallFilters


class ExposureFilters(filters.FilterSet):
    test = Id(field_name="test")
    kind = OneOf(ExposureKind)
    endpoint = filters.CharFilter()
    user = filters.CharFilter(field_name="user__username")
    since = Since("created_at")
    ended = YesNo(field_name="ended_at", lookup_expr="isnull", exclude=True)


class ExposureViewSet(ReadOnly):
    """Exposures of sealed tests. Reveal a test at `tests/{id}/reveal/`.

    Reasons require the right to read sealed tests: they may quote one.
    """

    queryset = Exposure.objects.select_related("user", "by", "ended_by").order_by("-pk")
    serializer_class = ExposureSerializer
    filterset_class = ExposureFilters


class AuditFilters(filters.FilterSet):
    actor = filters.CharFilter(field_name="actor__username")
    act = OneOf(Act)
    kind = filters.CharFilter(help_text="Such as evalhub.user.")
    number = Id(field_name="number")
    since = Since("at")
    until = filters.IsoDateTimeFilter(field_name="at", lookup_expr="lt")


class AuditPagination(Pagination):
    ordering = ("-at", "-id")


class AuditViewSet(mixins.ListModelMixin, Rows):
    """Acts of people and of the system, newest first.

    All changes and deletions on record, logins, failed logins, verdicts and exposures.

    Reasons require the right to read sealed tests: they may quote one.
    """

    queryset = AuditEntry.objects.prefetch_related("actor")
    serializer_class = AuditEntrySerializer
    filterset_class = AuditFilters
    pagination_class = AuditPagination
    filter_backends = (NamedFilters,)
    permission_required = READ_AUDIT

    def paginate_queryset(self, queryset: Any) -> Any:
        return told(list(super().paginate_queryset(queryset) or ()))


class NotificationFilters(filters.FilterSet):
    kind = OneOf(NotificationKind)
    is_read = YesNo("read_at", lookup_expr="isnull", exclude=True)


class NotificationViewSet(ReadOnly):
    """Notifications of the token's user."""

    queryset = Notification.objects.order_by("-pk")
    serializer_class = NotificationSerializer
    filterset_class = NotificationFilters
    ordering_fields = ("id",)
    action_permissions = {"read": "evalhub.view_notification"}

    def get_queryset(self) -> QuerySet[Notification]:
        mine: QuerySet[Notification] = super().get_queryset().filter(recipient=self.request.user.pk)
        return mine

    @extend_schema(request=None)
    @action(detail=True, methods=["post"])
    def read(self, request: Request, pk: str | None = None) -> Response:
        """Mark it as read."""
        notification = self.get_object()
        if notification.read_at is None:
            notification.read_at = timezone.now()
            notification.save(update_fields=["read_at"])
        return Response(self.get_serializer(notification).data)
