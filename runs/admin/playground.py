"""“Try it” on the form of a test: models and judges on the test as typed."""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db.models import Sum
from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from evalhub.access.sealed_exposure import Role, record_sendings, sealed_exposure
from evalhub.admin_site.contributions import Contribution, contribute
from evalhub.admin_site.pages import current_user, row_number
from evalhub.formatting import counted, usd
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.trusted_network import is_trusted
from evalhub.models import Call, LanguageModel, User
from evalhub.work.budget import Budget, Gate
from evalhub.work.direct_caller import DirectCaller
from evalhub.work.errors import GivenBack
from evalhub.work.shared_rate import cut, read_shared
from issues.admin.rubric.preview import draft_of
from issues.models import JudgeTemplate, TemplateState, Test
from issues.rubrics.siblings import siblings_of
from issues.states import Refused
from runs.models import Jury
from runs.playground.acts import Act, act_of
from runs.playground.event_stream import Emit, line, streamed

TRY_TEST = "issues.try_test"
NO_WORKER = 0

UNSAVED_SEALED = (
    "This test is to be sealed, and {names} is outside the trusted network. Save the test first: "
    "sending it is logged as an exposure of the saved test."
)


def try_view(model_admin: Any, request: HttpRequest) -> StreamingHttpResponse:
    """Do what the sent form asks for; stream its events as lines of JSON."""
    user = current_user(request)
    number = row_number(request.POST.get("try-test"))
    test = get_object_or_404(Test.objects.readable_by(user), pk=number) if number else None
    if test is None:
        writes = model_admin.has_add_permission(request)
    else:
        writes = model_admin.has_change_permission(request, test)
    if request.method != "POST" or not writes or not user.has_perm(TRY_TEST):
        raise PermissionDenied
    draft = draft_of(request.POST)._replace(test_id=test.pk if test else None, reader=user)
    try:
        act = act_of(request.POST, draft, test, user)
        if test is None and request.POST.get("sealed"):
            _refuse_outside(act.roles)
    except Refused as error:
        return _response(iter([line({"error": " ".join(error.problems)})]))
    exposure = sealed_exposure(act.sealed, act.tests, act.roles)
    if exposure and request.POST.get("try-consent") != exposure.key:
        words = f"{exposure} {' '.join(exposure.before())}"
        return _response(iter([line({"consent": exposure.key, "words": words})]))
    record_sendings(act.sealed, act.roles, by=user)
    models = [endpoint.language_model_id for _, endpoint in act.roles]
    caller = DirectCaller(
        work_key=_work_key(user),
        item_id=number or None,
        gate=_gate(user),
        shared=read_shared(dict.fromkeys(models), NO_WORKER),
    )
    save = partial(_save, caller)
    return _response(streamed(partial(_performed, act, caller), at_end=save))


async def _performed(act: Act, caller: DirectCaller, emit: Emit) -> None:
    try:
        await act.work(caller, emit)
    except CallError as error:
        emit({"error": error.message})
    except GivenBack:
        emit(
            {
                "error": "The next call could exceed your limit for trying tests, "
                f"{settings.EVALHUB_TRY_LIMIT_USD} USD per day. Choose a cheaper model, or ask an "
                "administrator to raise EVALHUB_TRY_LIMIT_USD."
            }
        )
    emit({"cost": _cost_words(caller.calls)})


def _cost_words(calls: list[Call]) -> str:
    """Return calls and their cost, such as “2 calls, 0.0013 USD”."""
    costs = [c.cost_usd for c in calls if c.error_kind != CallErrorKind.RATE_LIMITED]
    known = [cost for cost in costs if cost is not None]
    cost = usd(sum(known, Decimal(0))) if len(known) == len(costs) else "cost not known"
    return f"{counted(len(calls), 'call')}, {cost}"


def _response(lines: Iterator[bytes]) -> StreamingHttpResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(lines, content_type="application/x-ndjson", headers=headers)


# Cost and exposure -------------------------------------------------------------------------------


def _work_key(user: User) -> str:
    return f"try {user.pk}"


def _gate(user: User) -> Gate:
    """Return the gate of what this user may still spend today."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    calls = Call.objects.filter(batch=_work_key(user), started_at__gte=midnight)
    spent = calls.aggregate(total=Sum("cost_usd"))["total"] or 0
    return Gate(Budget(allowance_usd=float(settings.EVALHUB_TRY_LIMIT_USD) - float(spent)))


def _save(caller: DirectCaller) -> None:
    Call.objects.bulk_create(caller.calls)
    for model, retry_after_s in caller.rate_limited.items():
        cut(model, retry_after_s)


def _refuse_outside(roles: list[Role]) -> None:
    outside = [endpoint.name for _, endpoint in roles if not is_trusted(endpoint)]
    if outside:
        raise Refused([UNSAVED_SEALED.format(names=", ".join(dict.fromkeys(outside)))])


# The pane ----------------------------------------------------------------------------------------


def pane(request: HttpRequest, test: Test | None) -> str:
    """Return the pane's HTML; "" for users who cannot edit this test."""
    user = current_user(request)
    verb = "change" if test else "add"
    if not user.has_perm(f"issues.{verb}_test"):
        return ""
    others = siblings_of(test.issue, user) if test else []
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED)
    return render_to_string(
        "runs/playground/pane.html",
        {
            "test": test,
            "url": reverse("admin:issues_test_try"),
            "models": LanguageModel.objects.active(),
            "juries": Jury.objects.filter(is_active=True),
            "templates": published.order_by("title", "-version"),
            "others": sum(1 for each in others if test and each.pk != test.pk),
        },
        request=request,
    )


contribute(
    Contribution(permission=TRY_TEST, form_section=pane, views=(("try/", try_view, "try"),)), Test
)
