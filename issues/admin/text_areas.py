from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextareaWidget


def text_area(rows: int, **attrs: str) -> UnfoldAdminTextareaWidget:
    return UnfoldAdminTextareaWidget(attrs={"rows": rows, **attrs})


class TextAreas:
    """Mixin of admins and inlines: the height of text areas in rows, by field."""

    text_rows: Mapping[str, int] = {}

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in self.text_rows:
            kwargs["widget"] = text_area(self.text_rows[db_field.name])
        return super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]
