"""“Which is better?”: a person chooses between two answers whose names are hidden."""

from collections.abc import Sequence

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from evalhub.admin_site.pages import current_user, row_number
from evalhub.models import User
from issues.rubrics.scoring import WHOLE_TEST
from reports.compare.form import PAIRWISE
from reports.documents.links import page_url
from reports.documents.rendering import needs, page
from reports.limits import MAX_COMPARED_RUNS
from runs.admin.result.verdict_form import Option, VerdictForm, VerdictPoint
from runs.laboratory.pairwise.evaluations import (
    active_choice,
    choose,
    chosen_as_shown,
    found_pair,
    undo,
)
from runs.laboratory.pairwise.models import PairChoice, PairEvaluation
from runs.laboratory.pairwise.outcomes import judge_runs_over, pair_rows
from runs.laboratory.pairwise.pairs import Ids, comparable_pairs, ids_of
from runs.models import Result, Run
from runs.review.admin.item_page import WHICH, pair_choices
from runs.review.pair_items import PairItem
from runs.scoring.shown_verdicts import hidden_from, record

ADD = "pairwise.add_pairevaluation"
LAST_PAIR = "last_pair"


def may_choose(results: Sequence[Result], reader: User) -> bool:
    """Return whether the reader may choose between these two answers."""
    if not reader.has_perm(ADD):
        return False
    try:
        ids_of(*results)
    except ValidationError:
        return False
    ids = [one.pk for one in results]
    return bool(Result.objects.filter(pk__in=ids).readable_by(reader).count() == len(ids))


@needs(ADD)
def pair(request: HttpRequest, first: int, second: int) -> HttpResponse:
    """Show both answers without names; by POST, choose or undo; then show the names."""
    reader = current_user(request)
    results = _results(first, second, reader)
    ids = ids_of(*results)
    if hidden_from(reader) & set(ids):
        raise PermissionDenied("You are reviewing this result blind: submit your verdict first.")
    if request.method == "POST":
        return _acted(request, results, ids)
    row = found_pair(*results)
    mine = active_choice(row, reader)
    if mine:
        record(reader, results=ids)
    return page(
        request,
        "reports/compare/pair.html",
        f"Test {results[0].test_id}: which is better?",
        is_fullwidth="1",
        pair=PairItem.of(results, reader),
        issue=results[0].issue,
        mine=mine,
        chosen=_chosen(results, mine) if mine else "",
        form=None if mine else _form(request),
        undo_url=request.session.pop(LAST_PAIR, ""),
        next_url=_next_url(request, results),
        back_url=page_url("compare", runs=_runs_of(request, results), tab=PAIRWISE),
    )


def _results(first: int, second: int, reader: User) -> list[Result]:
    """Return both results, the older first; 404 where the reader may not read them."""
    rows = Result.objects.readable_by(reader).select_related("run", "revision", "answer", "issue")
    found = [get_object_or_404(rows, pk=pk) for pk in sorted((first, second))]
    try:
        ids_of(*found)
    except ValidationError as error:
        raise Http404(" ".join(error.messages)) from None
    return found


def _form(request: HttpRequest) -> VerdictForm:
    options = [Option(choice, is_chosen=False, needs_reason=False) for choice in pair_choices()]
    point = VerdictPoint(
        WHOLE_TEST, options, "", option_name="act", reason_name="reason", title=WHICH
    )
    return VerdictForm(
        id="pair",
        url=request.get_full_path(),
        points=[point],
        hidden={"seconds": ""},
        save="Submit and next",
        is_checked=True,
        is_drafted=False,
    )


