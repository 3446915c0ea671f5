"""The list of every admin: its pages, filters and the columns that a user hides."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import label_for_field
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import Count, Model, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_POST
from unfold.contrib.filters.admin import DropdownFilter, RelatedDropdownFilter
from unfold.views import ChangeList

from evalhub.access.models import User
from evalhub.display.filter_chip import Chip, choice_chip
from evalhub.limits import MAX_HIDDEN_COLUMNS, MAX_LIST_ROWS

PAGING = {"p", "e", "all"}
PREFERENCE = "hidden columns"


class Column(NamedTuple):
    name: str
    heading: str
    is_shown: bool


def count_by(field: str, rows: QuerySet[Any]) -> Coalesce:
    """Annotation of the number of `rows` that refer to each row by the field.

    For lists with several counts: `Count` would join them all, and multiply them with each other.
    """
    own = rows.filter(**{field: OuterRef("pk")}).order_by().values(field)
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)


class BoundedPaginator(Paginator):
    """Pages of the first `most` rows: counting, skipping and sorting millions takes seconds.

    Filters and search find the others. Where a reader sorts a longer list by a column, its first
    rows are sorted, which are the first in the order `unsorted`.
    """

    most = MAX_LIST_ROWS
    unsorted: Sequence[Any] = ()

    @cached_property
    def _total(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by().values("pk")[: self.most + 1].count())

    @cached_property
    def count(self) -> int:
        return min(self._total, self.most)

    @property
    def has_more(self) -> bool:
        """Return whether the list has rows on no page."""
        return self._total > self.most

    def page(self, number: Any) -> Page:
        rows: Any = self.object_list
        if self.unsorted and self.has_more:
            first = rows.order_by(*self.unsorted).values("pk")[: self.most]
            self.object_list = rows.filter(pk__in=first)
        return super().page(number)

    @property
    def template_name(self) -> str:
        """Return unfold's name for a template of page numbers; "" for its own."""
        return "evalhub/bounded_pages.html" if self.has_more else ""


class PageChangeList(ChangeList):
    """A list that reads only what its filters and search offer, with filters as chips.

    Django applies any other look-up on the table's own columns, such as `description__startswith`,
    which tells letter by letter what a page hides. Here only look-ups that a filter declares and
    those that pages link to (`PageAdmin.linked_lookups`) are applied.
    """

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        self.request = request
        self._query_strings: dict[str, str] = {}
        super().__init__(request, *args, **kwargs)

    def get_filters(self, request: HttpRequest) -> Any:
        filters = super().get_filters(request)
        lookups: dict[str, Any] = filters[2]
        stray = sorted(lookups.keys() - set(self.model_admin.linked_lookups))
        if stray:
            words = f"This list has no filter {', '.join(stray)}."
            messages.error(request, f"{words} It is shown without filters.", fail_silently=True)
            raise IncorrectLookupParameters(words)
        return filters

    def get_query_string(self, new_params: Any = None, remove: Any = None) -> str:
        """Write each address once: the theme asks for those of its head again for each row."""
        key = repr((new_params, remove))
        if key not in self._query_strings:
            self._query_strings[key] = super().get_query_string(new_params, remove)
        return self._query_strings[key]

    @cached_property
    def columns(self) -> list[Column]:
        return columns_of(self, cast(User, self.request.user))

    @property
    def hidden_columns(self) -> list[str]:
        return [column.name for column in self.columns if not column.is_shown]

    @cached_property
    def chips(self) -> list[Chip]:
        return [self._chip(spec) for spec in self.filter_specs]

    def _chip(self, spec: Any) -> Chip:
        names = _parameters(spec)
        is_set = any(self.params.get(name) for name in names)
        cleared = self.get_query_string(remove=names) if is_set else ""
        choices = list(spec.choices(self))
        title = capfirst(str(spec.title))
        form = choices[0].get("form") if choices else None
        if form is None:
            chosen = [str(choice["display"]) for choice in choices if choice["selected"]]
            return Chip("", title, links=choices, values=chosen, cleared=cleared)
        chip = Chip("", title, menu=[form.media, *form], cleared=cleared)
        if len(form.fields) == 1:
            ((name, field),) = form.fields.items()
            is_row = isinstance(field, forms.ModelChoiceField)
            if isinstance(field, forms.ChoiceField) and not is_row:
                options: Any = field.choices
                chip = choice_chip(name, title, options, form.data.get(name), cleared)
        problems = [text for texts in form.errors.values() for text in texts] if is_set else []
        return chip._replace(help=" ".join(problems), is_wrong=bool(problems))

    @property
    def further_parameters(self) -> Iterator[tuple[str, str]]:
        """Yield name and value of what is in the query besides filters and page."""
        own = {name for spec in self.filter_specs for name in _parameters(spec)}
        for name, values in self.request.GET.lists():
            if name not in own | PAGING:
                yield from ((name, value) for value in values)

    @property
    def quick_filters(self) -> Iterator[tuple[str, str, bool]]:
        """Yield text, query and whether it is chosen of each filter by one click; one at a time."""
        if not self.model_admin.has_change_permission(self.request):
            return
        offered = getattr(self.model_admin, "quick_filters", ())
        names = {name for _, values in offered for name in values}
        now = {name: self.request.GET[name] for name in names if self.request.GET.get(name)}
        for text, values in offered:
            is_chosen = now == values
            query = self.get_query_string({} if is_chosen else values, remove=[*names])
            yield text, query, is_chosen


