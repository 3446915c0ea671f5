"""Many issues or tests at once, each known by its `source_id`: made, changed, or the same.

Each row goes through the serializer of a single one, so that the same is allowed.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError as ModelError
from django.db import IntegrityError, models, transaction
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.api.errors import Conflict, with_value
from evalhub.api.fields import PlainSerializer
from evalhub.api.filters import refuse_unknown
from evalhub.api.problems import flat, in_words
from evalhub.refusals import Refused
from evalhub.values.strict_json import parse
from issues.api.criteria import CriteriaSerializer
from issues.api.serializers import WITHHELD
from issues.api.table_parsers import TABLE_PARSERS
from issues.api.unchanged_rows import is_unchanged
from issues.models import Issue
from issues.rubrics.editing import is_same, with_known_keys

PORTION = 500
OUTCOMES = ["made", "changed", "same"]
ISSUE_SOURCE = "issue_source_id"
Row = dict[str, Any]
Placed = tuple[str, Row]


class RowOutcome(PlainSerializer):
    """A row of the request: its id, and whether it was made, changed, or the same before."""

    place = serializers.CharField()
    id = serializers.IntegerField(allow_null=True, help_text="Null in a dry run for one made.")
    source_id = serializers.CharField(allow_blank=True)
    outcome = serializers.ChoiceField(OUTCOMES)


class BulkOutcome(PlainSerializer):
    """Numbers of rows made, changed, and the same before."""

    made = serializers.IntegerField()
    changed = serializers.IntegerField()
    same = serializers.IntegerField()
    dry_run = serializers.BooleanField()
    results = RowOutcome(many=True)


class Written(NamedTuple):
    place: str
    row: Any
    outcome: str


BULK_SCHEMA: dict[str, Any] = {
    "request": {
        "application/json": {"type": "array", "items": {"type": "object"}},
        "application/x-ndjson": OpenApiTypes.STR,
        "text/csv": OpenApiTypes.STR,
    },
    "parameters": [
        OpenApiParameter(
            "dry_run", OpenApiTypes.BOOL, description="True: do everything, then undo it."
        )
    ],
    "responses": {200: BulkOutcome},
    "filters": False,
}


class BulkRows:
    """A viewset's action that takes many rows, in the columns of its export."""

    @extend_schema(**BULK_SCHEMA)
    @action(
        detail=False,
        methods=["post"],
        parser_classes=TABLE_PARSERS,
        filter_backends=[],
        pagination_class=None,
    )
    def bulk(self: Any, request: Request) -> Response:
        """Make or change up to 5,000 rows by `source_id`: all of them, or none.

        Send JSON lines, a JSON list, CSV or Parquet, in the columns of `export/`. A known row is
        changed only where it differs; a column that is left out stays as it is. A row without a
        `source_id` needs the `id` that it has here. The state changes by `move` only.
        """
        refuse_unknown(request, ("dry_run",))
        dry_run = request.query_params.get("dry_run", "false").lower()
        if dry_run not in ("true", "false"):
            raise ValidationError({"dry_run": [f"Choose true or false, not {dry_run!r}."]})
        sent: Any = request.data
        if not sent:
            raise ValidationError({"problems": ["Send at least one row."]})
        found = Upsert(self.get_serializer_class(), self.get_serializer_context()).run(
            sent["rows"], sent["problems"], is_flat=sent["is_flat"], dry_run=dry_run == "true"
        )
        return Response(_answer(found, dry_run == "true"))


def _answer(found: Sequence[Written], dry_run: bool) -> Row:
    counts = Counter(one.outcome for one in found)
    results = [
        {
            "place": one.place,
            "id": None if dry_run and one.outcome == "made" else one.row.pk,
            "source_id": one.row.source_id,
            "outcome": one.outcome,
        }
        for one in found
    ]
    return {
        **{name: counts[name] for name in ("made", "changed", "same")},
        "dry_run": dry_run,
        "results": results,
    }


