import json
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, cast

from django import forms
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from evalhub.admin_site.edit_conflicts import last_change, lock_row
from evalhub.api.errors import ChangedSince, Conflict
from evalhub.api.exports import plain_value
from evalhub.api.filters import Id, Moment, NamedFilters, OneOf, Pagination, Since, YesNo
from evalhub.api.headers import (
    ETAG,
    IDEMPOTENCY_KEY,
    IF_MATCH,
    WATERMARK,
    etag_of,
    matches,
    watermark,
)
from evalhub.api.serializers import (
    AuditEntrySerializer,
    CallSerializer,
    ExposureSerializer,
    NotificationSerializer,
)
from evalhub.audit.changes import told
from evalhub.audit.models import READ_AUDIT
from evalhub.http.idempotency import MAX_KEY, KeyReused, carry_out_once
from evalhub.models import (
    Act,
    AuditEntry,
    Call,
    CallRole,
    Exposure,
    ExposureKind,
    Notification,
    NotificationKind,
    User,
)

Handler = Callable[..., Response]


class Rows(GenericViewSet):
    """Base of all viewsets; only the allowed verbs are mixed in.

    `detail_serializer_class` shows a single row, where a list shows less of it.
    """

    lookup_value_regex = "[0-9]{1,18}"
    keeps_answers = True
    """False: answers hold secrets, and none is kept for an `Idempotency-Key`."""
    detail_serializer_class: type[BaseSerializer] | None = None

    @property
    def user(self) -> User:
        """The user who sent the request."""
        return cast(User, self.request.user)

    def get_serializer_class(self) -> type[BaseSerializer]:
        return self.row_serializer if self.action == "retrieve" else super().get_serializer_class()

    @property
    def row_serializer(self) -> type[BaseSerializer]:
        """The serializer of a single row, also during an action with another body."""
        kind: Any = self.detail_serializer_class or type(self).serializer_class
        return kind  # type: ignore[no-any-return]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check `If-Match`, and carry out a POST with an `Idempotency-Key` once."""
        super().initial(request, *args, **kwargs)
        self.watermark = self._watermark(request) if request.method == "GET" else None
        method = str(request.method).lower()
        handler: Handler | None = getattr(self, method, None)
        if handler is None or request.method in SAFE_METHODS:
            return
        if (tags := request.headers.get(IF_MATCH)) and self.detail:
            handler = partial(self._if_match, handler, tags)
        key = request.headers.get(IDEMPOTENCY_KEY) if self.keeps_answers else None
        if key and request.method == "POST":
            handler = partial(self._once, handler, key)
        setattr(self, method, handler)

    def _watermark(self, request: Request) -> datetime | None:
        """Return the time to go on from, for the first part of a list that shows what changed."""
        is_first = not {"cursor", "after"} & request.query_params.keys()
        filters_of: Any = getattr(self, "filterset_class", None)
        if self.detail or not is_first or not filters_of:
            return None
        since = filters_of.base_filters.get("updated_since")
        if since is None:
            return None
        try:
            return watermark(since.field.clean(request.query_params.get("updated_since")))
        except forms.ValidationError:  # which the filter explains
            return None

    def _if_match(
        self, handler: Handler, tags: str, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        """Act on the locked row, if it still is as the client has read it."""
        with transaction.atomic():
            row = self.locked_object()
            now = etag_of(self.shown(row).data)
            if not matches(tags, now):
                said = last_change(row, self.user, after="you read it")
                raise ChangedSince(f"{said}. Read it again, then repeat your change.", etag=now)
            return handler(request, *args, **kwargs)

    def locked_object(self) -> Any:
        """Return the row of the address, locked until the transaction ends."""
        row = self.get_object()
        lock_row(row)
        return self.get_object()

    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        """Add the `ETag` of a row that is answered as it is read."""
        found: Response = super().finalize_response(request, response, *args, **kwargs)
        if moment := getattr(self, "watermark", None):
            found[WATERMARK] = plain_value(moment)
        data: Any = getattr(found, "data", None)
        if type(getattr(data, "serializer", None)) is self.row_serializer:
            found[ETAG] = etag_of(data)
        elif found.status_code == status.HTTP_412_PRECONDITION_FAILED:
            found[ETAG] = data["etag"]
        return found

    def _once(
        self, handler: Handler, key: str, request: Request, *args: Any, **kwargs: Any
    ) -> Response:
        if len(key) > MAX_KEY or not key.isprintable():
            problem = f"Send at most {MAX_KEY} printable characters, not {key[:80]!r}."
            raise ValidationError({IDEMPOTENCY_KEY: [problem]})

        def act() -> tuple[int, Any]:
            response = handler(request, *args, **kwargs)
            return response.status_code, json.loads(JSONRenderer().render(response.data) or b"null")

        try:
            answer = carry_out_once(self.user, key, [request.get_full_path(), request.data], act)
        except KeyReused as error:
            raise Conflict(str(error), "idempotency_key_reused") from None
        headers = {"Idempotency-Replayed": "true"} if answer.is_repeated else {}
        return Response(answer.body, status=answer.status, headers=headers)

    def sent(self, request: Request, kind: type[BaseSerializer] | None = None) -> dict[str, Any]:
        """Return the validated body of the request, read by the action's or another serializer."""
        make = kind or self.get_serializer_class()
        body = make(data=request.data, context=self.get_serializer_context())
        body.is_valid(raise_exception=True)
        values: dict[str, Any] = body.validated_data
        return values

    def shown(self, row: Any, code: int = status.HTTP_200_OK) -> Response:
        """Return the row as it now is and as GET shows it."""
        fresh = self.get_queryset().get(pk=row.pk)
        shown = self.row_serializer(fresh, context=self.get_serializer_context())
        return Response(shown.data, status=code)


class ReadOnly(mixins.ListModelMixin, mixins.RetrieveModelMixin, Rows):
    """Rows that can only be read."""


class ReadableRows(ReadOnly):
    """Rows whose text the user may read."""

    def get_queryset(self) -> QuerySet[Any]:
        rows: Any = super().get_queryset()
        readable: QuerySet[Any] = rows.readable_by(self.request.user)
        return readable


class Added(mixins.CreateModelMixin, ReadOnly):
    """Rows that can be created, and then only be read."""

    def create(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        body = self.get_serializer(data=request.data)
        body.is_valid(raise_exception=True)
        self.perform_create(body)
        return self.shown(body.instance, status.HTTP_201_CREATED)


class Written(Added):
    """Rows that can be created and changed by PATCH, never deleted."""

    @transaction.atomic
    def partial_update(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        row = self.locked_object()
        body = self.get_serializer(row, data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        self.perform_update(body)
        return self.shown(row)

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
    until = Moment(field_name="at", lookup_expr="lt")


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
        return self.shown(notification)
