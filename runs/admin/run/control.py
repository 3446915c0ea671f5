"""Buttons of a run: each act calls one function of `runs.control`."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.utils.http import url_has_allowed_host_and_scheme

from evalhub.admin_site.pages import row_number
from evalhub.work.progress import NotPossible
from runs import control as acts
from runs.deletion import contents_of
from runs.launching.exposure import CONSENT, SealedExposure
from runs.launching.launch_spec import LaunchRefused
from runs.models import JudgeRun, Jury, Run


def control(request: HttpRequest, run: Run, site: AdminSite) -> HttpResponse:
    """Do the act that is posted, then return to `next` or the run's page."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    act = request.POST.get("act", "")
    if act == "cancel" and "confirmed" not in request.POST:
        return _ask_before_cancel(request, run, site)
    if act == "rejudge" and (sealed := _sealed_exposure(request, run)):
        return _ask_before_exposing(request, run, site, sealed)
    try:
        if act not in ACTS:
            raise NotPossible(f"Unknown act {act!r}: use {', '.join(ACTS)}.")
        messages.success(request, ACTS[act](request, run))
    except (NotPossible, LaunchRefused) as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(_back(request, run))


def _ask_before_cancel(request: HttpRequest, run: Run, site: AdminSite) -> HttpResponse:
    context = {
        **site.each_context(request),
        "title": "Cancel a run",
        "run": run,
        "contents": contents_of(run).items(),
        "next": _back(request, run),
    }
    return TemplateResponse(request, "runs/run/cancel.html", context)


def _sealed_exposure(request: HttpRequest, run: Run) -> SealedExposure | None:
    """Return the exposure that re-judging would cause, unless this very exposure was confirmed."""
    sealed = acts.sealed_exposure_of_judge_run(run, _jury(request))
    is_allowed = sealed is not None and request.POST.get(CONSENT) == sealed.key
    return None if is_allowed else sealed


def _ask_before_exposing(
    request: HttpRequest, run: Run, site: AdminSite, sealed: SealedExposure
) -> HttpResponse:
    asked = [("act", "rejudge"), ("jury", request.POST.get("jury", ""))]
    context = {
        **site.each_context(request),
        "title": f"Re-judge {run}",
        "sentences": [f"{sealed}", *sealed.before()],
        "hidden": [*asked, (CONSENT, sealed.key), ("next", _back(request, run))],
        "button": "Send and re-judge",
        "danger": True,
        "back_url": _back(request, run),
    }
    return TemplateResponse(request, "evalhub/confirm.html", context)


def _jury(request: HttpRequest) -> Jury | None:
    chosen = request.POST.get("jury", "")
    return get_object_or_404(Jury, pk=row_number(chosen)) if chosen else None


def _back(request: HttpRequest, run: Run) -> str:
    wanted = request.POST.get("next", "")
    if wanted and url_has_allowed_host_and_scheme(wanted, {request.get_host()}):
        return wanted
    return str(run.get_absolute_url())


def _pause(request: HttpRequest, run: Run) -> str:
    acts.pause_run(run)
    return "Paused. Calls in flight are still saved; no new ones start."


def _resume(request: HttpRequest, run: Run) -> str:
    acts.resume_run(run)
    return "Resumed. Only missing calls are made."


def _cancel(request: HttpRequest, run: Run) -> str:
    acts.cancel_run(run)
    return "Cancelled. Saved results stay; you can resume the run."


def _retry_errors(request: HttpRequest, run: Run) -> str:
    count = acts.retry_errors(run)
    return f"Retrying {count} result{'s' if count != 1 else ''}."


def _rejudge(request: HttpRequest, run: Run) -> str:
    judge_run = acts.rejudge(
        run,
        _jury(request),
        by=request.user,  # type: ignore[arg-type]
        allow_sealed_exposure=CONSENT in request.POST,
    )
    return f"Judge run {judge_run.number} started. Review it, then set it as active."


def _set_active(request: HttpRequest, run: Run) -> str:
    chosen = request.POST.get("judge_run", "")
    judge_run = get_object_or_404(JudgeRun, run=run, pk=row_number(chosen))
    acts.set_active(judge_run)
    return f"Judge run {judge_run.number} is now active and sets the scores."


ACTS: dict[str, Callable[[HttpRequest, Run], str]] = {
    "pause": _pause,
    "resume": _resume,
    "cancel": _cancel,
    "retry_errors": _retry_errors,
    "rejudge": _rejudge,
    "set_active": _set_active,
}
