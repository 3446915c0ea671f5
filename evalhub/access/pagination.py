"""Cursor pagination: stable while rows arrive, and equally fast on every page."""

from typing import Any

from django.core.exceptions import ValidationError as ModelError
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

from evalhub.limits import MAX_API_PAGE_SIZE


class Pagination(CursorPagination):
    ordering: str | tuple[str, ...] = "-id"
    page_size_query_param = "page_size"
    max_page_size = MAX_API_PAGE_SIZE

    def get_page_size(self, request: Request) -> int | None:
        text = request.query_params.get("page_size")
        if text is None:
            return self.page_size
        if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) <= self.max_page_size):
            raise ValidationError(
                {"page_size": [f"Choose a number from 1 to {self.max_page_size}, not {text!r}."]}
            )
        return int(text)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = super().get_schema_operation_parameters(view)
        for parameter in found:
            if parameter["name"] == self.page_size_query_param:
                parameter["schema"] |= {"minimum": 1, "maximum": self.max_page_size}
        return found

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view=view)
        except (NotFound, ModelError, ValueError, TypeError) as error:
            # A forged cursor can name a position that its field cannot have.
            problem = "This is no cursor: follow the address in “next” of the page before."
            raise ValidationError({self.cursor_query_param: [problem]}) from error
