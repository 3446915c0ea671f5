"""The parts of a form's page, made once a page.

Django and the theme make all fieldsets, lines and fields anew whenever a template walks them, which
is up to six times, and ask a read-only field for its value five times.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from django.contrib.admin import helpers
from django.forms.formsets import BaseFormSet
from unfold import fields, forms


def keep_parts() -> None:
    kinds = (
        *(forms.AdminForm, forms.Fieldset, forms.Fieldline),
        *(helpers.InlineAdminFormSet, helpers.InlineAdminForm, helpers.InlineFieldset),
    )
    for kind in kinds:
        kind.__iter__ = _kept(kind.__iter__)  # type: ignore[method-assign]
    read_only = fields.UnfoldAdminReadonlyField
    read_only.__init__ = helpers.AdminReadonlyField.__init__
    _keep(read_only, "resolved_field", read_only._resolve_field)
    _keep(read_only, "contents", read_only.contents)
    _keep(BaseFormSet, "empty_form", vars(BaseFormSet)["empty_form"].fget)


def _keep(kind: type, name: str, made: Callable[[Any], Any]) -> None:
    kept = cached_property(made)
    kept.__set_name__(kind, name)
    setattr(kind, name, kept)


def _kept(parts_of: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
    def parts(whole: Any) -> Iterator[Any]:
        if "parts" not in vars(whole):
            whole.parts = list(parts_of(whole))
        return iter(whole.parts)

    return parts
