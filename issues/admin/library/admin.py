import json
from collections import Counter
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.text import capfirst
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.history import values_of
from evalhub.admin_site.list_download import DownloadedListAdmin
from evalhub.admin_site.lists import ChoiceFilter
from evalhub.admin_site.pages import bounded_text, current_user, require
from evalhub.display.formatting import counted
from evalhub.display.html import link
from issues.admin.drafting.button import generate_button
from issues.admin.library.form import LibraryForm, example_names
from issues.admin.state_pages import PanelAdmin
from issues.limits import MAX_LIBRARY_CHARACTERS
from issues.models import Criterion, CriterionKind, LibraryCriterion, LibraryState, Test
from issues.models.library import set_content
from issues.rubrics.library import entries
from issues.rubrics.library.content import ROLES
from issues.rubrics.library.exchange import ImportRefused, import_criteria

RETIRE = "issues.retire_librarycriterion"
ADD_TEMPLATE = "issues.add_judgetemplate"
CHANGE_TEST = "issues.change_test"
MAX_FOUND = 30


class OriginFilter(ChoiceFilter):
    title, parameter_name = "origin", "origin"
    choices_of = {
        "own": ("our own", Q(shipped_digest="")),
        "builtin": ("built-in", ~Q(shipped_digest="")),
        "proposed": ("update available", Q(proposal__isnull=False)),
    }


class StateFilter(ChoiceFilter):
    title, parameter_name = "state", "state"
    choices_of = {
        "retired": ("retired", Q(state=LibraryState.RETIRED)),
        "all": ("current and retired", Q()),
    }
    unset = Q(state=LibraryState.CURRENT)


