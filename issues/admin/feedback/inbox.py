"""Feedback inbox: triage one item after another by key.

Every action is a POST of one form. A script sends it and swaps in the returned part of the page;
without a script, the browser loads the next page.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from evalhub.access.models import User
from evalhub.access.request_limits import expensive
from evalhub.admin_site.edit_conflicts import (
    Conflict,
    Shown,
    conflicts_in,
    last_change,
    read_seen,
    refusal,
    seen_of,
)
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.pages import bounded_text, current_user, require, row_number
from evalhub.display.formatting import counted
from evalhub.display.hidden_signs import with_hidden_signs
from evalhub.display.markup import model_markdown
from evalhub.llm.content.content_parts import all_images
from evalhub.refusals import Refused
from issues.admin.inlines import link_to
from issues.content.feedback_content import TEXTS, TRIAGE
from issues.content.feedback_messages import turns_of
from issues.judge_templates.prompts import conversation_text
from issues.limits import SIMILAR_ISSUES
from issues.models import Feedback, FeedbackState, Issue, Tag
from issues.similarity.search import FEEDBACK, ISSUE, LONGEST, issues_named, similar, text_of
from issues.tags import suggested
from issues.triage.actions import (
    TRIAGED,
    attach,
    issue_and_test_from,
    issue_from,
    locked,
    mark_duplicate,
    set_state,
    test_of,
)
from issues.triage.inbox import InboxFilter, filter_of, filter_options, next_after, position_at
from issues.triage.undo import last_act, undo_last

MAX_TAG_SOURCES = 8
"""Number of similar issues whose tags are suggested."""
COMPARED = {"issue": ("title", "description"), "feedback": ("comment", "prompt")}
"""Fields of the forms of new rows that are compared while they are typed."""
SHORTEST_COMPARED = 8
MAX_NOTE = 2000
SHOWN = (*TEXTS, *TRIAGE)
"""Fields that a reader of the inbox judges by."""

Message = str | SafeString


def settle(feedback: Feedback, sent: Any, by: User) -> Message:
    """Accept or dismiss it."""
    state = FeedbackState.ACCEPTED if sent["act"] == "accept" else FeedbackState.DISMISSED
    set_state([feedback], state, by=by, note=_note(sent))
    return f"{state.label}."


def attach_to_issue(feedback: Feedback, sent: Any, by: User) -> Message:
    issue = get_object_or_404(Issue, pk=row_number(sent.get("attach")))
    issue = attach(feedback, issue, by=by)
    return _linked("Attached to", issue)


def duplicate(feedback: Feedback, sent: Any, by: User) -> Message:
    readable = Feedback.objects.readable_by(by).select_related("duplicate_of", "issue")
    original = get_object_or_404(readable, pk=row_number(sent.get("duplicate")))
    original = mark_duplicate(feedback, original, by=by)
    return _linked("Marked as a duplicate of", original)


def create_issue(feedback: Feedback, sent: Any, by: User) -> Message:
    issue = issue_from(feedback, by=by, tags=_tags(sent))
    return _linked("Draft issue created:", issue)


def create_test(feedback: Feedback, sent: Any, by: User) -> Message:
    """Create a test of the chosen issue, of the feedback's own, or of a new one."""
    if pk := row_number(sent.get("test_of")):
        test = test_of(feedback, get_object_or_404(Issue, pk=pk), by=by)
    else:
        test = issue_and_test_from(feedback, by=by, tags=_tags(sent))
    return _linked("Draft test created:", test)


ACTIONS: dict[str, tuple[Callable[[Feedback, Any, User], Message], str]] = {
    "accept": (settle, ""),
    "dismiss": (settle, ""),
    "attach": (attach_to_issue, ""),
    "duplicate": (duplicate, ""),
    "issue": (create_issue, "issues.add_issue"),
    "test": (create_test, "issues.add_test"),
    "test_of": (create_test, "issues.add_test"),
}
"""Actions, each with the right that it requires besides changing feedback."""


