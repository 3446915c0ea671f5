"""The base class of all admins: pages in the admin's shell."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from django.apps import apps
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ORDER_VAR
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.db.models import SET_NULL, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin

from evalhub.access.models import User
from evalhub.admin_site.edit_conflicts import (
    SEEN,
    last_change,
    lock_row,
    seen_in,
    versioned,
)
from evalhub.admin_site.json_field import BoundedJSON
from evalhub.admin_site.lists import BoundedPaginator, PageChangeList
from evalhub.limits import LIST_PAGE_SIZE
from evalhub.refusals import NotPossible
from evalhub.values.storable import UNSTORABLE


def current_user(request: HttpRequest) -> User:
    return cast(User, request.user)


def require(*conditions: object) -> None:
    """Refuse the request unless all of these hold.

    Raises:
        PermissionDenied: One does not.
    """
    if not all(conditions):
        raise PermissionDenied


def row_number(text: str | None) -> int:
    """Parse a row's number from a link or form; 0, which no row has, if it is none."""
    is_number = bool(text) and str(text).isascii() and str(text).isdecimal()
    return int(str(text)) if is_number and len(str(text)) <= 18 else 0


def is_about_a_row(request: HttpRequest) -> bool:
    """Return whether the page is that of one row, not of a list."""
    match = request.resolver_match
    return match is not None and "object_id" in match.kwargs


def bounded_text(text: str | None, most: int) -> str:
    """Cut a text from a link or form, and drop characters that no database can store."""
    return UNSTORABLE.sub("", text or "").strip()[:most]


def address_back(request: HttpRequest, default: str) -> str:
    """Return the address in `next` if it is one of this site, else the default."""
    sent = request.POST if request.method == "POST" else request.GET
    wanted = sent.get("next", "")
    is_own = bool(wanted) and url_has_allowed_host_and_scheme(wanted, {request.get_host()})
    return wanted if is_own else default


