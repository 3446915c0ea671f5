"""Board of issues: a column per state, with cards to drag or move by key."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.admin.options import IncorrectLookupParameters
from django.db import transaction
from django.db.models import (
    Case,
    Count,
    IntegerField,
    QuerySet,
    Value,
    When,
    prefetch_related_objects,
)
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.utils.timezone import localtime

from evalhub.admin_site.lists import PageChangeList
from evalhub.admin_site.pages import bounded_text, current_user, require, row_number
from evalhub.history import save_signed
from evalhub.refusals import Refused
from issues.admin.badges import badge_of
from issues.admin.state_pages import StateAdmin
from issues.lifecycle import states
from issues.lifecycle.moves_with_tests import move_with_tests, said_of, undo_with_tests, undone_text
from issues.lifecycle.states import ISSUE_MOVES, MAX_REASON, Actor, Move
from issues.limits import BOARD_CARDS
from issues.models import Issue, IssueState, ResolutionLabel, Severity


class Card(NamedTuple):
    """A card; `back` and `on` are the states before and after the issue's, "" for none."""

    issue: Any
    figure: str
    back: str
    on: str
    may_move_back: bool
    may_move_on: bool

    @property
    def move_back_label(self) -> str:
        return IssueState(self.back).label.lower() if self.back else ""

    @property
    def move_on_label(self) -> str:
        return IssueState(self.on).label.lower() if self.on else ""


def move_to(state: str, target: str) -> Move | None:
    """Return the move between two states, None for none."""
    moves = (move for move in ISSUE_MOVES if state in move.rights and move.target == target)
    return next(moves, None)


def neighbour(state: str, step: int) -> str:
    """Return the nearest reachable state before (-1) or after (1), "" for none."""
    order = [str(value) for value in IssueState]
    place = order.index(state)
    others = order[place + 1 :] if step > 0 else order[:place][::-1]
    return next((other for other in others if move_to(state, other)), "")


def cards_of(issues: Sequence[Any], figures: Mapping[int, str], user: Actor) -> Iterator[Card]:
    """Make a card for each issue; `figures` are texts about runs by issue id."""
    for issue in issues:
        back, on = neighbour(issue.state, -1), neighbour(issue.state, 1)
        may_move_back, may_move_on = _may(issue, back, user), _may(issue, on, user)
        yield Card(issue, figures.get(issue.pk, ""), back, on, may_move_back, may_move_on)


def _may(issue: Issue, target: str, user: Actor) -> bool:
    move = move_to(issue.state, target)
    return move is not None and states.may(move, issue, user)


def why_not(issue: Issue, target: str, move: Move | None) -> str:
    """Explain why this user cannot move the issue there."""
    now = issue.get_state_display().lower()
    if issue.merged_into is not None:
        return f"{issue} was merged into {issue.merged_into}. Undo the merge first."
    if move is not None:
        return f"To {move.label.lower()} {issue}, you need the right to approve issues."
    known = target in IssueState.values
    to = IssueState(target).label.lower() if known else "an unknown state"
    leads = " or ".join(m.target.replace("_", " ") for m in ISSUE_MOVES if issue.state in m.rights)
    return f"{issue} cannot move from {now} to {to}. It can move to {leads}."


STATE_FILTER = "state__exact"
LOOKUPS = {"p", "o", "e", "all", STATE_FILTER}
"""List parameters without effect on the board."""


class BoardChangeList(PageChangeList):
    """The list's filters and search without its page of rows."""

    def get_results(self, request: HttpRequest) -> None:
        self.result_count = self.full_result_count = 0
        self.result_list: Any = self.root_queryset.none()
        self.show_all = self.multi_page = self.can_show_all = self.show_full_result_count = False


