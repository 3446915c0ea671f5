"""Pages of workbenches: their list, the workbench, uploads, exports and what leaves it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, bounded_text, current_user, require, row_number
from evalhub.models import ItemState, User
from evalhub.refusals import Refused
from issues.admin.drafting.button import DRAFT_TESTS, generate_url
from issues.models import Decision, Generation, JudgeTemplate, Test
from issues.rubrics.library.entries import current_criteria
from runs.laboratory.direct_calls import TRY_TEST, tried
from runs.laboratory.event_stream import Event
from runs.laboratory.workbench.admin.exact_prompts import prompts_of
from runs.laboratory.workbench.admin.forms import NewForm, SettingsForm, rubric_of, sent_contents
from runs.laboratory.workbench.admin.import_export import EDIT_TEMPLATE, Leaving
from runs.laboratory.workbench.contents import (
    bench_of_library,
    bench_of_template,
    bench_of_test,
    new_bench,
    save_contents,
    take_template,
)
from runs.laboratory.workbench.evaluation import (
    Evaluation,
    RoleSuggestion,
    evaluation_of,
    lines_of,
    pair_evaluation_of,
)
from runs.laboratory.workbench.figures import (
    BenchFigures,
    RowFigures,
    figures_of,
    row_figures,
)
from runs.laboratory.workbench.handover import use_as_example, use_as_row
from runs.laboratory.workbench.judges import Setup, setup_of, templates_to_choose
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.pairs import pair_figures, pairs_of
from runs.laboratory.workbench.requests import judgments_of, requests_of
from runs.laboratory.workbench.rows import add_rows, change_row, duplicate_row, expect
from runs.limits import MAX_WORKBENCH_PAIRS, MAX_WORKBENCH_ROWS
from runs.review.admin.work_page import KEYS_OFF

NO_TEMPLATE = (
    "Examples go into a template draft, which only users with the right to change judge templates "
    "may edit. Ask a maintainer."
)


@admin.register(Workbench)
class WorkbenchAdmin(Leaving, PageAdmin):
    """Workbenches: a judge's prompt or criteria on rows of one's own."""

    when_empty = "Try a judge on a few answers, and see where it disagrees with you."
    keeps_history = False
    list_display = ("title", "owner", "is_shared", "row_total", "updated_at")
    list_filter = ("is_shared",)
    search_fields = ("name",)
    list_select_related = ("owner",)
    views = {"prompt": "<int:object_id>/prompt/"}
    post_views = {
        "start": "start/",
        "settings": "<int:object_id>/settings/",
        "row": "<int:object_id>/row/",
        "evaluate": "<int:object_id>/evaluate/",
    }

    def get_queryset(self, request: HttpRequest) -> QuerySet[Workbench]:
        rows: QuerySet[Workbench] = Workbench.objects.seen_by(current_user(request))
        return rows.select_related("source", "draft", "owner", "test").annotate(
            rows_total=Count("rows", distinct=True)
        )

    def has_change_permission(self, request: HttpRequest, obj: Workbench | None = None) -> bool:
        if obj is None:
            return bool(super().has_change_permission(request))
        return obj.may_be_edited_by(current_user(request))

    def has_delete_permission(self, request: HttpRequest, obj: Workbench | None = None) -> bool:
        if obj is None:  # bulk deletion would not look at each
            return False
        return obj.may_be_edited_by(current_user(request))

    @display(description="name")  # sealed with the test, so that no order may be by it
    def title(self, bench: Workbench) -> str:
        return bench.name

    @display(description="rows", ordering="rows_total")
    def row_total(self, bench: Any) -> int:
        return int(bench.rows_total)

    # Open -----------------------------------------------------------------------------------------

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require(self.has_add_permission(request))
        form = NewForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            template, user = form.cleaned_data["template"], current_user(request)
            bench = bench_of_template(template, user) if template else new_bench(user, name="")
            bench.name = form.cleaned_data["name"]
            bench.save()
            return HttpResponseRedirect(bench.get_absolute_url())
        return self.page(
            request,
            "evalhub/confirm.html",
            title="New workbench",
            form=form,
            button="Create workbench",
            back_url=self.url_of("changelist"),
        )

    def start_view(self, request: HttpRequest) -> HttpResponse:
        """Open a test, a criterion of it, a template or a library entry in a new workbench."""
        require(self.has_add_permission(request))
        user = current_user(request)
        try:
            bench = _opened(request, user)
        except Refused as error:
            self.say(request, *error.problems)
            return HttpResponseRedirect(self.url_of("changelist"))
        return HttpResponseRedirect(bench.get_absolute_url())

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        bench = self.found(request, row_number(object_id))
        setup, rows = setup_of(bench), self.rows_of(request, bench)
        may_edit = self.has_change_permission(request, bench)
        figures = figures_of(setup, bench, rows)
        return self.page(
            request,
            "runs/laboratory/workbench/workbench.html",
            title=str(bench),
            bench=bench,
            form=SettingsForm(instance=bench),
            rubric=rubric_of(bench) if may_edit else None,
            setup=setup,
            figures=figures,
            options=setup.prompt.scale.options,
            prompts=templates_to_choose(on_criteria=bool(bench.criteria)),
            hidden=bench.rows.count() - len(rows),
            max_rows=MAX_WORKBENCH_ROWS,
            may_edit=may_edit,
            may_judge=may_edit and request.user.has_perm(TRY_TEST),
            may_draft=may_edit and request.user.has_perm(DRAFT_TESTS),
            generate_url=generate_url(workbench=bench),
            batches=_batches(request, bench),
            foot=_foot(figures),
            pairs=_pairs(setup, rows),
            keys_off=bool(current_user(request).preferences.get(KEYS_OFF)),
            **self.leaving(request, bench),
        )

    def rows_of(self, request: HttpRequest, bench: Workbench) -> list[BenchRow]:
        """Return the rows that this user may read."""
        rows = BenchRow.objects.readable_by(current_user(request)).filter(workbench=bench)
        return list(rows.select_related("test", "example").order_by("place", "pk"))

    # Edit -----------------------------------------------------------------------------------------

    def settings_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Save the settings; return the rows as they are judged by them, or what is wrong."""
        bench: Workbench = self.posted(request, object_id)
        if number := row_number(request.POST.get("take")):
            template = get_object_or_404(JudgeTemplate, pk=number)
            take_template(bench, template)
            return _answered(lambda: {"reload": save_contents(bench, {}) or True})
        form = SettingsForm(request.POST, instance=Workbench.objects.get(pk=bench.pk))
        criteria, problems = sent_contents(bench, request.POST)
        if not form.is_valid():
            problems += [
                f"{form.fields[name].label or name}: {text}" if name in form.fields else str(text)
                for name, texts in form.errors.items()
                for text in texts
            ]
        if problems:
            return JsonResponse({"problems": problems})

        def save() -> Event:
            swapped = save_contents(bench, {**form.contents(), "criteria": criteria})
            return self.shown(request, bench) | {
                "keys": [each["key"] for each in bench.criteria],
                "labels": [option["label"] for option in bench.scale["options"]],
                "reload": swapped,
            }

        return _answered(save)

    def row_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Add, change, copy or delete a row; set what is expected; make it an example."""
        bench, act = self.posted(request, object_id), request.POST.get("act", "")
        if act == "add":
            return _answered(lambda: self._new(request, bench, add_rows(bench, [{}])[0]))
        readable = BenchRow.objects.readable_by(current_user(request)).filter(workbench=bench)
        row = get_object_or_404(
            readable.select_related("test", "example__template"),
            pk=row_number(request.POST.get("row")),
        )
        row.workbench = bench
        if act == "duplicate":
            return _answered(lambda: self._new(request, bench, duplicate_row(row)))
        acts: dict[str, Callable[[], object]] = {
            "save": lambda: change_row(
                row, request.POST.dict(), seen=row_number(request.POST.get("version"))
            ),
            "expect": lambda: expect(
                row,
                request.POST.get("key", ""),
                request.POST.get("option", ""),
                options=[option["label"] for option in bench.scale["options"]],
            ),
            "example": lambda: use_as_example(row, by=current_user(request)),
            "row": lambda: use_as_row(row),
            "delete": row.delete,
        }
        if act not in acts:
            raise Http404(f"A row has no act {act!r}.")
        if act in ("example", "row") and not request.user.has_perm(EDIT_TEMPLATE):
            return JsonResponse({"problems": [NO_TEMPLATE]})

        def do() -> Event:
            acts[act]()
            gone = [row_number(request.POST.get("row"))] if act == "delete" else []
            # An example of the prompt changes what is asked about all other rows.
            ids = None if act in ("example", "row") else {row.pk}
            return self.shown(request, bench, ids) | {"gone": gone}

        return _answered(do)

    def _new(self, request: HttpRequest, bench: Workbench, row: BenchRow) -> Event:
        setup = setup_of(bench)
        figures = row_figures(setup, row, judgments_of([row]))
        html = self._html(request, "_row.html", bench, setup, figures)
        return {"added": html} | self.shown(request, bench, set())

    # Judge ----------------------------------------------------------------------------------------

    def evaluate_view(self, request: HttpRequest, object_id: int) -> HttpResponseBase:
        """Judge the sent rows, or all, or all pairs, and stream the judgments as they come."""
        bench: Workbench = self.posted(request, object_id)
        require(request.user.has_perm(TRY_TEST))
        chosen = {row_number(number) for number in request.POST.getlist("row")}
        rows = [row for row in self.rows_of(request, bench) if not chosen or row.pk in chosen]
        setup, act = setup_of(bench), request.POST.get("act")
        if act == "role":
            return self._suggested(request, bench, setup)
        wanted = (
            partial(pair_evaluation_of, setup, rows)
            if act == "compare"
            else partial(evaluation_of, setup, rows, current_user(request))
        )

        def shown(ids: set[int]) -> Event:
            return {} if act == "compare" else self.shown(request, bench, ids, with_foot=False)

        return _streamed(request, wanted, shown, lambda: self.shown(request, bench, set()))

    def _suggested(self, request: HttpRequest, bench: Workbench, setup: Setup) -> HttpResponseBase:
        """Stream a suggestion of the judges' role; the page shows it and saves nothing else."""
        wanted = RoleSuggestion(bench, setup)
        return _streamed(
            request,
            wanted.checked,
            lambda ids: {},
            lambda: {"role": wanted.role, "progress": wanted.said},
        )

    def shown(
        self,
        request: HttpRequest,
        bench: Workbench,
        ids: set[int] | None = None,
        *,
        with_foot: bool = True,
    ) -> Event:
        """Return rows' judgments as HTML by id, None: of all rows, and the foot."""
        setup, rows = setup_of(bench), self.rows_of(request, bench)
        chosen = rows if with_foot else [row for row in rows if ids is None or row.pk in ids]
        figures = figures_of(setup, bench, chosen)
        judged = {
            each.row.pk: {
                "html": self._html(request, "_judged.html", bench, setup, each),
                "version": each.row.version,
            }
            for each in figures.rows
            if ids is None or each.row.pk in ids
        }
        if not with_foot:
            return {"rows": judged}
        return {"rows": judged, "foot": _foot(figures), "pairs": _pairs(setup, rows)}

    def _html(
        self,
        request: HttpRequest,
        template: str,
        bench: Workbench,
        setup: Setup,
        figures: RowFigures,
    ) -> str:
        may_edit = self.has_change_permission(request, bench)
        context = {
            "bench": bench,
            "each": figures,
            "options": setup.prompt.scale.options,
            "may_edit": may_edit,
            "may_judge": may_edit and request.user.has_perm(TRY_TEST),
        }
        return render_to_string(f"runs/laboratory/workbench/{template}", context, request)

    def prompt_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Show exactly what each judge is asked about a row."""
        bench = self.found(request, object_id)
        wanted = row_number(request.GET.get("row"))
        row = next((row for row in self.rows_of(request, bench) if row.pk == wanted), None)
        if row is None:
            raise Http404(f"This workbench has no row {wanted} that you can see.")
        setup = setup_of(bench)
        return self.page(
            request,
            "runs/laboratory/workbench/prompt.html",
            title=f"Prompts about row {row.place}",
            bench=bench,
            row=row,
            prompts=prompts_of(requests_of(setup, row), current_user(request)),
            back_url=bench.get_absolute_url(),
        )


def _streamed(
    request: HttpRequest,
    wanted: Callable[[], Evaluation],
    shown: Callable[[set[int]], Event],
    at_end: Callable[[], Event],
) -> HttpResponseBase:
    user = current_user(request)
    lines = partial(lines_of, user=user, shown=shown, at_end=at_end)
    return tried(wanted, lines, by=user, consent=request.POST.get("consent"))


def _opened(request: HttpRequest, user: User) -> Workbench:
    sent = request.POST
    if "test" in sent:
        tests: QuerySet[Test] = Test.objects.readable_by(user)
        test = get_object_or_404(tests, pk=row_number(sent["test"]))
        return bench_of_test(test, user, key=bounded_text(sent.get("criterion"), 40))
    if "template" in sent:
        template = get_object_or_404(JudgeTemplate, pk=row_number(sent["template"]))
        return bench_of_template(template, user)
    entry = get_object_or_404(current_criteria(), pk=row_number(sent.get("library")))
    return bench_of_library(entry, user)


def _batches(request: HttpRequest, bench: Workbench) -> QuerySet[Generation]:
    """Return the batches whose drafts become rows, with the number of those to decide."""
    own = Generation.objects.readable_by(current_user(request)).filter(
        pk__in=bench.generations.all()
    )
    waiting = Q(drafts__state=ItemState.DONE, drafts__decision=Decision.PROPOSED)
    found: QuerySet[Generation] = own.annotate(waiting=Count("drafts", waiting))
    return found


def _foot(figures: BenchFigures) -> str:
    return render_to_string("runs/laboratory/workbench/_foot.html", {"figures": figures})


def _pairs(setup: Setup, rows: Sequence[BenchRow]) -> str:
    """Return what the panel of pairs shows; "" while no two rows answer the same input."""
    n = len(pairs_of(rows))
    if not n:
        return ""
    context = {"pairs": n, "most": MAX_WORKBENCH_PAIRS, "judges": pair_figures(setup, rows)}
    return render_to_string("runs/laboratory/workbench/_pairs.html", context)


def _answered(do: Any) -> JsonResponse:
    """Do something, and return its event; what it refuses is returned as problems."""
    try:
        return JsonResponse(do())
    except Refused as error:
        return JsonResponse({"problems": list(error.problems)})
    except ValidationError as error:
        return JsonResponse({"problems": list(error.messages)})