def _acted(request: HttpRequest, results: Sequence[Result], ids: Ids) -> HttpResponse:
    """Choose or undo; after a choice, show the next pair with what was chosen."""
    reader, act, here = current_user(request), request.POST.get("act", ""), request.get_full_path()
    is_script = request.headers.get("Accept") == "application/json"
    going = here
    try:
        if act == "undo":
            row = found_pair(*results)
            undone = row and undo(row, by=reader)
            messages.success(request, "Undone." if undone else "There is nothing to undo.")
        else:
            seconds = row_number(request.POST.get("seconds")) or None
            chosen = chosen_as_shown(
                act, ids, reader, reason=request.POST.get("reason", ""), seconds=seconds
            )
            mine = choose(results[0], results[1], chosen, by=reader)
            messages.success(request, _chosen(results, mine))
            record(reader, results=ids)
            request.session[LAST_PAIR] = here
            going = _next_url(request, results)
    except ValidationError as error:
        if is_script:
            return JsonResponse({"problems": error.messages})
        messages.error(request, " ".join(error.messages))
    return JsonResponse({"go": going}) if is_script else HttpResponseRedirect(going)


def _chosen(results: Sequence[Result], mine: PairEvaluation) -> str:
    """Say what was chosen, with the name of the run, and what the judge prefers."""
    better = {PairChoice.FIRST: results[0].run, PairChoice.SECOND: results[1].run}
    run = better.get(PairChoice(mine.choice))
    said = f"You find {run} better." if run else "You find them equal."
    return " ".join(filter(None, [said, _judged(results)]))


def _judged(results: Sequence[Result]) -> str:
    """Say what the newest judge run decided on this pair; "" where none did."""
    runs = [one.run_id for one in results]
    known = judge_runs_over(runs)
    rows = pair_rows(runs, known[0]) if known else []
    ids = {one.pk for one in results}
    outcome = next((row.outcome for row in rows if {row.first, row.second} == ids), None)
    if outcome is None or outcome.judge is None:
        return ""
    if outcome.judge.is_biased:
        return f"{known[0].language_model} changed its choice with the order: position bias."
    winner = {PairChoice.FIRST: results[0].run, PairChoice.SECOND: results[1].run}
    better = winner.get(PairChoice(outcome.judge.choice.value))
    return f"{known[0].language_model} prefers {better or 'neither'}."


def asked_runs(request: HttpRequest) -> list[int]:
    return [row_number(number) for number in request.GET.getlist("runs")][:MAX_COMPARED_RUNS]


def _runs_of(request: HttpRequest, results: Sequence[Result]) -> list[int]:
    """Return the runs in the address, else those of the results."""
    return asked_runs(request) or [one.run_id for one in results]


def _next_url(request: HttpRequest, results: Sequence[Result]) -> str:
    query = "&".join(f"runs={run}" for run in _runs_of(request, results))
    return f"{reverse('reports:compare_next_pair')}?{query}&after={results[0].pk}"


@needs(ADD)
def next_pair(request: HttpRequest) -> HttpResponse:
    """Lead to the reader's next pair of these runs; to the report where none is left."""
    reader = current_user(request)
    asked = asked_runs(request)
    runs = list(Run.objects.filter(pk__in=asked))
    found = _open_pairs(runs, reader)
    after = row_number(request.GET.get("after"))
    if not found:
        messages.success(request, "No pairs are left for you in these runs.")
        return HttpResponseRedirect(page_url("compare", runs=asked, tab=PAIRWISE))
    wanted = next((ids for ids in found if ids[0] > after), found[0])
    query = "&".join(f"runs={run.pk}" for run in runs)
    return HttpResponseRedirect(f"{reverse('reports:compare_pair', args=wanted)}?{query}")


def _open_pairs(runs: Sequence[Run], reader: User) -> list[Ids]:
    """Return the pairs without a choice of the reader, whose texts they may read."""
    pairs = comparable_pairs(runs)
    readable = Result.objects.filter(run__in=runs).readable_by(reader)
    open_to = set(readable.values_list("pk", flat=True)) - hidden_from(reader)
    rows = PairEvaluation.objects.filter(
        annotator=reader, pair__first__run__in=runs, pair__second__run__in=runs
    )
    newest = {
        (first, second): choice
        for first, second, choice in rows.order_by("pk").values_list(
            "pair__first", "pair__second", "choice"
        )
    }
    return [ids for ids in pairs if set(ids) <= open_to and not newest.get(ids)]
