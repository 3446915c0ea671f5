from collections.abc import Iterator
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


class SameForm:
    """Mixin of page admins whose form, as it is shown, has a class that is made once.

    It varies by the fields that are shown, and by the user's rights to the tables they refer to.
    Where a form is sent, its class is made for the request.
    """

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        if request.method != "GET" or kwargs.get("fields") is None:
            return super().get_form(request, obj, **kwargs)  # type: ignore[misc]
        page: Any = self
        key = (
            type(self),
            *((name, repr(value)) for name, value in kwargs.items()),
            page.has_change_permission(request, obj),
            tuple(page.get_readonly_fields(request, obj)),
            tuple(page.get_exclude(request, obj) or ()),
            tuple(self._rights(request)),
        )
        if key not in _classes:
            made = super().get_form(request, obj, **kwargs)  # type: ignore[misc]
            made._meta.formfield_callback = None  # which would keep the request
            _classes[key] = made
        return _classes[key]

    def _rights(self, request: HttpRequest) -> Iterator[bool]:
        """Return what the user may do with rows of each table that a field refers to."""
        page: Any = self
        for field in (*page.opts.fields, *page.opts.many_to_many):
            if field.remote_field and page.admin_site.is_registered(field.remote_field.model):
                related = page.admin_site.get_model_admin(field.remote_field.model)
                yield related.has_add_permission(request)
                yield related.has_change_permission(request)
                yield related.has_delete_permission(request)
                yield related.has_view_permission(request)
