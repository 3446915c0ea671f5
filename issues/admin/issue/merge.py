"""Merge issues side by side, choosing what to keep of each, and undo a merge."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.edit_conflicts import (
    Conflict,
    conflicts_in,
    last_change,
    read_seen,
    refusal,
    seen_of,
)
from evalhub.admin_site.pages import bounded_text, current_user, require, row_number
from evalhub.refusals import Refused
from issues.admin.inlines import link_to
from issues.admin.state_pages import StateAdmin
from issues.lifecycle.merging import (
    FIELDS,
    LABELS,
    MOVERS,
    active_merge,
    may_merge,
    merge,
    problems_of,
    shown,
    undo_merge,
)
from issues.limits import MAX_MERGED_ISSUES
from issues.models import Issue

SHOWN = (*FIELDS, "state")
MAX_FOUND = 12


class Merging(StateAdmin):
    """Merge views of the issue admin."""

    views = {"merge": "merge/", "unmerge": "<int:object_id>/unmerge/"}

    @admin.action(permissions=["change"], description="Merge …")
    def merge_selected(
        self, request: HttpRequest, queryset: QuerySet[Issue]
    ) -> HttpResponse | None:
        keys = list(queryset.order_by("pk").values_list("pk", flat=True)[: MAX_MERGED_ISSUES + 1])
        if len(keys) < 2 or len(keys) > MAX_MERGED_ISSUES:
            self.say(request, f"Choose 2 to {MAX_MERGED_ISSUES} issues to merge.")
            return None
        return HttpResponseRedirect(merge_url(keys))

    def merge_buttons(self, request: HttpRequest, issue: Issue) -> list[Button]:
        """Buttons of an issue's page."""
        if not self.has_change_permission(request, issue):
            return []
        if issue.merged_into is None:
            return [Button("Merge …", merge_url([issue.pk]), is_link=True)]
        return [Button("Undo merge …", self.url_of("unmerge", issue.pk), is_link=True)]

    def merge_facts(self, issue: Issue) -> list[str]:
        """Links to the issue it was merged into, and to those merged into it."""
        facts: list[str] = []
        if issue.merged_into is not None:
            facts.append(format_html("merged into {}", link_to(issue.merged_into)))
        if merged := issue.merged.order_by("pk").only("title"):
            links = format_html_join(", ", "{}", ((link_to(other),) for other in merged))
            facts.append(format_html("merged here: {}", links))
        return facts

    def merge_view(self, request: HttpRequest) -> HttpResponse:
        """Show issues side by side (GET); merge them (POST)."""
        require(self.has_change_permission(request))
        sent = request.POST if request.method == "POST" else request.GET
        issues = self._chosen(request, sent.getlist("issue"))
        if len(issues) < 2:
            return self._choose_another(request, issues)
        kept = _kept_of(issues, row_number(sent.get("kept")))
        if request.method != "POST":
            return self._side_by_side(request, issues, kept)
        try:
            with transaction.atomic():
                if changed := _changed(request, issues):
                    user = current_user(request)
                    who = "; ".join(f"Issue {i.pk}: {last_change(i, user)}" for i in changed)
                    conflicts = [each for found in changed.values() for each in found]
                    problems = [refusal(who, "merge")]
                    return self._side_by_side(request, issues, kept, problems, conflicts)
                self._merge(request, issues, kept)
        except Refused as error:
            return self._side_by_side(request, issues, kept, error.problems)
        return HttpResponseRedirect(self.url_of("change", kept.pk))

    def _chosen(self, request: HttpRequest, given: Sequence[str]) -> list[Issue]:
        keys = list(dict.fromkeys(row_number(key) for key in given))
        if len(keys) > MAX_MERGED_ISSUES:
            raise Http404(
                f"Up to {MAX_MERGED_ISSUES} issues can be merged at once, not {len(keys)}."
            )
        found = {row.pk: row for row in _counted(self.get_queryset(request).filter(pk__in=keys))}
        if missing := [key for key in keys if key not in found]:
            raise Http404(f"There is no issue {missing[0]}.")
        require(all(row.is_readable for row in found.values()))
        return [found[key] for key in keys]

    def _merge(self, request: HttpRequest, issues: Sequence[Any], kept: Any) -> None:
        merged_away = [issue for issue in issues if issue != kept]
        if problems := _forbidden(request, merged_away):
            raise Refused(problems)
        merge(merged_away, kept, take=_taken(request.POST, issues), by=current_user(request))
        names = ", ".join(f"“{issue}”" for issue in merged_away)
        self.say_done(request, f"Merged here: {names}.")

    def _side_by_side(
        self,
        request: HttpRequest,
        issues: Sequence[Any],
        kept: Any,
        problems: Sequence[str] = (),
        conflicts: Sequence[Conflict] = (),
    ) -> HttpResponse:
        merged_away = [issue for issue in issues if issue != kept]
        in_the_way = [*problems_of(merged_away, kept), *_forbidden(request, merged_away)]
        sealed = [issue for issue in issues if issue.sealed_tests]
        return self.page(
            request,
            "issues/merge.html",
            title="Merge issues",
            issues=issues,
            kept=kept,
            kept_urls=[(issue, merge_url([i.pk for i in issues], issue.pk)) for issue in issues],
            choices=[_choice(field, issues, kept, request.POST) for field in FIELDS],
            seals=bool(sealed) and len(sealed) < len(issues),
            seen=seen_of(issues, SHOWN),
            conflicts=conflicts,
            problems=problems,
            in_the_way=[] if problems else in_the_way,
            may_merge=not in_the_way,
            back_url=self.url_of("change", kept.pk),
        )

    def _choose_another(self, request: HttpRequest, issues: Sequence[Issue]) -> HttpResponse:
        """Page to search for an issue to merge with."""
        words = bounded_text(request.GET.get("q"), 200)
        found: list[tuple[Issue, str]] = []
        if words:
            rows, _ = self.get_search_results(request, self.get_queryset(request), words)
            keys = rows.filter(merged_into=None).values("pk")
            others = Issue.objects.filter(pk__in=keys).exclude(pk__in=[i.pk for i in issues])
            chosen = [issue.pk for issue in issues]
            found = [(other, merge_url([*chosen, other.pk])) for other in others[:MAX_FOUND]]
        return self.page(
            request,
            "issues/merge_choice.html",
            title="Merge issues",
            issues=issues,
            words=words,
            found=found,
            back_url=self.url_of("change", issues[0].pk) if issues else self.url_of("changelist"),
        )

    def unmerge_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Undo a merge: GET asks, POST acts."""
        issue = self.found(request, object_id)
        found = active_merge(issue)
        require(self.has_change_permission(request, issue))
        require(not found or may_merge(Issue(state=found.state_before), current_user(request)))
        if found is None:
            self.say(request, f"{issue} is not merged into another issue.")
            return self.back(request, issue)
        if request.method == "POST":
            with self.refusals_shown(request):
                undone = undo_merge(issue, by=current_user(request))
                text = f"{issue} is a separate issue again: {undone.moved} rows moved back."
                self.say_done(request, text)
                for sentence in undone.left:
                    self.message_user(request, sentence, messages.WARNING)
            return self.back(request, issue)
        moved = [f"{name}: {len(keys)}" for name in MOVERS if (keys := found.moved.get(name))]
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"Undo merge of “{issue}”",
            sentences=[
                f"It was merged into “{found.kept}”. These move back:",
                "Anything moved or edited since then stays where it is; you will get a list.",
            ],
            rows=moved or ["nothing"],
            button="Undo merge",
            back_url=self.url_of("change", issue.pk),
        )


def merge_url(keys: Sequence[int], kept: int | None = None) -> str:
    """Page with these issues side by side; with a single issue, search for another."""
    query = "&".join(f"issue={key}" for key in keys)
    more = f"&kept={kept}" if kept else ""
    return f"{reverse('admin:issues_issue_merge')}?{query}{more}"


def _counted(issues: QuerySet[Any]) -> QuerySet[Any]:
    """Annotate counts of the rows to move; of sealed tests only the number."""
    counted: QuerySet[Any] = issues.annotate(
        all_tests=Count("tests", distinct=True),
        sealed_tests=Count("tests", filter=Q(tests__sealed=True), distinct=True),
        all_comments=Count("comments", distinct=True),
        all_sources=Count("sources", distinct=True),
        all_feedback=Count("feedback", distinct=True),
    )
    return counted.select_related("assignee", "merged_into")


def _kept_of(issues: Sequence[Any], chosen: int) -> Any:
    """Return the issue to keep: the chosen one, else the one furthest on with the most tests."""
    by_key = {issue.pk: issue for issue in issues}
    order = ("resolved", "approved", "in_review", "draft", "deprecated")
    default = min(issues, key=lambda issue: (order.index(issue.state), -issue.all_tests, issue.pk))
    return by_key.get(chosen, default)


def _choice(
    field: str, issues: Sequence[Any], kept: Any, posted: Mapping[str, str]
) -> dict[str, Any]:
    """Return a field of the issues side by side; `is_same` if there is nothing to choose."""
    chosen = row_number(posted.get(field)) or kept.pk
    values = [(issue, shown(issue, field), issue.pk == chosen) for issue in issues]
    is_same = len({value for _, value, _ in values}) == 1
    return {"name": field, "label": LABELS[field], "values": values, "is_same": is_same}


def _taken(posted: Mapping[str, str], issues: Sequence[Issue]) -> dict[str, Issue]:
    by_key = {issue.pk: issue for issue in issues}
    chosen = {field: by_key.get(row_number(posted.get(field))) for field in FIELDS}
    return {field: issue for field, issue in chosen.items() if issue is not None}


def _changed(request: HttpRequest, issues: Sequence[Issue]) -> dict[Issue, list[Conflict]]:
    """Lock the issues; return those that others have changed since they were shown."""
    keys, seen = [issue.pk for issue in issues], read_seen(request.POST)
    rows = Issue.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    return {row: found for row in rows if (found := conflicts_in(row, SHOWN, seen, {}))}


def _forbidden(request: HttpRequest, merged_away: Sequence[Issue]) -> list[str]:
    return [
        f"“{issue}” is {issue.get_state_display().lower()}: to merge it away takes the right to"
        " approve issues. Keep it instead, or ask a maintainer."
        for issue in merged_away
        if not may_merge(issue, current_user(request))
    ]