class FeedbackInbox(HistoryAdmin):
    """Pages of the inbox, and suggestions beside forms."""

    views = {"inbox": "inbox/", "issues": "issues/"}
    post_views = {"inbox_act": "inbox/act/", "similar": "similar/"}

    class Media:
        css = {"all": ("evalhub/triage.css",)}
        js = ("evalhub/similar.js",)

    def inbox_view(self, request: HttpRequest) -> HttpResponse:
        """Show the new feedback, and one item to triage."""
        require(self.has_view_permission(request))
        item = row_number(request.GET.get("item"))
        return self._inbox_page(request, filter_of(request.GET), item)

    def inbox_act_view(self, request: HttpRequest) -> HttpResponse:
        """Triage one item or undo the last action, then show the next."""
        require(self.has_change_permission(request))
        choice = filter_of(request.POST)
        act = _act_in(request)
        if act == "undo":
            return self._undo(request, choice)
        item = row_number(request.POST.get("item"))
        if not Feedback.objects.readable_by(request.user).filter(pk=item).exists():
            raise Http404(f"There is no feedback {item} that you can read.")
        return self._triage_one(request, choice, item, act)

    def issues_view(self, request: HttpRequest) -> HttpResponse:
        """Return issues by title or number, as a part of the inbox."""
        require(self.has_view_permission(request), request.user.has_perm("issues.view_issue"))
        context = {
            "issues": issues_named(bounded_text(request.GET.get("q"), 200)),
            "may_triage": self.has_change_permission(request),
            "may_add_test": request.user.has_perm("issues.add_test"),
            "looked_for": True,
        }
        return TemplateResponse(request, "issues/_similar_issues.html", context)

    @expensive
    def similar_view(self, request: HttpRequest) -> HttpResponse:
        """Return rows similar to a form being typed. POST, so that no log holds its texts."""
        require(self.has_view_permission(request))
        form = request.POST.get("form", "")
        typed = (request.POST.get(name, "") for name in COMPARED.get(form, ()))
        text = bounded_text("\n".join(typed), LONGEST)
        context: dict[str, Any] = {"form": form}
        if len(text) >= SHORTEST_COMPARED:
            alike = similar(text, reader=current_user(request), limit=MAX_TAG_SOURCES)
            issues = {one.pk: one.score for one in alike if one.kind == ISSUE}
            context |= {"alike": alike[:SIMILAR_ISSUES], "tags": suggested(text, issues)}
        return TemplateResponse(request, "issues/_similar_suggestions.html", context)

    def _triage_one(
        self, request: HttpRequest, choice: InboxFilter, item: int, act: str
    ) -> HttpResponse:
        do, right = ACTIONS[act]
        require(not right or request.user.has_perm(right))
        require(act != "test" or request.user.has_perm("issues.add_issue"))
        conflicts: list[Conflict] = []
        try:
            with transaction.atomic():
                user = current_user(request)
                feedback, mine = locked(item), _wanted(act, request.POST)
                seen = read_seen(request.POST)
                conflicts = conflicts_in(feedback, SHOWN, seen, mine, inputs=("note",))
                if conflicts:
                    raise Refused([refusal(last_change(feedback, user), "repeat your choice")])
                said = do(feedback, request.POST, user)
        except Refused as error:
            self.say(request, *error.problems)
            return self._inbox_page(request, choice, item, conflicts=conflicts)
        self.say_done(request, said)
        return self._next_page(request, choice, next_after(current_user(request), choice, item))

    def _undo(self, request: HttpRequest, choice: InboxFilter) -> HttpResponse:
        user, item = current_user(request), row_number(request.POST.get("item"))
        act = last_act(user)
        require(not act or Feedback.objects.readable_by(user).filter(pk=act.id).exists())
        with self.refusals_shown(request):
            undone = undo_last(by=user)
            item = undone.feedback.pk
            is_draft = act.history_change_reason.startswith(f"{TRIAGED}Made")
            fate = "was deleted" if undone.deletes_draft else "remains, because it has been used"
            draft = f" The draft created from it {fate}." if is_draft else ""
            self.say_done(request, f"Undone: feedback {item} is as it was before.{draft}")
        return self._next_page(request, choice, item)

    def _next_page(self, request: HttpRequest, choice: InboxFilter, item: int) -> HttpResponse:
        if _is_part(request):
            return self._inbox_page(request, choice, item)
        return HttpResponseRedirect(f"{self.url_of('inbox')}?item={item}{choice.query}")

    def _inbox_page(
        self,
        request: HttpRequest,
        choice: InboxFilter,
        item: int,
        *,
        conflicts: Sequence[Conflict] | None = None,
    ) -> TemplateResponse:
        """Show an item. `conflicts`: of an act that was refused, whose input is kept; or None."""
        reader = current_user(request)
        place = position_at(reader, choice, item)
        context: dict[str, Any] = {
            "place": place,
            "choice": choice,
            "choice_fields": list(choice._asdict().items()),
            "filter_options": filter_options(reader),
            "note": "" if conflicts is None else _note(request.POST),
            "chosen_tags": [] if conflicts is None else _tags(request.POST),
            "conflicts": conflicts,
            "may_triage": self.has_change_permission(request),
            "may_add_issue": reader.has_perm("issues.add_issue"),
            "may_add_test": reader.has_perm("issues.add_test"),
            "inbox_url": self.url_of("inbox"),
            "act_url": self.url_of("inbox_act"),
            "list_url": self.url_of("changelist"),
            "query": urlencode({"item": place.item.pk if place.item else ""}) + choice.query,
        }
        if place.item:
            context |= _about(place.item, reader)
        if _is_part(request):
            context |= {"said": messages.get_messages(request), "is_part": True}
            return TemplateResponse(request, "issues/_feedback_inbox.html", context)
        page = "issues/feedback_inbox.html"
        return self.page(request, page, title="Inbox", crumb="Inbox", **context)


