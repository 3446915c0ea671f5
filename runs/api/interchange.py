"""Files of other systems: imported whole, and runs and suites exported in their formats."""

import json
from base64 import b64decode
from binascii import Error as NoBase64
from typing import Any

from django.http import HttpResponse
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evalhub.access.request_limits import ExpensiveLimit
from evalhub.api.fields import JSONObject, PlainSerializer
from evalhub.api.filters import refuse_unknown
from evalhub.api.views import Rows
from evalhub.models import LanguageModel
from issues.importers.records import Unreadable
from issues.models import Issue, Test
from runs.importers import peer_export
from runs.importers.formats.registry import FORMATS, read
from runs.importers.peer_import import Imported, Options, import_contents
from runs.limits import MAX_PEER_TESTS
from runs.models import Jury
from runs.scoring.shown_verdicts import record
from runs.suites.suite_tests import tests_in


class ImportSerializer(PlainSerializer):
    """A file, as `text` or as base64 in `content`, and what is done with it.

    `columns` of a table name the field of each column: prompt, messages, system, reference,
    context, guidelines, tags, note, id; "-" leaves it out.
    """

    name = serializers.CharField(max_length=200, help_text="File name with its ending.")
    text = serializers.CharField(required=False, trim_whitespace=False)
    content = serializers.CharField(required=False)
    format = serializers.ChoiceField(list(FORMATS), required=False, help_text="Default: found.")
    columns = JSONObject(required=False)
    issue = serializers.PrimaryKeyRelatedField(
        queryset=Issue.objects.active(), required=False, allow_null=True
    )
    model = serializers.PrimaryKeyRelatedField(
        queryset=LanguageModel.objects.all(), required=False, allow_null=True
    )
    jury = serializers.PrimaryKeyRelatedField(
        queryset=Jury.objects.filter(is_active=True), required=False, allow_null=True
    )
    approve = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(default=False)
    allow_sealed_exposure = serializers.BooleanField(default=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("text" in attrs) == ("content" in attrs):
            raise serializers.ValidationError("Send the file as text, or as base64 in content.")
        try:
            sent = attrs.pop("content", None)
            data = (
                attrs.pop("text", "").encode() if sent is None else b64decode(sent, validate=True)
            )
        except (NoBase64, ValueError) as error:
            raise serializers.ValidationError({"content": [f"Send base64: {error}."]}) from error
        return {**attrs, "data": data}


class ImportedRun(PlainSerializer):
    id = serializers.IntegerField(allow_null=True, help_text="Null in a dry run.")
    label = serializers.CharField()  # type: ignore[assignment]
    model_name = serializers.CharField()
    results = serializers.IntegerField(source="n_results")


class ImportOutcome(PlainSerializer):
    """Outcome of an import. `notes` name what has no equal here."""

    format = serializers.CharField()
    title = serializers.CharField()
    dry_run = serializers.BooleanField()
    tests = serializers.DictField(child=serializers.IntegerField())
    feedback = serializers.DictField(child=serializers.IntegerField())
    suite = serializers.IntegerField(allow_null=True)
    runs = ImportedRun(many=True)
    notes = serializers.ListField(child=serializers.CharField())


class ImportViewSet(Rows):
    """Imports of files of promptfoo, Inspect, OpenAI Evals, lm-evaluation-harness and traces."""

    permission_required = "issues.add_feedback"
    serializer_class = ImportSerializer
    throttle_classes = (ExpensiveLimit,)

    @extend_schema(responses={201: ImportOutcome})
    def create(self, request: Request) -> Response:
        """Import a file: its tests with an issue and a suite, its runs with scores, or feedback.

        Everything or nothing. Importing it again changes only what differs.
        """
        sent = self.sent(request)
        name, data = sent.pop("name"), sent.pop("data")
        try:
            kind, _, contents = read(
                name, data, chosen=sent.pop("format", ""), columns=sent.pop("columns", None)
            )
        except Unreadable as error:
            raise ValidationError({"problems": [f"{name} {error}"]}) from error
        jury = sent.pop("jury", None)
        options = Options(**sent, jury=jury and jury.pk)
        found = import_contents(kind, contents, options, by=self.user)
        shown = outcome_of(kind, contents.title, found, is_dry=options.dry_run)
        return Response(shown, status=status.HTTP_201_CREATED)


def outcome_of(kind: str, title: str, found: Imported, *, is_dry: bool) -> dict[str, Any]:
    return {
        "format": kind,
        "title": title,
        "dry_run": is_dry,
        "tests": {name: found.tests[name] for name in ("made", "changed", "same")},
        "feedback": {name: found.feedback[name] for name in ("added", "duplicates")},
        "suite": found.suite.pk if found.suite and not is_dry else None,
        "runs": [
            {
                "id": None if is_dry else run.pk,
                "label": run.label,
                "model_name": run.model_name,
                "results": run.n_results,
            }
            for run in found.runs
        ],
        "notes": found.notes,
    }


def _peer(*names: str) -> Any:
    parameter = OpenApiParameter("peer", OpenApiTypes.STR, required=True, enum=names)
    responses = {
        (200, "application/json"): OpenApiTypes.OBJECT,
        (200, "application/x-ndjson"): OpenApiTypes.STR,
    }
    return extend_schema(parameters=[parameter], responses=responses, filters=False)


class SuiteExport:
    """An action of suites that returns their tests in a peer's format."""

    @_peer(*peer_export.DATASETS)
    @action(
        detail=True, pagination_class=None, filter_backends=[], throttle_classes=[ExpensiveLimit]
    )
    def export_as(self: Any, request: Request, pk: str) -> HttpResponse:
        """Return the readable tests as a data set; `notes` of what is left out in a header.

        promptfoo gives a configuration, the others JSON lines.
        """
        peer = _chosen(request, peer_export.DATASETS)
        suite = self.get_object()
        rows = Test.objects.readable_by(request.user).filter(pk__in=tests_in(suite).values("pk"))
        tests = rows.prefetch_related("criteria").order_by("pk")
        if tests.count() > MAX_PEER_TESTS:
            raise ValidationError(
                {"problems": ["The suite has too many tests: use tests/export/."]}
            )
        content, notes = peer_export.write_tests(peer, suite.name, tests)
        lines = content if isinstance(content, list) else None
        return _file(suite.name, peer, content, notes, lines)


class RunExport:
    """An action of runs that returns one in a peer's format."""

    @_peer(*peer_export.RUNS)
    @action(
        detail=True, pagination_class=None, filter_backends=[], throttle_classes=[ExpensiveLimit]
    )
    def export_as(self: Any, request: Request, pk: str) -> HttpResponse:
        """Return the run as an Inspect log, or as OpenTelemetry traces in OTLP JSON."""
        peer = _chosen(request, peer_export.RUNS)
        run = self.get_object()
        try:
            found = peer_export.write_run(peer, run, request.user, request.get_host())
        except peer_export.TooMany as error:
            raise ValidationError({"problems": [str(error)]}) from error
        record(request.user, runs={run.pk})
        notes = [f"{found.withheld} results that you may not read."] if found.withheld else []
        return _file(run.label, peer, found.content, notes, None)


def _chosen(request: Request, known: tuple[str, ...]) -> str:
    refuse_unknown(request, ("peer",))
    peer = request.query_params.get("peer", "")
    if peer not in known:
        raise ValidationError({"peer": [f"Choose {', '.join(known)}, not {peer!r}."]})
    return peer


def _file(
    name: str, peer: str, content: Any, notes: list[str], lines: list[Any] | None
) -> HttpResponse:
    ending = "json" if lines is None else "jsonl"
    text = (
        json.dumps(content, ensure_ascii=False, indent=1)
        if lines is None
        else "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    )
    response = HttpResponse(
        text, content_type="application/json" if lines is None else "application/x-ndjson"
    )
    file = f"{slugify(name) or 'export'}-{peer}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    if notes:
        response["Left-Out"] = json.dumps(notes)[:2000]
    return response
