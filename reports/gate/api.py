"""The gate for continuous integration: POST gates/ with a token."""

from collections.abc import Callable
from threading import BoundedSemaphore
from time import monotonic, sleep
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.api.filters import refuse_unknown
from reports.gate.formats import (
    as_json,
    as_junit,
    as_markdown,
    as_text,
    junit_problem,
    markdown_problem,
    problem_in_words,
)
from reports.gate.named_runs import NoSuchRun, other_run, run_named
from reports.gate.query import GateResult, changed_policy, gate_result
from reports.gate.serializers import GateResultSerializer, GateSerializer
from reports.limits import MAX_GATE_WAIT_S

PAUSE_S = 1.0
"""Between looks at a run that is waited for."""

RETRY_AFTER_S = 10

WAITING = BoundedSemaphore(1)
"""One request of a process waits at a time, so that its other threads serve pages. Those that find
it taken are answered at once."""


class GateJSON(JSONRenderer):
    def render(self, data: Any, *args: Any, **kwargs: Any) -> Any:
        return super().render(
            as_json(data) if isinstance(data, GateResult) else data, *args, **kwargs
        )


class GateJUnit(BaseRenderer):
    media_type, format, charset = "application/xml", "junit", "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return as_junit(data) if isinstance(data, GateResult) else junit_problem(data)


class GateMarkdown(BaseRenderer):
    media_type, format, charset = "text/markdown", "markdown", "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return as_markdown(data) if isinstance(data, GateResult) else markdown_problem(data)


class GateText(BaseRenderer):
    media_type, format, charset = "text/plain", "text", "utf-8"

    def render(self, data: Any, *args: Any, **kwargs: Any) -> str:
        return as_text(data) if isinstance(data, GateResult) else problem_in_words(data)


RENDERERS = (GateJSON, GateJUnit, GateMarkdown, GateText)
TEXT = OpenApiResponse(OpenApiTypes.STR, description="The same as text.")


class GateView(APIView):
    permission_required = "runs.view_run"
    changes_nothing = True
    renderer_classes = RENDERERS

    @extend_schema(
        operation_id="gates_create",
        request=GateSerializer,
        parameters=[
            OpenApiParameter(
                "format",
                OpenApiTypes.STR,
                enum=[renderer.format for renderer in RENDERERS],
                description="Or send Accept: application/json, application/xml, text/markdown or "
                "text/plain.",
            )
        ],
        responses={
            (200, "application/json"): GateResultSerializer,
            (200, "application/xml"): TEXT,
            (200, "text/markdown"): TEXT,
            (200, "text/plain"): TEXT,
            (202, "application/json"): OpenApiResponse(
                GateResultSerializer, description="Not done: ask again after `Retry-After` seconds."
            ),
        },
    )
    def post(self, request: Request) -> Response:
        """Decide whether a run passes its gate. Nothing is changed: a read-only token will do.

        `exit`, also in the header `Gate-Exit`, is 0 if all rules hold, 1 if one does not, and 2 if
        that is unknown; `rules` says why. With `wait` the response waits until the run is done;
        status 202 says that it is not done yet.
        """
        refuse_unknown(request, ("format",))
        body = GateSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        sent = body.validated_data
        result = waited_for(lambda: decided(sent), sent["wait"])
        headers = {"Gate-Exit": str(int(result.decision.code))}
        if result.is_running:
            headers |= {"Retry-After": str(RETRY_AFTER_S)}
        code = status.HTTP_202_ACCEPTED if result.is_running else status.HTTP_200_OK
        return Response(result, status=code, headers=headers)


def decided(sent: dict[str, Any]) -> GateResult:
    """Return the decision on the run as it is now.

    Raises:
        ValidationError: There is no such run.
        PolicyRefused: The policy is wrong.
    """
    field = "run"
    try:
        run = run_named(sent["run"])
        field = "against"
        against = other_run(sent["against"], run)
    except NoSuchRun as error:
        raise ValidationError({field: [str(error)]}) from error
    return gate_result(run, against, changed_policy(run, sent["policy"]))


def waited_for(decide: Callable[[], GateResult], seconds: float) -> GateResult:
    """Decide, and again every second until the run is done or the time is over."""
    result = decide()
    if not (result.is_running and seconds and WAITING.acquire(blocking=False)):
        return result
    try:
        until = monotonic() + min(seconds, MAX_GATE_WAIT_S)
        while result.is_running and monotonic() < until:
            sleep(PAUSE_S)
            result = decide()
        return result
    finally:
        WAITING.release()