def _about(feedback: Feedback, reader: User) -> dict[str, Any]:
    """Return the context for one feedback item."""
    text = text_of(feedback)
    besides = (FEEDBACK, feedback.pk)
    alike = similar(text, reader=reader, limit=MAX_TAG_SOURCES, besides=besides)
    issues = [one for one in alike if one.kind == ISSUE]
    return {
        "item": feedback,
        "seen": seen_of([feedback], SHOWN),
        "panels": [
            _asked(feedback),
            ("Answer", _raw(feedback.answer), _formatted(feedback.answer)),
        ],
        "issues": issues[:SIMILAR_ISSUES],
        "others": [one for one in alike if one.kind == FEEDBACK][:SIMILAR_ISSUES],
        "tags": suggested(text, {one.pk: one.score for one in issues}),
        "duplicates": feedback.duplicates.count(),
    }


def _asked(feedback: Feedback) -> tuple[str, SafeString, SafeString]:
    """Return the panel of what was asked: the prompt, or each turn of a conversation."""
    if not feedback.messages:
        return "Prompt", _raw(feedback.prompt), _formatted(feedback.prompt)
    turns = turns_of(feedback.messages)
    written = [(role, _formatted(text)) for role, text in turns]
    context = {"turns": written, "images": all_images(feedback.messages)}
    shown = render_to_string("issues/feedback_turns.html", context)
    raw = _raw(conversation_text(feedback.messages))
    return f"Conversation ({counted(len(turns), 'message')})", raw, shown


def _wanted(act: str, sent: Any) -> dict[str, Shown]:
    """Return what an action would save, by field."""
    state = {"dismiss": FeedbackState.DISMISSED, "duplicate": FeedbackState.DUPLICATE}.get(
        act, FeedbackState.ACCEPTED
    )
    wanted = {"state": Shown([state.value], state.label)}
    if note := _note(sent).strip():
        wanted["note"] = Shown([note], note)
    if act in ("attach", "test_of"):
        issue = Issue.objects.filter(pk=row_number(sent.get(act))).first()
        wanted["issue"] = Shown([sent[act]], str(issue or ""))
    elif act in ("issue", "test"):
        wanted["issue"] = Shown([], "a new issue")
    elif act == "duplicate":
        wanted["duplicate_of"] = Shown([sent[act]], f"feedback {sent[act]}")
    return wanted


def _act_in(request: HttpRequest) -> str:
    """Return the action named by a button; some carry the target row as their value."""
    named = [name for name in ("attach", "duplicate", "test_of") if name in request.POST]
    act = named[0] if named else request.POST.get("act", "")
    if act not in {*ACTIONS, "undo"}:
        raise Http404(f"There is no action {act!r}.")
    return act


def _is_part(request: HttpRequest) -> bool:
    """Return True if a script requests only the changing part of the page."""
    return request.headers.get("X-Requested-With") == "fetch"


def _raw(text: str) -> SafeString:
    return mark_safe(with_hidden_signs(text))


def _formatted(text: str) -> SafeString:
    return mark_safe(model_markdown(text))


def _tags(sent: Any) -> list[Tag]:
    return list(Tag.objects.filter(pk__in=[row_number(pk) for pk in sent.getlist("tags")]))


def _note(sent: Any) -> str:
    return bounded_text(sent.get("note"), MAX_NOTE)


def _linked(text: str, row: Any) -> SafeString:
    end = "" if str(row).endswith((".", "!", "?")) else "."
    return format_html("{} {}{}", text, link_to(row), end)
