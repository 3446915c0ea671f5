"""Buttons of a run: each calls one function of `runs.lifecycle.control`."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.shortcuts import get_object_or_404

from evalhub.admin_site.pages import PageAdmin, address_back, current_user, row_number
from evalhub.display.formatting import counted
from evalhub.refusals import NotPossible
from runs.judging.activation import set_active
from runs.launching.exposure import CONSENT
from runs.launching.launch_options import LaunchRefused
from runs.lifecycle import control as acts
from runs.models import JudgeRun, Jury, Run

ACTS = ("pause", "resume", "cancel", "retry_errors", "rejudge", "run_checks", "set_active")


def control(request: HttpRequest, run: Run, admin: PageAdmin) -> HttpResponse:
    """Do the act that is posted, then return to `next` or the run's page.

    A link may lead to "Retry failed", which then asks for confirmation.
    """
    if request.method == "GET" and request.GET.get("act") == "retry_errors":
        return _confirm_retry(request, run, admin)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    act, back = request.POST.get("act", ""), address_back(request, run.get_absolute_url())
    if act == "cancel" and "confirmed" not in request.POST:
        return admin.page(
            request,
            "evalhub/confirm.html",
            title=f"Cancel {run}?",
            sentences=[
                "Calls in flight are dropped; saved results stay. You can resume the run later: "
                "only missing calls are made."
            ],
            hidden=[("act", act), ("confirmed", "1"), ("next", back)],
            button="Cancel run",
            danger=True,
            back="Keep running",
            back_url=back,
        )
    if act == "rejudge":
        sealed = acts.sealed_exposure_of_judge_run(run, _jury(request))
        if sealed and request.POST.get(CONSENT) != sealed.key:
            chosen = [("act", act), ("jury", request.POST.get("jury", "")), ("next", back)]
            return admin.page(
                request,
                "evalhub/confirm.html",
                title=f"Re-judge {run}",
                sentences=[f"{sealed}", *sealed.before()],
                hidden=[*chosen, (CONSENT, sealed.key)],
                button="Send and re-judge",
                danger=True,
                back_url=back,
            )
    try:
        messages.success(request, _do(act, request, run))
    except (NotPossible, LaunchRefused) as error:
        messages.error(request, str(error))
    return HttpResponseRedirect(back)


def _confirm_retry(request: HttpRequest, run: Run, admin: PageAdmin) -> HttpResponse:
    failed = acts.retryable_of([run])[run.pk]
    if not failed:
        messages.error(request, f"{run} has no errors to retry.")
        return HttpResponseRedirect(run.get_absolute_url())
    return admin.page(
        request,
        "evalhub/confirm.html",
        title=f"Retry {counted(failed, 'failed result')} of {run}?",
        sentences=["Only the calls that failed are made again. Scored results stay as they are."],
        hidden=[("act", "retry_errors")],
        button="Retry failed",
        back_url=run.get_absolute_url(),
    )


def _jury(request: HttpRequest) -> Jury | None:
    chosen = request.POST.get("jury", "")
    return get_object_or_404(Jury, pk=row_number(chosen)) if chosen else None


def _do(act: str, request: HttpRequest, run: Run) -> str:
    """Call the function of this act and return the message to show."""
    match act:
        case "pause":
            acts.pause_run(run)
            return "Paused. Calls in flight are still saved; no new ones start."
        case "resume":
            acts.resume_run(run)
            return "Resumed. Only missing calls are made."
        case "cancel":
            acts.cancel_run(run)
            return "Cancelled. Saved results stay; you can resume the run."
        case "retry_errors":
            return f"Retrying {counted(acts.retry_errors(run), 'result')}."
        case "rejudge" | "run_checks":
            by, sealed = current_user(request), CONSENT in request.POST
            judge_run = (
                acts.run_checks(run, by=by)
                if act == "run_checks"
                else acts.rejudge(run, _jury(request), by=by, allow_sealed_exposure=sealed)
            )
            return f"Judge run {judge_run.number} started. Review it, then make it active."
        case "set_active":
            number = row_number(request.POST.get("judge_run"))
            judge_run = get_object_or_404(JudgeRun, run=run, pk=number)
            set_active(judge_run)
            return f"Judge run {judge_run.number} is now active and sets the scores."
    raise NotPossible(f"Unknown act {act!r}: use {', '.join(ACTS)}.")
