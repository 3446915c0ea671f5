"""The page that confirms re-judging a run with the jury of another one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from evalhub.admin_site.pages import PageAdmin, address_back, current_user
from evalhub.display.formatting import listed
from evalhub.models import BatchState
from evalhub.refusals import NotPossible
from runs.launching.estimate import rejudge_estimate
from runs.launching.exposure import CONSENT, SealedExposure, exposure_of_judge_run
from runs.lifecycle import control
from runs.models import JudgeRun, Run


def rejudge_page(request: HttpRequest, run: Run, like: Run, admin: PageAdmin) -> HttpResponse:
    """Show jury and cost; on POST, start the judge run and go to `next` or the run's page."""
    back = address_back(request, run.get_absolute_url())
    try:
        jury = control.jury_like(run, like)
        judge_run = control.judged_like(run, like, jury)
        sealed = None if judge_run else exposure_of_judge_run(run, jury)
        if request.method == "POST" and request.POST.get(CONSENT, "") == (
            sealed.key if sealed else ""
        ):
            started = control.rejudge_like(
                run, like, by=current_user(request), allow_sealed_exposure=sealed is not None
            )
            messages.success(request, _done(run, started))
            return HttpResponseRedirect(back)
    except NotPossible as error:
        messages.error(request, str(error))
        return HttpResponseRedirect(back)
    is_done = judge_run is not None and judge_run.state == BatchState.DONE
    return admin.page(
        request,
        "evalhub/confirm.html",
        title=f"Re-judge {run} with the {f'jury of {like}' if like != run else 'same jury'}?",
        sentences=_sentences(run, like, jury, judge_run, sealed),
        hidden=[("next", back), *([(CONSENT, sealed.key)] if sealed else [])],
        button="Make active" if is_done else "Send and re-judge" if sealed else "Re-judge",
        danger=sealed is not None,
        back_url=back,
    )


def _sentences(
    run: Run,
    like: Run,
    jury: dict[str, Any],
    judge_run: JudgeRun | None,
    sealed: SealedExposure | None,
) -> list[str]:
    judges = listed([judge["name"] for judge in jury["judges"]])
    named = f"{jury['name']} ({judges})" if jury["name"] else judges
    becomes = f"It then sets the scores of {run}; its other judge runs are kept."
    if judge_run is not None:
        state = "is done" if judge_run.state == BatchState.DONE else "is in progress"
        return [f"Judge run {judge_run.number} by {named} {state}: no call is made. {becomes}"]
    return [
        f"{named} judged {like}, and will judge the existing answers of {run}"
        f"{' again' if like == run else ''}. The model under test is not called again.",
        str(rejudge_estimate(run, jury)),
        f"Once it is done, the judge run becomes active. {becomes}",
        *([f"{sealed}", *sealed.before()] if sealed else []),
    ]


def _done(run: Run, judge_run: JudgeRun) -> str:
    if judge_run.is_active:
        return f"Judge run {judge_run.number} is now active and sets the scores of {run}."
    return f"Judge run {judge_run.number} of {run} started. It becomes active when it is done."
