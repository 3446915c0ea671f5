"""Addresses for edits of selected text by a model, and the models that its menu offers.

Offsets are counted as browsers count them, in UTF-16 units, and converted here.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string

from evalhub.access.sealing.sending_consent import consent_asked
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.pages import bounded_text, current_user, require, row_number
from evalhub.display.word_diff import word_diff
from evalhub.llm.models import LanguageModelQuerySet
from evalhub.llm.security.trusted_network import is_trusted
from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from issues.admin.drafting.button import DRAFT_TESTS
from issues.drafting.edit_prompts import Selection
from issues.drafting.edits import EditWanted, decide, problems_of, propose, undo_last
from issues.models import Draft, Edit, EditAction, EditState, Test

MAX_TEXT = 400_000
MAX_WORDS = 4_000
DECISIONS = {"accept": EditState.ACCEPTED, "reject": EditState.REJECTED}

UNSAVED_SEALED = (
    "This test is to be sealed, and {model} is outside the trusted network. Save the test first: "
    "sending it is logged as an exposure of the saved test."
)


class EditPages(HistoryAdmin):
    """Mixin of the tests' admin."""

    views = {"edit": "edit/"}

    def edit_view(self, request: HttpRequest) -> HttpResponse:
        """Return the menu by GET; by POST propose, accept, reject or undo an edit, as JSON."""
        user = current_user(request)
        require(user.has_perm(DRAFT_TESTS))
        if request.method != "POST":
            models = [{"pk": each.pk, "name": str(each)} for each in _editors()]
            actions = [{"name": name, "label": label} for name, label in EditAction.choices]
            return JsonResponse({"models": models, "actions": actions})
        try:
            match request.POST.get("act"):
                case "propose":
                    return JsonResponse(_proposed(request, user))
                case "undo":
                    return JsonResponse(_undone(request, user))
                case act:
                    return JsonResponse(_decided(request, user, act or ""))
        except Refused as refused:
            return JsonResponse({"error": " ".join(refused.problems)})


def _proposed(request: HttpRequest, user: User) -> dict[str, Any]:
    wanted = _wanted(request, user)
    if problems := problems_of(wanted, user):
        raise Refused(problems)
    if wanted.test is None and request.POST.get("sealed") and not is_trusted(wanted.roles[0][1]):
        raise Refused([UNSAVED_SEALED.format(model=wanted.model)])
    sealed = wanted.sealed
    if asked := consent_asked(sealed, len(sealed), wanted.roles, request.POST.get("consent")):
        return asked
    edit = propose(wanted, by=user)
    diff = word_diff(edit.before, edit.after)
    html = render_to_string("issues/drafting/edit_diff.html", {"diff": diff})
    return {"edit": edit.pk, "after": edit.after, "html": html}


def _wanted(request: HttpRequest, user: User) -> EditWanted:
    sent = request.POST
    model = _editors().filter(pk=row_number(sent.get("model"))).first()
    if model is None:
        raise Refused(["Choose a model. It may have been deactivated since this page was opened."])
    text = sent.get("text", "")[:MAX_TEXT].replace("\r\n", "\n")
    start, end = (offset(text, row_number(sent.get(name))) for name in ("start", "end"))
    sources = _sources(request, user)
    return EditWanted(
        Selection(text, start, end),
        sent.get("action", ""),
        model,
        _field(request),
        bounded_text(sent.get("words"), MAX_WORDS),
        next(iter(sources), None),
        tuple(test.pk for test in sources if test.sealed),
    )


def _editors() -> LanguageModelQuerySet:
    return LanguageModel.objects.active().not_applications()


def _field(request: HttpRequest) -> str:
    return bounded_text(request.POST.get("field"), 120)


def _sources(request: HttpRequest, user: User) -> list[Test]:
    """Return the test that the text is of, or those that its draft derives from, sealed first."""
    if number := row_number(request.POST.get("draft")):
        draft = get_object_or_404(Draft.objects.readable_by(user), pk=number)
        return list(draft.generation.sources.order_by("-sealed", "pk"))
    if number := row_number(request.POST.get("test")):
        return [get_object_or_404(Test.objects.readable_by(user), pk=number)]
    return []


def _decided(request: HttpRequest, user: User, act: str) -> dict[str, Any]:
    if act not in DECISIONS:
        raise Refused([f"There is no act {act!r}."])
    mine = Edit.objects.filter(by=user, state=EditState.PROPOSED)
    proposal = get_object_or_404(mine, pk=row_number(request.POST.get("edit")))
    decide(proposal, DECISIONS[act], by=user)
    return {"done": act}


def _undone(request: HttpRequest, user: User) -> dict[str, Any]:
    text = request.POST.get("text", "")[:MAX_TEXT].replace("\r\n", "\n")
    edit, at = undo_last(_field(request), text, by=user)
    start = units(text[:at])
    return {"start": start, "end": start + units(edit.after), "before": edit.before}


def offset(text: str, sent: int) -> int:
    """Return the place in a text of so many UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * sent].decode("utf-16-le", "replace"))


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
