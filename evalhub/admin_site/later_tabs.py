"""Read-only tabs of a form's page, whose rows are read when a tab is opened."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.utils.text import capfirst
from django.views.decorators.http import require_safe
from unfold.admin import TabularInline

from evalhub.admin_site.pages import PageAdmin, ReadOnlyRights
from evalhub.limits import TAB_PAGE_SIZE


class LaterInline(ReadOnlyRights, TabularInline):
    """Read-only table of rows that have pages of their own, in a tab of a `LaterTabs` page."""

    extra = 0
    tab = True
    can_delete = False
    show_count = True
    per_page = TAB_PAGE_SIZE
    template = "evalhub/later_tab.html"


class LaterTabs(PageAdmin):
    """Pages that leave the rows of each `LaterInline` to a view of its own.

    On a page its formset has the number of its rows and none of them; its form does not send it.
    """

    views = {"tab": "<int:object_id>/tab/<slug:name>/"}

    def get_inline_instances(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        inlines = super().get_inline_instances(request, obj)
        return [inline for inline in inlines if not isinstance(inline, LaterInline)]

    def get_inline_formsets(
        self, request: HttpRequest, formsets: Any, inline_instances: Any, obj: Any = None
    ) -> list[Any]:
        shown = super().get_inline_formsets(request, formsets, inline_instances, obj)
        if obj is None:
            return list(shown)
        order = list(self.get_inlines(request, obj))
        every = [*shown, *self._later_tables(request, obj)]
        return sorted(every, key=lambda table: order.index(type(table.opts)))

    def _later_tables(self, request: HttpRequest, row: Any, opened: str = "") -> list[Any]:
        """Return the tables of later tabs that the reader may see, without rows unless opened."""
        inlines, formsets = [], []
        for inline in super().get_inline_instances(request, row):
            if not isinstance(inline, LaterInline):
                continue
            formset, rows = inline.get_formset(request, row), inline.get_queryset(request)
            if formset.get_default_prefix() == opened:
                rest = {"queryset": rows, "request": request, "per_page": inline.per_page}
            else:
                count = rows.filter(**{formset.fk.name: row}).count()
                rest = {"queryset": rows.none(), "count": count}
            inlines.append(inline)
            formsets.append(formset(instance=row, **rest))
        tables: list[Any] = super().get_inline_formsets(request, formsets, inlines, row)
        return tables

    @method_decorator(require_safe)
    def tab_view(self, request: HttpRequest, object_id: int, name: str) -> HttpResponse:
        """Return the rows of a tab to htmx, and to others as a page of their own."""
        row = self.found(request, object_id)
        tables = self._later_tables(request, row, opened=name)
        table = next((each for each in tables if each.formset.prefix == name), None)
        if table is None:
            raise Http404(f"This {self.opts.verbose_name} has no tab {name!r} that you can see.")
        shown = {"inline_admin_formset": table, "opts": self.opts}
        if "HX-Request" in request.headers:
            return TemplateResponse(request, "evalhub/later_rows.html", shown)
        title = f"{capfirst(str(table.opts.verbose_name_plural))}: {row}"
        return self.page(request, "evalhub/later_page.html", title=title, **shown)