class Upsert:
    """Rows written through a serializer of issues or tests.

    Args:
        context: Has the request, whose user writes.
        made_with: Fields that the serializer only reads, for rows that are made.
    """

    def __init__(
        self, serializer: type[serializers.ModelSerializer], context: Row, **made_with: Any
    ) -> None:
        self.serializer = serializer
        self.context = {**context, "drops_read_only": True}
        self.user = context["request"].user
        self.model: Any = serializer.Meta.model
        self.made_with = made_with
        self.problems: list[str] = []
        self.bodies: dict[bool, Any] = {}

    def run(
        self,
        rows: Sequence[Placed],
        problems: Iterable[str] = (),
        *,
        is_flat: bool = False,
        dry_run: bool = False,
    ) -> list[Written]:
        """Write all rows, or none.

        Args:
            is_flat: Cells hold texts, with lists and objects as JSON.
            dry_run: Do everything, and then undo it.

        Raises:
            Refused: Lists every problem with its place.
            PermissionDenied: A row is to be made or changed without the right to.
            Conflict: Somebody wrote one of the rows at the same time.
        """
        self.problems = list(problems)
        try:
            with transaction.atomic():
                written = list(self._written(self._unpacked(rows) if is_flat else rows))
                if not written and not self.problems:
                    self.problems.append("Send at least one row.")
                if self.problems:
                    raise Refused(self.problems, field="")
                transaction.set_rollback(dry_run)
        except IntegrityError as error:
            raise Conflict("One of the rows was written at the same time: send them again.") from (
                error
            )
        return written

    # Finding rows --------------------------------------------------------------------------------

    def _written(self, rows: Sequence[Placed]) -> Iterator[Written]:
        known = self._known(rows)
        issues = self._issues(rows)
        seen: dict[Any, str] = {}
        for place, sent in rows:
            key = _key(sent)
            found = known.get(key)
            if key is None:
                self._note(place, "source_id is missing.")
            elif seen.setdefault(key, place) != place:
                self._note(place, f"has the {_named(key)}, as does {seen[key]}.")
            elif problem := self._problem_of(found, key, sent):
                self._note(place, problem)
            else:
                with_issue = self._with_issue(place, sent, issues)
                yield from self._write(place, with_issue, *(found or (None, True)))

    def _known(self, rows: Sequence[Placed]) -> dict[Any, tuple[Any, bool]]:
        """Return the rows that exist by key, each with whether the user may read it."""
        keys = {key for _, sent in rows if (key := _key(sent))}
        found: dict[Any, tuple[Any, bool]] = {}
        manager = self.model.objects
        for name in ("source_id", "id"):
            values = [value for kind, value in keys if kind == name]
            for start in range(0, len(values), PORTION):
                queryset = manager.filter(**{f"{name}__in": values[start : start + PORTION]})
                readable = set(queryset.readable_by(self.user).values_list("pk", flat=True))
                for row in self._with_related(queryset.select_for_update(of=("self",))):
                    found[name, getattr(row, name)] = (row, row.pk in readable)
        return found

    def _with_related(self, queryset: Any) -> Any:
        if self.model is Issue:
            return queryset.select_related("assignee").prefetch_related("tags", "sources")
        return queryset.select_related("issue", "template").prefetch_related("tags", "criteria")

    def _problem_of(self, found: tuple[Any, bool] | None, key: Any, sent: Row) -> str:
        name = self.model._meta.verbose_name
        if found is None:
            unknown = f"There is no {name} {key[1]} here: give the row a source_id to make it."
            return unknown if key[0] == "id" else ""
        row, is_readable = found
        if not is_readable and self.model is not Issue:
            return f"There is a {name} with this {_named(key)}, which you may not read."
        made = parse_datetime(str(sent["created_at"])) if sent.get("created_at") else None
        if key[0] == "id" and made and abs((made - row.created_at).total_seconds()) >= 0.001:
            return (
                f"{name.capitalize()} {key[1]} of this site is another one, made at "
                f"{row.created_at.isoformat()}: give the row a source_id to make a new one."
            )
        return ""

    def _issues(self, rows: Sequence[Placed]) -> dict[str, int]:
        names = list({str(sent[ISSUE_SOURCE]) for _, sent in rows if sent.get(ISSUE_SOURCE)})
        found: dict[str, int] = {}
        for start in range(0, len(names), PORTION):
            issues = Issue.objects.filter(source_id__in=names[start : start + PORTION])
            found |= dict(issues.values_list("source_id", "pk"))
        return found

    def _with_issue(self, place: str, sent: Row, issues: Mapping[str, int]) -> Row:
        """Return a test's row with the issue that `issue_source_id` names."""
        if ISSUE_SOURCE not in sent or self.model is Issue:
            return sent
        name = sent[ISSUE_SOURCE]
        rest = {key: value for key, value in sent.items() if key != ISSUE_SOURCE}
        if not name:
            return rest
        if str(name) not in issues:
            self._note(place, f"{ISSUE_SOURCE}: there is no issue with the source_id {name!r}.")
        return {**rest, "issue": issues.get(str(name))}

    # Writing -------------------------------------------------------------------------------------

    def _write(self, place: str, sent: Row, row: Any, is_readable: bool) -> Iterator[Written]:
        if row is not None and sent.get("issue", "") is None:
            sent = {name: value for name, value in sent.items() if name != "issue"}
        if isinstance(row, Issue) and not row.source_id and not sent.get("source_id", "x"):
            sent = {name: value for name, value in sent.items() if name != "source_id"}
        sent = self._without_withheld(sent, row, is_readable)
        if row is not None and sent.get("criteria") and isinstance(sent["criteria"], list):
            sent = {**sent, "criteria": with_known_keys(row, sent["criteria"])}
        body = self._body(row, sent)
        if row is not None and is_readable and is_unchanged(row, sent, body.fields):
            yield Written(place, row, "same")
            return
        try:
            is_valid = body.is_valid()
        except (ModelError, Refused) as error:
            is_valid = False
            messages = getattr(error, "messages", None) or getattr(error, "problems", [])
            for message in messages:
                self._note(place, message)
        else:
            for problem in flat(body.errors):
                self._note(place, in_words([with_value(problem, sent)]))
        if not is_valid or self.problems:
            return
        if row is None:
            self._need("add")
            yield Written(place, body.save(author=self.user, **self.made_with), "made")
        elif self._keep_changes(body, row):
            self._need("change")
            yield Written(place, body.save(), "changed")
        else:
            yield Written(place, row, "same")

    def _body(self, row: Any, sent: Row) -> Any:
        """Return the serializer of a row; to build its fields again for each takes too long."""
        is_known = row is not None
        if is_known not in self.bodies:
            self.bodies[is_known] = self.serializer(data={}, partial=is_known, context=self.context)
        body = self.bodies[is_known]
        body.instance, body.initial_data = row, sent
        for name in ("_validated_data", "_errors", "_data"):
            body.__dict__.pop(name, None)
        return body

    def _without_withheld(self, sent: Row, row: Any, is_readable: bool) -> Row:
        """Leave out what an export leaves empty of an issue whose tests the user may not read."""
        if is_readable or not isinstance(row, Issue) or any(sent.get(name) for name in WITHHELD):
            return sent
        return {name: value for name, value in sent.items() if name not in WITHHELD}

    def _keep_changes(self, body: Any, row: Any) -> bool:
        """Leave only what differs in the validated fields; return whether anything does."""
        values = body.validated_data
        for name in list(values):
            if _is_same(row, name, values[name]):
                del values[name]
        return bool(values)

    def _need(self, verb: str) -> None:
        right = f"{self.model._meta.app_label}.{verb}_{self.model._meta.model_name}"
        if not self.user.has_perm(right):
            raise PermissionDenied(f"You need the right {right!r} for this.")

    def _note(self, place: str, problem: str) -> None:
        self.problems.append(f"{place}: {problem}")

    # Cells ---------------------------------------------------------------------------------------

    def _unpacked(self, rows: Sequence[Placed]) -> list[Placed]:
        fields = self.serializer(context=self.context).fields
        return [(place, dict(self._values(place, row, fields))) for place, row in rows]

    def _values(self, place: str, row: Row, fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the values of cells; an empty one empties its field, if that can be empty."""
        for name, value in row.items():
            field = fields.get(name)
            is_structured = isinstance(field, STRUCTURED)
            if value in ("", None):
                if field is None or field.read_only or name in ("id", "issue"):
                    yield name, None
                elif is_structured and not field.required:
                    yield name, []
                elif field.allow_null:
                    yield name, None
                elif getattr(field, "allow_blank", False):
                    yield name, ""
            elif is_structured and isinstance(value, str):
                try:
                    yield name, parse(value)
                except (json.JSONDecodeError, ValueError, RecursionError) as error:
                    self._note(place, f"{name} is not JSON: {error}.")
            else:
                yield name, value


STRUCTURED = (
    *(serializers.ListField, serializers.ManyRelatedField, serializers.ListSerializer),
    *(serializers.JSONField, CriteriaSerializer),
)


def _key(sent: Row) -> tuple[str, Any] | None:
    """Return what a row is known by: its source id, or without one its id here."""
    if isinstance(name := sent.get("source_id"), str) and name:
        return "source_id", name
    number = str(sent.get("id") or "")
    return (
        ("id", int(number))
        if number.isascii() and number.isdecimal() and len(number) < 19
        else None
    )


def _named(key: tuple[str, Any]) -> str:
    return f"{key[0]} {key[1]!r}"


def _is_same(row: models.Model, name: str, value: Any) -> bool:
    if name == "criteria":
        return is_same(row, value)  # type: ignore[arg-type]
    if name == "sources":
        there = [(one.kind, one.value) for one in row.sources.all()]  # type: ignore[attr-defined]
        return there == [(one.get("kind", "general"), one["value"]) for one in value]
    if row._meta.get_field(name).many_to_many:
        return {one.pk for one in getattr(row, name).all()} == {one.pk for one in value}
    return bool(getattr(row, name) == value)