class Boarding(StateAdmin):
    """Board views of the issue admin."""

    views = {"board": "board/"}
    post_views = {"board_act": "board/act/"}

    def figures_of(self, request: HttpRequest, issues: Sequence[Issue]) -> dict[int, str]:
        """Return the contributed columns' texts by issue, each after its heading."""
        return {
            key: f"{column.short_description}: {text}"
            for column in self.contributed_columns(request)
            for key, text in column.texts_of(issues).items()
        }

    def board_view(self, request: HttpRequest) -> HttpResponse:
        require(self.has_view_permission(request))
        query = request.GET.copy()
        for name in LOOKUPS & set(query):
            del query[name]
        request.GET = query  # type: ignore[assignment]
        try:
            filtered = self._filtered(request)
        except IncorrectLookupParameters:
            return HttpResponseRedirect(self.url_of("board"))
        return self.page(
            request,
            "issues/board.html",
            title="Issue board",
            columns=self._columns(request, filtered.queryset, query.urlencode()),
            filters=[chip for chip in filtered.chips if chip.name != STATE_FILTER],
            words=filtered.query,
            is_filtered=filtered.has_active_filters or bool(filtered.query),
            query=query.urlencode(),
            may_change=self.has_change_permission(request),
            labels=ResolutionLabel.objects.all(),
            longest_reason=MAX_REASON - len("Deprecate: "),
        )

    def _filtered(self, request: HttpRequest) -> BoardChangeList:
        return BoardChangeList(
            request,
            self.model,
            ("title",),
            (),
            self.get_list_filter(request),
            None,
            self.get_search_fields(request),
            self.list_select_related,
            BOARD_CARDS,
            BOARD_CARDS,
            (),
            self,
            (),
            self.search_help_text,
        )

    def _columns(
        self, request: HttpRequest, rows: QuerySet[Any], query: str
    ) -> list[dict[str, Any]]:
        found = Issue.objects.filter(pk__in=rows.order_by().values("pk"))
        counted = found.order_by().values("state").annotate(n=Count("pk"))
        totals = {row["state"]: row["n"] for row in counted}
        shown = {
            state: self._first(rows, state) if totals.get(state) else [] for state in IssueState
        }
        issues = [issue for part in shown.values() for issue in part]
        prefetch_related_objects(issues, "tags")
        made = cards_of(issues, self.figures_of(request, issues), current_user(request))
        cards = {card.issue.pk: card for card in made}
        return [
            {
                "state": state,
                "label": state.label.lower(),
                "badge": badge_of(state),
                "total": totals.get(state, 0),
                "cards": [cards[issue.pk] for issue in part],
                "list_query": f"{query}&{STATE_FILTER}={state}".lstrip("&"),
                "is_open": state != IssueState.DEPRECATED,
            }
            for state, part in shown.items()
        ]

    def _first(self, rows: QuerySet[Any], state: str) -> list[Any]:
        """Return the most severe issues of a state, recently changed first."""
        ranks = [When(severity=severity, then=Value(n)) for n, severity in enumerate(Severity)]
        rank = Case(*ranks, output_field=IntegerField())
        ordered = rows.filter(state=state).order_by(rank.desc(), "-updated_at", "-pk")
        related = ordered.prefetch_related(None).select_related("assignee", "merged_into")
        return list(related[:BOARD_CARDS])

    def board_act_view(self, request: HttpRequest) -> JsonResponse:
        """Move a card, undo a move, or assign it; return the card as it then is."""
        require(self.has_change_permission(request))
        key, act = row_number(request.POST.get("issue")), request.POST.get("act", "")
        acts = {"move": self._move_card, "undo": self._undo_card, "assign": self._assign_card}
        if act not in acts or not Issue.objects.filter(pk=key).exists():
            problem = f"There is no issue {key} or no action “{act[:20]}”. Reload the board."
            return JsonResponse({"problems": [problem]}, status=404)
        try:
            with transaction.atomic():
                issue = Issue.objects.select_for_update().get(pk=key)
                answer = acts[act](request, issue)
        except Refused as error:
            answer = {"problems": error.problems}
        rows = self.get_queryset(request).select_related("assignee", "merged_into")
        issue = rows.get(pk=key)
        (card,) = cards_of([issue], self.figures_of(request, [issue]), current_user(request))
        shown = {"card": card, "may_change": True}
        answer["card"] = render_to_string("issues/board_card.html", shown, request)
        return JsonResponse(answer, status=409 if "problems" in answer else 200)

    def _move_card(self, request: HttpRequest, issue: Issue) -> dict[str, Any]:
        _as_seen(issue, request.POST.get("from", ""))
        target = request.POST.get("to", "")
        move = move_to(issue.state, target)
        if move is None or not states.may(move, issue, current_user(request)):
            raise Refused([why_not(issue, target, move)])
        if move.readiness and (problems := states.problems_of(issue)):
            raise Refused([f"{issue} cannot be {move.done} yet.", *problems])
        if move.confirmed and request.POST.get("confirmed") != "yes":
            counted = self.get_queryset(request).get(pk=issue.pk)
            sentences = [f"“{issue}” will be {move.done}.", *self.consequences(counted, move)]
            return {"ask": move.name, "sentences": sentences}
        along = ""
        if move.name == "resolve":
            keys = [row_number(key) for key in request.POST.getlist("labels")]
            labels = ResolutionLabel.objects.filter(pk__in=keys)
            note = bounded_text(request.POST.get("note"), 20_000)
            states.resolve(issue, labels=labels, note=note, by=current_user(request))
        else:
            reason = bounded_text(request.POST.get("reason"), MAX_REASON)
            moved = move_with_tests(issue, move.name, by=current_user(request), reason=reason)
            along = said_of(moved, move.done)
        return {"said": f"{issue} is {move.done}.{along}", "can_undo": True}

    def _undo_card(self, request: HttpRequest, issue: Issue) -> dict[str, Any]:
        undone, tests = undo_with_tests(issue, by=current_user(request))
        return {"said": undone_text(issue, undone, tests)}

    def _assign_card(self, request: HttpRequest, issue: Issue) -> dict[str, Any]:
        user, was = current_user(request), row_number(request.POST.get("was")) or None
        if issue.assignee_id != was:
            who = issue.assignee or "nobody"
            raise Refused([f"{issue} was assigned to {who} in the meantime."])
        issue.assignee = None if was == user.pk else user
        save_signed(issue, user, "Assigned on the board")
        return {"said": f"{issue} is assigned to {issue.assignee or 'nobody'}."}


def _as_seen(issue: Issue, state: str) -> None:
    """Refuse to move a card that somebody else has moved since the board was loaded."""
    if issue.state == state:
        return
    made, _ = states.last_move(issue)
    who = (made and made.history_user) or "Somebody"
    at = f" at {localtime(made.history_date):%H:%M}" if made else ""
    now = issue.get_state_display().lower()
    raise Refused([f"{who} moved {issue} in the meantime{at}: it is now {now}. Check it again."])
