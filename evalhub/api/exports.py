"""Long exports: all rows of a list as JSON lines, CSV or Parquet, streamed and resumable.

Rows come in the order of their ids, so an interrupted export is continued `after` the last id.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, NamedTuple

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models.functions import Cast
from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from django_filters.utils import translate_validation
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from evalhub.access.request_limits import ExpensiveLimit
from evalhub.api.filters import HIGHEST_ID, refuse_unknown
from evalhub.files import parquet
from evalhub.files.csv_safety import csv_lines

PORTION = 1000
ROW_GROUP = 20
"""Portions in a row group of Parquet."""
GZIP = 16 + zlib.MAX_WBITS
Values = list[Any]


class Column(NamedTuple):
    """A column of an export.

    Attributes:
        source: The lookup that its values come from.
        kind: Of `evalhub.files.parquet`; "" for that of the model's field.
        form: Returns, for one export, what changes each value.
        gathered: Returns the values of rows by their ids, in place of a lookup.
        withheld: What a reader who may not read the row's text gets; ... if it is no text.
    """

    name: str
    source: str = ""
    kind: str = ""
    form: Callable[[], Callable[[Any], Any]] | None = None
    gathered: Callable[[Sequence[int]], Mapping[int, Any]] | None = None
    withheld: Any = ...


IS_READABLE = "is_readable"
"""A column that is computed by the query set where the reader may not read all texts."""


class _Lines(JSONRenderer):
    """JSON lines; an error is one line."""

    media_type, format = "application/x-ndjson", "ndjson"


class _CSV(_Lines):
    media_type, format = "text/csv", "csv"


class _Parquet(_Lines):
    media_type, format = "application/vnd.apache.parquet", "parquet"


RENDERERS = (_Lines, _CSV, _Parquet)
FILE = OpenApiResponse(OpenApiTypes.STR, description="The rows, in the order of their ids.")
OWN = ("after", "limit", "format")
WHOLE_NUMBER = {"type": "integer", "minimum": 0, "maximum": HIGHEST_ID}
EXPORT_SCHEMA: dict[str, Any] = {
    "parameters": [
        OpenApiParameter("after", WHOLE_NUMBER, description="Continue after the row of this id."),
        OpenApiParameter(
            "limit", {**WHOLE_NUMBER, "minimum": 1}, description="At most this many rows."
        ),
        OpenApiParameter(
            "format",
            OpenApiTypes.STR,
            enum=[one.format for one in RENDERERS],
            description="Or send Accept with the media type.",
        ),
    ],
    "responses": {
        (200, "application/x-ndjson"): FILE,
        (200, "text/csv"): FILE,
        (200, "application/vnd.apache.parquet"): OpenApiTypes.BINARY,
    },
}


def among(name: str, ids: Sequence[int]) -> models.Q:
    """Return a condition that holds for rows of these ids, which ascend, and of few others."""
    if ids[-1] - ids[0] < 2 * len(ids):
        return models.Q((f"{name}__gte", ids[0]), (f"{name}__lte", ids[-1]))
    return models.Q((f"{name}__in", ids))


class ExportedRows:
    """A viewset's action that streams all rows of its list."""

    exported: tuple[Column, ...] = ()

    def export_rows(self: Any) -> models.QuerySet[Any]:
        """Return the rows that the user may export."""
        rows: models.QuerySet[Any] = self.get_queryset()
        return rows

    def note_exported(self, portion: Sequence[Values], place: Mapping[str, int]) -> None:
        """Record that the user is sent these rows; `place` is that of each column."""

    def perform_content_negotiation(self: Any, request: Request, force: bool = False) -> Any:
        try:
            return super().perform_content_negotiation(request, force)  # type: ignore[misc]
        except Http404:
            if getattr(self, "action", "") != "export":
                raise
            known = ", ".join(one.format for one in RENDERERS)
            wrong = request.query_params.get("format")
            raise ValidationError({"format": [f"Choose one of {known}, not {wrong!r}."]}) from None

    def handle_exception(self: Any, exc: Exception) -> Any:
        """Answer an error as JSON, whatever file was asked for."""
        if getattr(self, "action", "") == "export":
            self.request.accepted_renderer = JSONRenderer()
            self.request.accepted_media_type = JSONRenderer.media_type
        return super().handle_exception(exc)  # type: ignore[misc]

    @extend_schema(**EXPORT_SCHEMA)
    @action(
        detail=False,
        pagination_class=None,
        renderer_classes=RENDERERS,
        throttle_classes=[ExpensiveLimit],
    )
    def export(self: Any, request: Request) -> StreamingHttpResponse:
        """Stream all rows, with the list's filters, as JSON lines, CSV or Parquet.

        An interrupted export continues with `after`, the id of the last row received. With `limit`,
        the header `Link` has the address of the next part. Gzip is used where it is accepted.
        """
        form = request.accepted_renderer.format
        if form == "parquet" and not parquet.is_available():
            raise ValidationError({"format": [parquet.MISSING]})
        refuse_unknown(request, {*self.filterset_class.base_filters, *OWN})
        after = _count(request, "after", 0)
        limit = _count(request, "limit", HIGHEST_ID, least=1)
        found = self.filterset_class(
            request.query_params, queryset=self.export_rows(), request=request
        )
        if not found.is_valid():
            raise translate_validation(found.errors)
        rows = found.qs.order_by("pk")
        export = Export(rows, self.exported, self.note_exported)
        name = f"{self.basename.removeprefix('api-')}s-{timezone.now():%Y%m%d-%H%M}"
        is_packed = form != "parquet" and "gzip" in request.headers.get("Accept-Encoding", "")
        parts = export.written(form, after, limit)
        response = StreamingHttpResponse(
            gzipped(parts) if is_packed else parts,
            content_type=request.accepted_renderer.media_type,
            headers={"Content-Disposition": f'attachment; filename="{name}.{form}"'},
        )
        response["Vary"] = "Accept-Encoding"
        if last := export.last_of(after, limit):
            response["Link"] = f'<{_address(request, last)}>; rel="next"'
        if is_packed:
            response["Content-Encoding"] = "gzip"
        return response


