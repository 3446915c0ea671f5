from functools import partial
from typing import Any

from django.http import HttpRequest

_classes: dict[Any, Any] = {}


class SameForms:
    """Mixin of inlines whose forms vary by what a user may do alone: their classes are made once.

    None of their fields may be made for a request, as those of other tables' rows are.
    """

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        inline: Any = self
        rights = (
            inline.has_add_permission(request, obj),
            inline.has_change_permission(request, obj),
            inline.has_delete_permission(request, obj),
        )
        key = (type(self), inline.parent_model, rights, tuple(kwargs.items()))
        if key not in _classes:
            kwargs["formfield_callback"] = partial(inline.formfield_for_dbfield, request=None)
            _classes[key] = super().get_formset(request, obj, **kwargs)  # type: ignore[misc]
        return _classes[key]