def _parameters(spec: Any) -> list[str]:
    return [name for name in spec.expected_parameters() if name]


def columns_of(changelist: ChangeList, user: User) -> list[Column]:
    """Return the columns that the user can hide: all but the first."""
    hidden = hidden_columns(user, changelist.model)
    display: list[Any] = [each for each in changelist.list_display if each != "action_checkbox"]
    headings = {
        str(getattr(each, "__name__", each)): label_for_field(
            each, changelist.model, changelist.model_admin
        )
        for each in display[1:]
    }
    return [
        Column(name, capfirst(str(text)), name not in hidden) for name, text in headings.items()
    ]


def hidden_columns(user: User, model: type[Model]) -> frozenset[str]:
    return frozenset(user.preferences.get(PREFERENCE, {}).get(model._meta.label_lower, ()))


def hide_columns(user: User, model: type[Model], names: Collection[str]) -> None:
    chosen = user.preferences.get(PREFERENCE, {})
    user.prefer(**{PREFERENCE: {**chosen, model._meta.label_lower: sorted(names)}})


@require_POST
def columns_view(request: HttpRequest) -> HttpResponse:
    """Save which of a list's columns the user sees, and return to the list.

    Raises:
        Http404: No list is of this model.
    """
    models = {model._meta.label_lower: model for model in apps.get_models()}
    model = models.get(request.POST.get("model", ""))
    if model is None or not admin.site.is_registered(model):
        raise Http404("There is no such list.")
    if not admin.site.get_model_admin(model).has_view_permission(request):
        raise PermissionDenied
    offered = {
        name for name in request.POST.getlist("column")[:MAX_HIDDEN_COLUMNS] if name.isidentifier()
    }
    hide_columns(cast(User, request.user), model, offered - set(request.POST.getlist("shown")))
    address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return HttpResponseRedirect(f"{address}?{request.POST.get('query', '')}".rstrip("?"))


class ChoiceFilter(DropdownFilter):
    """`choices_of` has the label and the condition of each value; `unset` is that of none.

    An unknown value finds nothing, and the list says so above its rows.
    """

    choices_of: Mapping[str, tuple[str, Q]] = {}
    unset = Q()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, label) for value, (label, _) in self.choices_of.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        unknown = ("", Q(pk__in=[]) if self.value() else self.unset)
        return queryset.filter(self.choices_of.get(self.value() or "", unknown)[1])


class RelatedFilter(RelatedDropdownFilter):
    """Rows by one of another table, of which only the columns are read that name it."""

    named_by: Sequence[str] = ("name",)

    def has_output(self) -> bool:
        """Return True where it is set too: Django drops one without choices, and shows all rows."""
        return bool(self.used_parameters) or super().has_output()

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: Any
    ) -> list[tuple[Any, str]]:
        rows = field.related_model._default_manager.complex_filter(field.get_limit_choices_to())
        ordering = self.field_admin_ordering(field, request, model_admin)
        rows = rows.order_by(*ordering) if ordering else rows
        return [(row.pk, str(row)) for row in rows.only(*self.named_by)]