class ForTest(forms.Form):
    test = forms.ModelChoiceField(Test.objects.none())

    def __init__(self, *args: Any, tests: QuerySet[Test], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["test"]
        field.queryset = tests
        field.widget = AutocompleteSelect(Criterion._meta.get_field("test"), admin.site)
        field.widget.choices = field.choices


@admin.register(LibraryCriterion)
class LibraryCriterionAdmin(DownloadedListAdmin, PanelAdmin):
    """The criterion library. A row's page is to read; `?edit=1` is its form."""

    form = LibraryForm
    downloaded_as = "issues.api.library.LibraryCriterionViewSet"
    list_before_template = "issues/library_list_before.html"
    when_empty = "No criterion has these words and filters."
    list_display = ("name", "question", "shelf", "kind", "origin", "version", "use_count")
    list_filter = (
        ("shelf", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
        OriginFilter,
        StateFilter,
    )
    search_fields = entries.SEARCHED
    search_help_text = "Words of its name, question, description or tags."
    found_by = ("name", "question", "tags")
    list_select_related = ("author",)
    prepopulated_fields = {"key": ("name",)}
    readonly_fields = ("shown",)
    actions = ("add_to_rubric",)
    views = {
        "found": "found/",
        "import": "import/",
        "rubric": "<int:object_id>/rubric/",
    }
    post_views = {"act": "<int:object_id>/act/"}

    class Media:
        js = ("evalhub/scale.js",)
        css = {"all": ("evalhub/rubric.css",)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[LibraryCriterion]:
        return entries.with_uses(super().get_queryset(request), current_user(request))

    def has_delete_permission(
        self, request: HttpRequest, obj: LibraryCriterion | None = None
    ) -> bool:
        return False

    def found_as(self, row: LibraryCriterion) -> tuple[str, str]:
        return row.name, f"{row.get_kind_display()} criterion, {row.get_shelf_display()}"

    # Columns and page ----------------------------------------------------------------------------

    @display(description="origin")
    def origin(self, row: LibraryCriterion) -> str:
        if row.proposal is not None:
            return "update available"
        if not row.is_builtin:
            return str(row.author or "own")
        return "built-in, changed" if row.is_changed else "built-in"

    @display(description="tests", ordering="tests_total")
    def use_count(self, row: Any) -> str:
        url = f"{reverse('admin:issues_test_changelist')}?library={row.key}"
        return link(url, row.tests_total) if row.tests_total else "0"

    @display(description="criterion")
    def shown(self, row: LibraryCriterion) -> str:
        proposed = row.proposal and _changes(row)
        context = {
            "row": row,
            "scale": entries.options_of(row),
            "examples": [(role, row.examples[role]) for role in ROLES if role in row.examples],
            "proposed": proposed,
        }
        return render_to_string("issues/library_criterion.html", context)

    def _is_read(self, request: HttpRequest, row: LibraryCriterion | None) -> bool:
        """Return True for the page to read: any page of a row but its form."""
        if row is None:
            return False
        edits = request.method == "POST" or "edit" in request.GET
        return not edits or not self.has_change_permission(request, row)

    def get_fieldsets(self, request: HttpRequest, obj: LibraryCriterion | None = None) -> Any:
        if self._is_read(request, obj):
            return ((None, {"fields": ("shown",)}),)
        is_pairwise = self._kind(request, obj) == CriterionKind.PAIRWISE
        about = ("polarity", "judged_text") if not is_pairwise else ()
        what = ("name", "key") if obj is None else ("name",)
        main = (what, "shelf", "question", "description", *about, "tags")
        parts: list[tuple[str | None, dict[str, Any]]] = [(None, {"fields": main})]
        if not is_pairwise:
            parts.append(("Options", {"fields": ("scale",)}))
            parts.append(("Check without a judge", {"fields": (("check_name", "arguments"),)}))
        for role in ROLES:
            names = example_names(role, is_pairwise=is_pairwise)
            parts.append((f"{role.capitalize()} example", {"fields": names}))
        return parts

    def _kind(self, request: HttpRequest, row: LibraryCriterion | None) -> str:
        is_pairwise = request.GET.get("kind") == CriterionKind.PAIRWISE
        new = CriterionKind.PAIRWISE if is_pairwise else CriterionKind.DIRECT
        return row.kind if row else new

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        form.kind = self._kind(request, obj)
        return form

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        context = {**context, "show_save_and_continue": False, "show_save_and_add_another": False}
        if self._is_read(request, kwargs.get("obj")):
            context["show_save"] = False
        return super().render_change_form(request, context, *args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if not change:
            obj.author = current_user(request)
        super().save_model(request, obj, form, change)

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self.back(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self.back(request, obj)

    # Panel ---------------------------------------------------------------------------------------

    def facts(self, row: Any) -> list[str]:
        used = f"used in {counted(row.tests_total, 'test')}"
        return [capfirst(row.get_shelf_display()), f"version {row.version}", self.origin(row), used]

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        url = self.url_of("act", row.pk)
        own = []
        is_current = row.state == LibraryState.CURRENT
        in_rubric = row.kind == CriterionKind.DIRECT and row.judged_text == "answer" and is_current
        if in_rubric and request.user.has_perm(CHANGE_TEST):
            rubric = self.url_of("rubric", row.pk)
            own.append(Button("Add to a test's rubric …", rubric, kind="primary", is_link=True))
        if row.tests_total:
            tests = reverse("admin:issues_test_changelist")
            own.append(Button("Tests", f"{tests}?library={row.key}", is_link=True))
        if row.scale is not None and not row.check_name and is_current:
            own += generate_button(request, library=row.key)
        if row.scale is not None and request.user.has_perm(ADD_TEMPLATE):
            own.append(Button("Use as judge template", url, {"act": "template"}))
        if self.has_add_permission(request):
            own.append(Button("Duplicate", url, {"act": "duplicate"}))
        if self.has_change_permission(request, row):
            if row.proposal is not None:
                own.append(Button("Take over update", url, {"act": "take"}))
                own.append(Button("Dismiss update", url, {"act": "dismiss"}))
            own.append(Button("Edit", f"{self.url_of('change', row.pk)}?edit=1", is_link=True))
        if request.user.has_perm(RETIRE):
            state = ("retire", "Retire", "danger") if is_current else ("restore", "Restore", "")
            own.append(Button(state[1], url, {"act": state[0]}, kind=state[2]))
        return own

    # Views ---------------------------------------------------------------------------------------

    def found_view(self, request: HttpRequest) -> HttpResponse:
        """Return the criteria with the searched words that a rubric can take."""
        require(self.has_view_permission(request))
        words = bounded_text(request.GET.get("q"), 100)
        rows = entries.with_uses(entries.rubric_criteria(), current_user(request))
        found: Any = entries.with_words(rows, words)
        shown = list(found.order_by("-tests_total", "shelf", "name")[: MAX_FOUND + 1])
        context = {
            "found": [(row, json.dumps(entries.as_criterion(row))) for row in shown[:MAX_FOUND]],
            "has_more": len(shown) > MAX_FOUND,
        }
        return HttpResponse(render_to_string("issues/library_found.html", context, request))

    def act_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Carry out a button of the criterion's page."""
        row = self.found(request, object_id)
        act = request.POST.get("act", "")
        rights = {
            "template": request.user.has_perm(ADD_TEMPLATE),
            "duplicate": self.has_add_permission(request),
            **dict.fromkeys(("take", "dismiss"), self.has_change_permission(request, row)),
            **dict.fromkeys(("retire", "restore"), request.user.has_perm(RETIRE)),
        }
        require(rights.get(act))
        user = current_user(request)
        with self.refusals_shown(request):
            if act == "template":
                draft = entries.draft_template(row, by=user)
                return HttpResponseRedirect(draft.get_absolute_url())
            if act == "duplicate":
                url = entries.duplicate(row, by=user).get_absolute_url()
                return HttpResponseRedirect(f"{url}?edit=1")
            if act in ("take", "dismiss"):
                entries.decide_proposal(row, takes_over=act == "take", by=user)
                self.say_done(request, "Updated." if act == "take" else "Update dismissed.")
            else:
                is_retired = act == "retire"
                state = LibraryState.RETIRED if is_retired else LibraryState.CURRENT
                entries.set_state(row, state, by=user)
                self.say_done(request, f"{row} is {state}.")
        return self.back(request, row)

    def rubric_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Choose a test (GET), and copy the criterion into its rubric (POST)."""
        require(request.user.has_perm(CHANGE_TEST))
        row = self.found(request, object_id)
        form = self._form(request)
        if form.is_valid() and (done := self._copy(request, [row], form.cleaned_data["test"])):
            return done
        return self.page(
            request,
            "evalhub/confirm.html",
            crumb="Add to a rubric",
            back_url=self.url_of("change", row.pk),
            **_asked([row], form),
        )

    @admin.action(permissions=["copy"], description="Add to a test's rubric …")
    def add_to_rubric(
        self, request: HttpRequest, queryset: QuerySet[LibraryCriterion]
    ) -> HttpResponse | None:
        rows, form = list(queryset), self._form(request)
        if form.is_valid() and (done := self._copy(request, rows, form.cleaned_data["test"])):
            return done
        return self.action_page(request, "add_to_rubric", rows, **_asked(rows, form))

    def has_copy_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm(CHANGE_TEST))

    def _form(self, request: HttpRequest) -> ForTest:
        tests = Test.objects.readable_by(current_user(request))
        return ForTest(request.POST if "test" in request.POST else None, tests=tests)

    def _copy(
        self, request: HttpRequest, rows: list[LibraryCriterion], test: Test
    ) -> HttpResponse | None:
        with self.refusals_shown(request):
            entries.copy_to_rubric(rows, test, by=current_user(request))
            self.say_done(request, f"{_counted(rows)} copied. Adapt them to this test.")
            return HttpResponseRedirect(test.get_absolute_url())
        return None

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Import a JSON list of criteria, pasted or uploaded."""
        require(self.has_add_permission(request), self.has_change_permission(request))
        problems: list[Any] = []
        text = ""
        if request.method == "POST":
            text = _sent_text(request)
            try:
                done = import_criteria(text, by=current_user(request))
            except ImportRefused as error:
                problems = error.problems
            else:
                self.say_done(request, _said(done))
                return HttpResponseRedirect(self.url_of("changelist"))
        return self.page(
            request,
            "issues/library_import.html",
            title="Import criteria",
            crumb="Import",
            problems=problems,
            text=text,
            back_url=self.url_of("changelist"),
        )


def _changes(row: LibraryCriterion) -> list[Any]:
    """Return what the release's newer content would change."""
    record = row.history.model(**{f.attname: getattr(row, f.attname) for f in _tracked(row)})
    newer = row.history.model(**{f.attname: getattr(row, f.attname) for f in _tracked(row)})
    set_content(newer, row.proposal or {})
    return [value for value in values_of(newer, record) if value.lines]


def _tracked(row: LibraryCriterion) -> list[Any]:
    return list(row.history.model.tracked_fields)


def _counted(rows: list[Any]) -> str:
    return "1 criterion" if len(rows) == 1 else f"{len(rows)} criteria"


def _asked(rows: list[LibraryCriterion], form: ForTest) -> dict[str, Any]:
    return {
        "title": f"Add {_counted(rows)} to a test's rubric",
        "sentences": ["Copied as it is now. Later changes in the library do not reach the test."],
        "rows": [f"{row.name}: {row.question}" for row in rows],
        "form": form,
        "button": "Add",
    }


def _sent_text(request: HttpRequest) -> str:
    """Return the uploaded file's text, else the pasted one."""
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        return request.POST.get("text", "")
    text: str = file.read(4 * MAX_LIBRARY_CHARACTERS).decode("utf-8-sig", errors="replace")
    return text


def _said(done: Counter[str]) -> str:
    parts = [f"{done[name]} {name}" for name in ("added", "changed", "unchanged") if done[name]]
    return f"Imported: {', '.join(parts)}."
