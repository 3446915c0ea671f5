"""Read-only tabs of a form's page, whose rows are read when a tab is opened."""

from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Model, QuerySet
from django.forms import Media
from django.forms.models import _get_foreign_key
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern
from django.utils.text import capfirst
from unfold.admin import TabularInline

from evalhub.admin_site.pages import PageAdmin, ReadOnlyRights
from evalhub.fixed_query import fixed_query


class LaterInline(ReadOnlyRights, TabularInline):
    """Read-only table of rows that have pages of their own, in a tab of a `LaterTabs` page."""

    extra = 0
    tab = True
    can_delete = False
    show_count = True
    hide_title = True
    per_page = 20
    template = "evalhub/later_tab.html"

    @property
    def name(self) -> str:
        """The name of the tab, in its address and in that of its page."""
        return str(self._parent_key.remote_field.get_accessor_name(model=self.model))

    def number_of(self, row: Model) -> int:
        """Return how many rows the table has: all that refer to this one."""
        counted = _numbers(self.model, self._parent_key.name)(row.pk)
        return sum(number for (number,) in counted)

    @property
    def _parent_key(self) -> Any:
        return _get_foreign_key(self.parent_model, self.model, fk_name=self.fk_name)


@cache
def _numbers(model: type[Model], key: str) -> Callable[[int], list[tuple[Any, ...]]]:
    """Return the query of the number of rows that refer to one, which is empty for none."""

    def numbers(row: int) -> QuerySet[Any, Any]:
        rows = model._default_manager.filter(**{key: row}).order_by().values(key)
        counted: QuerySet[Any, Any] = rows.annotate(number=Count("pk")).values_list("number")
        return counted

    return fixed_query(numbers)


class LaterTab:
    """Among the inlines of a page, one whose rows are still to be read; sends nothing."""

    has_add_permission = has_change_permission = has_delete_permission = False
    media = Media()

    def __init__(self, inline: LaterInline, number: int, url: str) -> None:
        self.opts, self.url = inline, url
        self.formset = SimpleNamespace(
            prefix=inline.name,
            paginator=SimpleNamespace(count=number),
            errors=(),
            initial_forms=(),
            max_num=None,
            is_multipart=lambda: False,
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(())


class LaterTabs(PageAdmin):
    """Pages that leave the rows of each `LaterInline` to a view of its own."""

    def get_urls(self) -> list[URLPattern]:
        tab = self.view_path("<int:object_id>/tab/<slug:name>/", self.tab_view, "tab")
        return [tab, *super().get_urls()]

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """Return those that a form sends; the others are among `get_inline_formsets`."""
        inlines = self._every_inline(request, obj)
        return [inline for inline in inlines if not isinstance(inline, LaterInline)]

    def _later(self, request: HttpRequest, row: Any) -> list[LaterInline]:
        inlines = self._every_inline(request, row)
        return [inline for inline in inlines if isinstance(inline, LaterInline)]

    def _every_inline(self, request: HttpRequest, row: Any) -> list[Any]:
        """Return all inlines that the reader may see, made once a request."""
        made: dict[Any, list[Any]] = vars(request).setdefault("inlines", {})
        key = (self, row and row.pk)
        if key not in made:
            made[key] = super().get_inline_instances(request, row)
        return made[key]

    def get_inline_formsets(
        self, request: HttpRequest, formsets: Any, inline_instances: Any, obj: Any = None
    ) -> list[Any]:
        shown = super().get_inline_formsets(request, formsets, inline_instances, obj)
        if obj is None:
            return list(shown)
        tabs = [self._tab(request, inline, obj) for inline in self._later(request, obj)]
        order = list(self.get_inlines(request, obj))
        return sorted([*shown, *tabs], key=lambda each: order.index(type(each.opts)))

    def _tab(self, request: HttpRequest, inline: LaterInline, row: Any) -> LaterTab:
        key, url = f"{inline.name}-page", self.url_of("tab", row.pk, inline.name)
        page = request.GET.get(key)
        query = f"?{urlencode({key: page})}" if page else ""
        return LaterTab(inline, inline.number_of(row), url + query)

    def tab_view(self, request: HttpRequest, object_id: int, name: str) -> HttpResponse:
        """Return the rows of a tab to its page's script, to others as a page of their own."""
        row = self.found(request, object_id)
        inline = next((each for each in self._later(request, row) if each.name == name), None)
        if inline is None:
            raise Http404(f"This {self.opts.verbose_name} has no tab {name!r} that you can see.")
        formset = inline.get_formset(request, row)(
            **self.get_formset_kwargs(request, row, inline, name)
        )
        [table] = super().get_inline_formsets(request, [formset], [inline], row)
        shown = {
            "inline_admin_formset": table,
            "key": formset.get_pagination_key(),
            "rows": formset.page,
            "numbers": list(formset.paginator.get_elided_page_range(formset.page.number)),
            "url": self.url_of("tab", row.pk, name),
            "back_url": self.url_of("change", row.pk),
        }
        if "HX-Request" in request.headers:
            return TemplateResponse(request, "evalhub/later_rows.html", shown)
        title = f"{capfirst(str(inline.verbose_name_plural))}: {row}"
        return self.page(request, "evalhub/later_page.html", title=title, **shown)