def _count(request: Request, name: str, default: int, least: int = 0) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and least <= int(text[:19]) <= HIGHEST_ID):
        raise ValidationError({name: [f"Send a number from {least} on, not {text!r}."]})
    return int(text)


def _address(request: Request, after: int) -> str:
    query = request.query_params.copy()
    query["after"] = str(after)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


class Export:
    """Rows of a query set in columns, read in portions by their ids."""

    def __init__(
        self,
        rows: models.QuerySet[Any],
        columns: Sequence[Column],
        note: Callable[[Sequence[Values], Mapping[str, int]], None] = lambda *_: None,
    ) -> None:
        self.columns = columns
        self.place = {column.name: n for n, column in enumerate(columns)}
        self.note = note
        self.masks = IS_READABLE in rows.query.annotations
        self.kinds = {one.name: one.kind or kind_of(rows.model, one) for one in columns}
        read_as_text = {
            f"{one.name}_as_text": Cast(one.source or one.name, models.TextField())
            for one in columns
            if self.kinds[one.name] == parquet.JSON and not one.gathered
        }
        self.rows = rows.annotate(**read_as_text)
        sources = ["pk" if self._is_made(one) else self._source(one) for one in columns]
        self.sources = list(dict.fromkeys(["pk", *sources]))
        self.read = itemgetter(*(self.sources.index(source) for source in sources))
        self.forms = [(n, one.form()) for n, one in enumerate(columns) if one.form]

    def _source(self, column: Column) -> str:
        """Return the lookup of a column; JSON is read as text, to be written as it is."""
        if self.kinds[column.name] == parquet.JSON:
            return f"{column.name}_as_text"
        return column.source or column.name

    def _is_made(self, column: Column) -> bool:
        return column.gathered is not None or (column.name == IS_READABLE and not self.masks)

    def last_of(self, after: int, limit: int) -> int | None:
        """Return the last id of a part if more rows follow."""
        if limit == HIGHEST_ID:
            return None
        ids = self.rows.filter(pk__gt=after).values_list("pk", flat=True)[limit - 1 : limit + 1]
        found = list(ids)
        return found[0] if len(found) == 2 else None

    def portions(self, after: int, limit: int = HIGHEST_ID) -> Iterator[list[Values]]:
        while limit > 0:
            size = min(PORTION, limit)
            found = self.rows.filter(pk__gt=after).values_list(*self.sources)[:size]
            read = list(found)
            if not read:
                return
            after, limit = read[-1][0], limit - len(read)
            portion = self._formed(read)
            self.note(portion, self.place)
            yield portion
            if len(read) < size:
                return

    def _formed(self, read: Sequence[Sequence[Any]]) -> list[Values]:
        rows = [list(self.read(row)) for row in read]
        ids = [row[0] for row in read]
        for n, column in enumerate(self.columns):
            if column.gathered:
                found = column.gathered(ids)
                for pk, row in zip(ids, rows, strict=True):
                    row[n] = dumped(found[pk]) if pk in found else "[]"
            elif self._is_made(column):
                for row in rows:
                    row[n] = True
        for n, form in self.forms:
            for row in rows:
                row[n] = form(row[n])
        if self.masks:
            self._withhold(rows)
        return rows

    def _withhold(self, rows: Iterable[Values]) -> None:
        hidden = [(n, c.withheld) for n, c in enumerate(self.columns) if c.withheld is not ...]
        readable = self.place[IS_READABLE]
        for row in rows:
            if not row[readable]:
                for n, value in hidden:
                    row[n] = value

    # Files ---------------------------------------------------------------------------------------

    def written(self, form: str, after: int = 0, limit: int = HIGHEST_ID) -> Iterator[bytes]:
        """Yield a file of these rows piece by piece."""
        portions = self.portions(after, limit)
        if form == "parquet":
            return parquet.parquet_of(self.kinds, _joined(portions, ROW_GROUP))
        return self._csv(portions) if form == "csv" else self._lines(portions)

    def _lines(self, portions: Iterable[list[Values]]) -> Iterator[bytes]:
        names = ",".join(f"{dumped(name)}:%s" for name in self.place)
        line = f"{{{names}}}\n"
        writers = [WRITERS[self.kinds[name]] for name in self.place]
        for portion in portions:
            yield "".join(
                [
                    line % tuple([write(value) for write, value in zip(writers, row, strict=True)])
                    for row in portion
                ]
            ).encode()

    def _csv(self, portions: Iterable[list[Values]]) -> Iterator[bytes]:
        head = list(self.place)
        cells = ([_cell(value) for value in row] for portion in portions for row in portion)
        waiting: list[str] = []
        for line in csv_lines(head, cells):
            waiting.append(line)
            if len(waiting) == PORTION:
                yield "".join(waiting).encode()
                waiting = []
        yield "".join(waiting).encode()


