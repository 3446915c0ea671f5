"""“Try it” on the form of a test: models and judges on the test as typed."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from evalhub.access.sealing.sending_consent import Role
from evalhub.admin_site.contributions import Contribution, contribute
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.llm.security.trusted_network import is_trusted
from evalhub.models import LanguageModel
from evalhub.refusals import Refused
from issues.admin.rubric.preview import draft_of
from issues.models import JudgeTemplate, TemplateState, Test
from issues.rubrics.siblings import open_tests_of
from runs.laboratory.direct_calls import TRY_TEST, caller_of, events_of, tried
from runs.laboratory.playground.try_it import Act, act_of
from runs.models import Jury

UNSAVED_SEALED = (
    "This test is to be sealed, and {names} is outside the trusted network. Save the test first: "
    "sending it is logged as an exposure of the saved test."
)


@method_decorator(require_POST)
def try_view(model_admin: Any, request: HttpRequest) -> StreamingHttpResponse:
    """Do what the sent form asks for; stream its events as lines of JSON."""
    user = current_user(request)
    test = _test_written(model_admin, request, request.POST.get("try-test"))
    draft = draft_of(request.POST)._replace(test_id=test.pk if test else None, reader=user)

    def wanted() -> Act:
        act = act_of(request.POST, draft, test, user)
        if test is None and request.POST.get("sealed"):
            _refuse_outside(act.roles)
        return act

    def lines(act: Act) -> Iterator[bytes]:
        return events_of(act.work, caller_of(user, act.roles, item_id=test.pk if test else None))

    return tried(wanted, lines, by=user, consent=request.POST.get("try-consent"))


def _test_written(model_admin: Any, request: HttpRequest, sent: str | None) -> Test | None:
    """Return the test that a user writes and may try, by its number; None for a new one."""
    user, number = current_user(request), row_number(sent)
    test = get_object_or_404(Test.objects.readable_by(user), pk=number) if number else None
    if test is None:
        writes = model_admin.has_add_permission(request)
    else:
        writes = model_admin.has_change_permission(request, test)
    require(writes, user.has_perm(TRY_TEST))
    return test


def _refuse_outside(roles: list[Role]) -> None:
    outside = [endpoint.name for _, endpoint in roles if not is_trusted(endpoint)]
    if outside:
        raise Refused([UNSAVED_SEALED.format(names=", ".join(dict.fromkeys(outside)))])


# The pane ----------------------------------------------------------------------------------------


def pane(request: HttpRequest, test: Test | None) -> str:
    """Return the pane's place, whose form is asked for when it is seen.

    It is "" for users who cannot edit this test.
    """
    verb = "change" if test else "add"
    if not current_user(request).has_perm(f"issues.{verb}_test"):
        return ""
    return render_to_string("runs/laboratory/playground/pane.html", {"test": test})


def pane_view(model_admin: Any, request: HttpRequest) -> TemplateResponse:
    """Return the pane's form."""
    user = current_user(request)
    test = _test_written(model_admin, request, request.GET.get("test"))
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED)
    shown = {
        "test": test,
        "models": LanguageModel.objects.active().only("name", "is_scripted"),
        "juries": Jury.objects.filter(is_active=True).only("name"),
        "templates": published.order_by("title", "-version").only("title", "version"),
        "others": open_tests_of(test.issue, user).exclude(pk=test.pk).count() if test else 0,
    }
    return TemplateResponse(request, "runs/laboratory/playground/pane_form.html", shown)


VIEWS = (("try/", try_view, "try"), ("try/pane/", pane_view, "try_pane"))
contribute(Contribution(permission=TRY_TEST, form_section=pane, views=VIEWS), Test)
