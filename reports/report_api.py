"""The API of report pages."""

from collections.abc import Callable
from typing import Any, cast

from django import forms
from django.http import HttpResponseBase
from django.utils.choices import CallableChoiceIterator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evalhub.access.request_limits import ExpensiveLimit
from evalhub.admin_site.pages import current_user
from evalhub.api.filters import refuse_unknown
from reports.documents.exports import json_of
from reports.documents.reading import Page, Reading
from reports.documents.serializers import ReportSerializer


def api_of(page: Page) -> Callable[..., HttpResponseBase]:
    """Return the API view of this page."""

    class ReportView(APIView):
        permission_required = "runs.view_run"
        throttle_classes = (ExpensiveLimit,)

        @extend_schema(
            operation_id=f"reports_{page.key}_retrieve",
            parameters=[_parameter(name, field) for name, field in page.form.base_fields.items()],
            responses=ReportSerializer,
            description=page.summary,
        )
        def get(self, request: Request) -> Response:
            refuse_unknown(request, page.form.base_fields)
            form = page.form(request.query_params)
            if not form.is_valid():
                raise ValidationError(form.wrong)
            reading = Reading(current_user(request._request))
            return Response(json_of(page.build(form.filters, reading)))

    ReportView.__name__ = f"{page.key.title()}ReportView"
    return cast(Callable[..., HttpResponseBase], ReportView.as_view())


TYPES: tuple[tuple[type[forms.Field], Any], ...] = (
    (forms.BooleanField, OpenApiTypes.BOOL),
    (forms.FloatField, OpenApiTypes.FLOAT),
    (forms.IntegerField, OpenApiTypes.INT),
    (forms.ModelMultipleChoiceField, OpenApiTypes.INT),
    (forms.ModelChoiceField, OpenApiTypes.INT),
)


def _parameter(name: str, field: forms.Field) -> OpenApiParameter:
    kind = next((kind for form, kind in TYPES if isinstance(field, form)), OpenApiTypes.STR)
    return OpenApiParameter(
        name,
        kind,
        many=isinstance(field, forms.ModelMultipleChoiceField | forms.MultipleChoiceField),
        description=" ".join(str(part) for part in (field.label or "", field.help_text) if part),
        enum=_choices(field),
    )


def _choices(field: forms.Field) -> list[str] | None:
    """Return the fixed choices of a field; None where they depend on rows."""
    if not isinstance(field, forms.ChoiceField) or isinstance(field, forms.ModelChoiceField):
        return None
    choices: Any = field.choices
    if isinstance(choices, CallableChoiceIterator):
        return None
    return [str(value) for value, _ in choices if value]