def _text(value: Any) -> str:
    return "null" if value is None else encode_basestring(value)


def _number(value: Any) -> str:
    return "null" if value is None else repr(value)


def _moment(value: Any) -> str:
    return "null" if value is None else f'"{plain_value(value)}"'


WRITERS: dict[str, Callable[[Any], str]] = {
    parquet.TEXT: _text,
    parquet.WHOLE: _number,
    parquet.REAL: _number,
    parquet.FLAG: {None: "null", True: "true", False: "false"}.__getitem__,
    parquet.MOMENT: _moment,
    parquet.MONEY: _moment,
    parquet.JSON: lambda text: "null" if text is None else text,
}
"""What writes a value as JSON, by the kind of its column."""

dumped = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def plain_value(value: Any) -> str:
    """Return a time or an amount of money as JSON has it."""
    if isinstance(value, datetime):
        is_utc = value.tzinfo is UTC
        return (value if is_utc else value.astimezone(UTC)).isoformat()[:-6] + "Z"
    if isinstance(value, Decimal):
        return f"{value:f}"
    raise TypeError(f"{value!r} is no JSON value")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return plain_value(value) if isinstance(value, datetime | Decimal) else value


KINDS: tuple[tuple[type[models.Field], str], ...] = (
    (models.BooleanField, parquet.FLAG),
    (models.ForeignKey, parquet.WHOLE),
    (models.OneToOneField, parquet.WHOLE),
    (models.IntegerField, parquet.WHOLE),
    (models.FloatField, parquet.REAL),
    (models.DecimalField, parquet.MONEY),
    (models.DateTimeField, parquet.MOMENT),
    (models.JSONField, parquet.JSON),
)


def kind_of(model: Any, column: Column) -> str:
    """Return the kind of a column by the field at the end of its lookup."""
    if column.gathered:
        return parquet.JSON
    field: Any = None
    try:
        for step in (column.source or column.name).split("__"):
            field = model._meta.get_field(step)
            model = field.related_model
    except FieldDoesNotExist:
        return parquet.TEXT if column.name != IS_READABLE else parquet.FLAG
    found = (kind for type_, kind in KINDS if isinstance(field, type_))
    return next(found, parquet.TEXT)


def _joined(portions: Iterable[list[Values]], most: int) -> Iterator[list[Values]]:
    """Yield up to so many portions as one."""
    waiting: list[Values] = []
    for n, portion in enumerate(portions, 1):
        waiting += portion
        if n % most == 0:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def gzipped(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts compressed, each readable as soon as it arrives."""
    packer = zlib.compressobj(level=1, wbits=GZIP)
    for part in parts:
        yield packer.compress(part) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()