class PageAdmin(BoundedJSON, ModelAdmin):
    """A ModelAdmin with further pages and actions.

    An admin may have a method `found_as` too: of a row, its title and a line about it, as the
    search of all rows shows them (`evalhub.admin_site.command_palette`).

    Attributes:
        rows_name: Plural name of its rows, if not the model's.
        when_empty: A sentence shown in its list while that is empty.
        list_before_template: The theme's: a template shown above its list.
        quick_filters: Filters of its list by one click: a text, and the parameters to set.
        linked_lookups: Look-ups that other pages link to, besides those of its filters.
        keeps_history: Whether its pages offer a history of changes.
        views: Routes of its further pages by name: `act_view` answers at that of `act`.
        post_views: The same of what is done by POST alone; another method is answered by status
            405.
        instead_of_deleting: A sentence on the confirmation page that names an alternative to
            deleting.
    """

    rows_name = ""
    when_empty = ""
    quick_filters: Sequence[tuple[str, Mapping[str, str]]] = ()
    linked_lookups: Sequence[str] = ()
    keeps_history = True
    views: Mapping[str, str] = {}
    post_views: Mapping[str, str] = {}
    instead_of_deleting = ""

    list_per_page = LIST_PAGE_SIZE
    paginator = BoundedPaginator
    show_full_result_count = False
    list_fullwidth = True
    view_on_site: Any = False
    warn_unsaved_form = True

    # The theme's templates look for these at each field or row, and slowly where they are missing.
    conditional_fields: Mapping[str, str] = {}
    list_sections: Sequence[Any] = ()
    change_form_show_cancel_button = False

    class Media:
        css = {"all": ("evalhub/forms.css",)}

    def get_urls(self) -> list[URLPattern]:
        own = []
        for base in map(vars, type(self).__mro__):
            posts = base.get("post_views", {})
            for name, route in {**base.get("views", {}), **posts}.items():
                view = getattr(self, f"{name}_view")
                own.append(
                    self.view_path(route, require_POST(view) if name in posts else view, name)
                )
        return [*own, *super().get_urls()]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> Any:
        return PageChangeList

    def get_paginator(self, request: HttpRequest, queryset: Any, *args: Any, **kwargs: Any) -> Any:
        paginator = super().get_paginator(request, queryset, *args, **kwargs)
        if ORDER_VAR in request.GET:
            own = self.get_queryset(request).query.order_by
            paginator.unsorted = own or self.get_ordering(request) or self.opts.ordering or ("-pk",)
        return paginator

    def listed(self, request: HttpRequest) -> QuerySet[Any] | None:
        """Return the rows of the list, all pages of it; None if it lacks a filter that is set."""
        try:
            changelist = self.get_changelist_instance(request)
        except IncorrectLookupParameters:
            return None
        rows: QuerySet[Any] = changelist.get_queryset(request)
        return rows

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Refuse an action on all rows of a list that shows its first rows only."""
        most = self.paginator.most
        if request.POST.get("select_across") == "1" and queryset[most : most + 1].exists():
            words = f"The list has more than {most:,} rows: filter it, then select all again."
            self.message_user(request, words, messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())
        return super().response_action(request, queryset)

    def further_exports(self, request: HttpRequest) -> Sequence[tuple[str, str, str]]:
        """Return what the list's export menu has besides files: address, title and use of each."""
        return ()

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        extra = {} if self.offers_history(request, object_id) else {"show_history": False}
        context = {**extra, **(extra_context or {})}
        response: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return response

    def offers_history(self, request: HttpRequest, object_id: str | None) -> bool:
        return self.keeps_history

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = kwargs.get("obj")
        if row:
            context = {**context, **_version_context(context), **self.row_context(request, row)}
        response: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return response

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Lock the row of a form being saved, so that its version is checked against the last.

        A page that only shows a row reads it once.
        """
        if request.method == "GET":
            shown: dict[Any, Any] = vars(request).setdefault("shown_rows", {})
            key = (self, object_id, from_field)
            if key not in shown:
                shown[key] = super().get_object(request, object_id, from_field)
            return shown[key]
        row = super().get_object(request, object_id, from_field)
        if row is None or SEEN not in request.POST or not connection.in_atomic_block:
            return row
        lock_row(row)
        return super().get_object(request, object_id, from_field)

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        return self._versioned(request, obj, super().get_form(request, obj, **kwargs))

    def get_formsets_with_inlines(self, request: HttpRequest, obj: Any = None) -> Iterator[Any]:
        for formset, inline in super().get_formsets_with_inlines(request, obj):
            yield self._versioned(request, obj, formset), inline

    def _versioned(self, request: HttpRequest, obj: Any, base: Any) -> Any:
        """Return the class of a form or formset, which checks what its reader has seen."""
        if obj is None or SEEN not in request.POST:
            return base
        return versioned(base, request.POST, last_change(obj, current_user(request)))

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what the page of an existing row shows besides the form."""
        return {}

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"crumb": "History", **(extra_context or {})}
        response: HttpResponse = super().history_view(request, object_id, context)
        return response

    def render_delete_form(self, request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
        row, own = context["object"], str(self.opts.verbose_name_plural)
        along = [(name, n - (name == own)) for name, n in context["model_count"]]
        more = {
            "crumb": "Delete",
            "goes_along": [(name, n) for name, n in along if n],
            "loses_link": loose_links(row),
            "used_by": dict(Counter(str(row).partition(":")[0] for row in context["protected"])),
            "instead": self.instead_of_deleting,
            "back_url": self.url_of("change", row.pk),
        }
        response: HttpResponse = super().render_delete_form(request, {**context, **more})
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Collect the rows deleted along, without many-to-many links."""
        trees, counts, lacking, protected = super().get_deleted_objects(objs, request)
        models = apps.get_models(include_auto_created=True)
        links = {str(m._meta.verbose_name_plural) for m in models if m._meta.auto_created}
        kept = {name: n for name, n in counts.items() if str(name) not in links}
        return trees, kept, lacking, protected

    def page(
        self, request: HttpRequest, template: str, /, *, title: str, **context: Any
    ) -> TemplateResponse:
        shell = self.admin_site.each_context(request)
        return TemplateResponse(
            request, template, {**shell, "opts": self.model._meta, "title": title, **context}
        )

    def action_page(
        self, request: HttpRequest, action: str, rows: Iterable[Any], /, **context: Any
    ) -> TemplateResponse:
        """Ask for confirmation of an action on the selected rows, or for its details.

        Each row is a hidden field; `MAX_LIST_ROWS`, the most that can be selected, is below
        Django's limit of fields as set here (`DATA_UPLOAD_MAX_NUMBER_FIELDS`).
        """
        hidden = [("action", action), *context.pop("hidden", ())]
        hidden += [(ACTION_CHECKBOX_NAME, str(row.pk)) for row in rows]
        back_url = request.get_full_path()
        return self.page(
            request, "evalhub/confirm.html", hidden=hidden, back_url=back_url, **context
        )

    def url_name(self, page: str) -> str:
        return f"admin:{self.model._meta.app_label}_{self.model._meta.model_name}_{page}"

    def view_path(self, route: str, view: Any, page: str) -> URLPattern:
        """Return the URL pattern of a view in the admin, named for `url_of`."""
        name = self.url_name(page).removeprefix("admin:")
        pattern: URLPattern = path(route, self.admin_site.admin_view(view), name=name)
        return pattern

    def url_of(self, page: str, *args: Any) -> str:
        return reverse(self.url_name(page), args=args)

    def found(self, request: HttpRequest, object_id: int) -> Any:
        """Return the row if this user may see it.

        Raises:
            Http404: There is none in the user's queryset.
            PermissionDenied: The user may not see rows of this kind.
        """
        row = self.get_object(request, str(object_id))
        if row is None:
            raise Http404(
                f"There is no {self.model._meta.verbose_name} {object_id} that you can see."
            )
        require(self.has_view_permission(request, row))
        return row

    def posted(self, request: HttpRequest, object_id: int, right: str = "") -> Any:
        """Return the row that a form is sent for, by a user with this right or that to change it.

        Raises:
            Http404, PermissionDenied: See `found`; or the user may not.
        """
        row = self.found(request, object_id)
        may = request.user.has_perm(right) if right else self.has_change_permission(request, row)
        require(may)
        return row

    def back(self, request: HttpRequest, row: Model) -> HttpResponse:
        """Redirect to the row's page, or to the list if the user no longer sees the row."""
        seen = self.get_object(request, str(row.pk)) is not None
        target = self.url_of("change", row.pk) if seen else self.url_of("changelist")
        return HttpResponseRedirect(target)

    def say(self, request: HttpRequest, *problems: str) -> None:
        self.message_user(request, " ".join(problems), messages.ERROR)

    def say_done(self, request: HttpRequest, message: str) -> None:
        self.message_user(request, message, messages.SUCCESS)

    @contextmanager
    def refusals_shown(self, request: HttpRequest) -> Iterator[None]:
        """Show a refusal or an invalid value as an error message, and go on after the block."""
        try:
            yield
        except NotPossible as refused:
            self.say(request, *refused.problems)
        except ValidationError as error:
            self.say(request, *error.messages)


def loose_links(row: Any) -> list[tuple[str, int]]:
    """Return which rows refer to this one and would outlive it without that link, with counts."""
    counts: dict[str, int] = {}
    for relation in row._meta.related_objects:
        if relation.many_to_many or relation.on_delete is SET_NULL:
            model = relation.related_model
            found = model._base_manager.filter(**{relation.field.name: row}).count()
            name = str(model._meta.verbose_name_plural)
            counts[name] = counts.get(name, 0) + found
    return [(name, n) for name, n in counts.items() if n]


def _version_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the version that a change form carries, and what somebody else has changed since."""
    form = context["adminform"].form
    formsets = [inline.formset for inline in context["inline_admin_formsets"]]
    found = [form, *formsets]
    return {
        "seen": seen_in(form, formsets),
        "conflicts": [each for one in found for each in getattr(one, "conflicts", ())],
    }


class ReadOnlyRights:
    """Mixin of admins and inlines whose rows nobody writes there."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(ReadOnlyRights, PageAdmin):
    """Admin of rows that only the system writes."""

    keeps_history = False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return [field.name for field in self.model._meta.fields if field.name != "id"]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj)
