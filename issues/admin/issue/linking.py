"""Pages of an issue that bring tests and feedback into it, and that split it in two."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.text import Truncator

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import bounded_text, current_user, require, row_number
from evalhub.display.formatting import counted
from issues.admin.inlines import link_to
from issues.admin.state_pages import StateAdmin
from issues.content.test_texts import first_words
from issues.lifecycle.regrouping import link, split
from issues.limits import MAX_LINKED_ROWS
from issues.models import Feedback, FeedbackState, Issue, Test, TestState
from issues.similarity.search import FEEDBACK, ISSUE, similar

MAX_OFFERED = 20
CHANGE_TEST, CHANGE_FEEDBACK = "issues.change_test", "issues.change_feedback"


class Linking(StateAdmin):
    """Views of the issue admin that regroup tests and feedback."""

    views = {"link": "<int:object_id>/link/", "split": "<int:object_id>/split/"}

    def linking_buttons(self, request: HttpRequest, issue: Any) -> list[Button]:
        """Buttons of an issue's page."""
        if issue.merged_into is not None or not self.has_change_permission(request, issue):
            return []
        buttons = [Button("Link feedback, tests …", self.url_of("link", issue.pk), is_link=True)]
        rows = issue.counts.open_tests + issue.counts.feedback
        if rows > 1 and request.user.has_perm("issues.add_issue"):
            buttons.append(Button("Split …", self.url_of("split", issue.pk), is_link=True))
        return buttons

    def link_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Offer feedback without an issue and tests of others (GET); bring the chosen (POST)."""
        issue = self._open_issue(request, object_id)
        if request.method == "POST":
            tests, feedback = self._linkable_tests(request, issue), self._free_feedback(request)
            if self._link(request, issue, tests, feedback):
                return self.back(request, issue)
        words = bounded_text(request.GET.get("q"), 200)
        return self.page(
            request,
            "issues/link.html",
            title=f"Link feedback and tests to “{issue}”",
            crumb="Link",
            issue=issue,
            words=words,
            feedback=self._offered_feedback(request, issue, words),
            tests=self._offered_tests(request, issue, words),
            back_url=self.url_of("change", issue.pk),
        )

    def _link(
        self,
        request: HttpRequest,
        issue: Issue,
        tests: QuerySet[Test],
        feedback: QuerySet[Feedback],
    ) -> bool:
        """Link the chosen rows; return False if nothing is chosen."""
        chosen_tests, chosen = (
            _chosen(request, "test", tests),
            _chosen(request, "feedback", feedback),
        )
        if not chosen_tests and not chosen:
            self.say(request, "Choose at least one feedback item or test.")
            return False
        moved = link(issue, tests=chosen_tests, feedback=chosen, by=current_user(request))
        if moved.done:
            self.say_done(request, f"{counted(moved.done, 'row')} linked to “{issue}”.")
        self.show_refused(request, moved.refused)
        return True

    def split_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Choose what moves to a new issue (GET), and move it (POST)."""
        issue = self._open_issue(request, object_id)
        require(request.user.has_perm("issues.add_issue"))
        user = current_user(request)
        tests: QuerySet[Test] = Test.objects.none()
        feedback: QuerySet[Feedback] = Feedback.objects.none()
        if user.has_perm(CHANGE_TEST):
            tests = Test.objects.readable_by(user).filter(issue=issue, sealed=False).order_by("pk")
        if user.has_perm(CHANGE_FEEDBACK):
            feedback = Feedback.objects.readable_by(user).filter(issue=issue).order_by("pk")
        title = bounded_text(request.POST.get("title"), 200)
        if request.method == "POST":
            with self.refusals_shown(request):
                chosen = _chosen(request, "test", tests), _chosen(request, "feedback", feedback)
                new = split(issue, *chosen, title=title, by=user)
                self.say_done(request, format_html("Split from {}.", link_to(issue)))
                return HttpResponseRedirect(new.get_absolute_url())
        return self.page(
            request,
            "issues/split.html",
            title=f"Split “{issue}”",
            crumb="Split",
            issue=issue,
            issue_title=title,
            chosen={name: request.POST.getlist(name) for name in ("test", "feedback")},
            tests=[_test_row(test) for test in tests[:MAX_LINKED_ROWS]],
            feedback=[_feedback_row(row) for row in feedback[:MAX_LINKED_ROWS]],
            back_url=self.url_of("change", issue.pk),
        )

    def _open_issue(self, request: HttpRequest, object_id: int) -> Any:
        issue = self.found(request, object_id)
        require(self.has_change_permission(request, issue), issue.merged_into is None)
        return issue

    def _free_feedback(self, request: HttpRequest) -> QuerySet[Feedback]:
        """Return feedback without an issue that the user may triage."""
        if not request.user.has_perm(CHANGE_FEEDBACK):
            return Feedback.objects.none()
        free: QuerySet[Feedback] = Feedback.objects.readable_by(request.user).filter(issue=None)
        return free.order_by("-pk")

    def _linkable_tests(self, request: HttpRequest, issue: Issue) -> QuerySet[Test]:
        """Return open tests of other issues that the user may change."""
        if not request.user.has_perm(CHANGE_TEST):
            return Test.objects.none()
        tests: QuerySet[Test] = Test.objects.readable_by(request.user).filter(sealed=False)
        others = tests.exclude(issue=issue).exclude(state=TestState.DEPRECATED)
        return others.select_related("issue").order_by("-pk")

    def _offered_feedback(
        self, request: HttpRequest, issue: Any, words: str
    ) -> list[dict[str, Any]]:
        """Return rows with these words; without words, similar ones, then the newest."""
        free = self._free_feedback(request)
        if words:
            named = Q(comment__icontains=words) | Q(prompt__icontains=words)
            number = row_number(words.removeprefix("#"))
            found = free.filter(named | Q(pk=number))[:MAX_OFFERED]
            return [_feedback_row(row) for row in found]
        text = f"{issue.title}\n{issue.open_description}"
        user = current_user(request)
        alike = similar(text, reader=user, kinds=(FEEDBACK,), limit=MAX_OFFERED)
        why = {row.pk: row.why for row in alike}
        known = free.in_bulk(list(why))
        newest = free.filter(state=FeedbackState.NEW).exclude(pk__in=known)
        rows = [known[pk] for pk in why if pk in known]
        rows += newest[: max(0, MAX_OFFERED - len(rows))]
        return [_feedback_row(row, why.get(row.pk, "")) for row in rows]

    def _offered_tests(self, request: HttpRequest, issue: Any, words: str) -> list[dict[str, Any]]:
        """Return tests with these words; without words, those of similar issues."""
        tests = self._linkable_tests(request, issue)
        if words:
            named = Q(messages__icontains=words) | Q(issue__title__icontains=words)
            tests = tests.filter(named | Q(pk=row_number(words.removeprefix("#"))))
        else:
            text = f"{issue.title}\n{issue.open_description}"
            own = (ISSUE, issue.pk)
            alike = similar(text, reader=current_user(request), kinds=(ISSUE,), besides=own)
            tests = tests.filter(issue__in=[row.pk for row in alike])
        return [_test_row(test) for test in tests[:MAX_OFFERED]]


def _chosen(request: HttpRequest, name: str, rows: QuerySet[Any]) -> list[Any]:
    """Return the rows that are selected in the form, of those offered to this user."""
    keys = [row_number(key) for key in request.POST.getlist(name)[:MAX_LINKED_ROWS]]
    return list(rows.filter(pk__in=keys).order_by("pk"))


def _feedback_row(row: Feedback, why: str = "") -> dict[str, Any]:
    text = Truncator(str(row)).chars(160)
    return {"pk": row.pk, "text": text, "note": row.get_state_display(), "why": why, "row": row}


def _test_row(test: Test) -> dict[str, Any]:
    note = f"{test.get_state_display()}, of “{test.issue}”"
    return {"pk": test.pk, "text": first_words(test.messages), "note": note, "row": test}
