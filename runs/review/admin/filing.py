"""File answers as tests, as a new issue or in a queue, from a result or a selection of them."""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.core.signing import BadSignature, dumps, loads
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.http import urlencode
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from evalhub.admin_site.pages import address_back, current_user, require, row_number
from evalhub.display.formatting import counted
from evalhub.display.html import link
from issues.admin.test.bulk import MoveForm
from issues.content.test_texts import first_words
from issues.models import Issue, Test
from runs.admin.result.admin import ResultAdmin
from runs.issue_filing.new_issues import issue_of, tests_of, undo_filing
from runs.limits import FILING_UNDO_S, MAX_FILED_RESULTS
from runs.models import Result
from runs.review.models import Queue, QueueState
from runs.review.queue_items import add_results, withdraw_results

NEW_TEST, NEW_ISSUE, REVIEW = "issues.add_test", "issues.add_issue", "review.review_results"
RIGHTS = {"test": (NEW_TEST,), "issue": (NEW_ISSUE, NEW_TEST), "queue": (REVIEW,)}
LISTED = 20
OPEN_QUEUES = Queue.objects.filter(state=QueueState.OPEN).order_by("name")
SALT = "runs.review.filing"


class IntoIssueForm(MoveForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["issue"]
        field.label, field.required = "Issue", False
        field.widget.is_required = False
        field.help_text = "Leave it empty to use the issue of each test."


class NewIssueForm(forms.Form):
    title = forms.CharField(
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        error_messages={"required": "Enter a title for the new issue."},
    )


class QueueForm(forms.Form):
    queue = forms.ModelChoiceField(
        OPEN_QUEUES,
        empty_label="choose a queue",
        widget=UnfoldAdminSelectWidget,
        error_messages={"invalid_choice": "This queue is closed. Choose an open one."},
    )


def proposed_title(results: Sequence[Result]) -> str:
    """Return the first test's words as a title; "" if any is sealed, for all may read titles."""
    if any(result.test.sealed for result in results):
        return ""
    return first_words(results[0].revision.content["messages"])


class Filing(ResultAdmin):
    """Acts on answers that lead to issues, tests and queues."""

    actions: Any = (*ResultAdmin.actions, "file_selected")
    views = {"file": "file/"}
    post_views = {"undo_file": "file/undo/"}

    def has_file_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return any(request.user.has_perms(rights) for rights in RIGHTS.values())

    @admin.action(permissions=["file"], description="File as …")
    def file_selected(self, request: HttpRequest, queryset: QuerySet[Result]) -> HttpResponse:
        keys = queryset.order_by("pk").values_list("pk", flat=True)[: MAX_FILED_RESULTS + 1]
        sent: dict[str, Any] = {"result": list(keys), "next": request.get_full_path()}
        query = urlencode(sent, doseq=True)
        return HttpResponseRedirect(f"{self.url_of('file')}?{query}")

    def page_context(self, request: HttpRequest, result: Result) -> dict[str, Any]:
        may_file = hasattr(result, "answer") and self.has_file_permission(request)
        return {**super().page_context(request, result), "may_file": may_file}

    def file_view(self, request: HttpRequest) -> HttpResponse:
        """Ask how to file answers (GET), and do it by `act` (POST)."""
        sent = request.POST if request.method == "POST" else request.GET
        act = sent.get("act", "")
        require(self.has_file_permission(request), request.user.has_perms(RIGHTS.get(act, ())))
        keys = list(dict.fromkeys(row_number(key) for key in sent.getlist("result")))
        here = address_back(request, self.url_of("changelist"))
        if not keys or len(keys) > MAX_FILED_RESULTS:
            self.say(request, f"Select 1 to {MAX_FILED_RESULTS} results to file.")
            return HttpResponseRedirect(here)
        results = self._chosen(request, keys)
        shown = self._forms(request, act, results)
        if request.method == "POST" and act in shown and shown[act].is_valid():
            with self.refusals_shown(request):
                return ACTS[act](self, request, results, shown[act].cleaned_data, here)
        words = [(r, first_words(r.revision.content["messages"])) for r in results[:LISTED]]
        title = f"File {counted(len(results), 'answer')}"
        context = {"rows": words, "more": len(results) - len(words), "results": results}
        context["has_sealed"] = any(result.test.sealed for result in results)
        return self.page(
            request,
            "runs/review/file.html",
            title=title,
            crumb=title,
            forms=shown,
            form=shown.get("test"),
            back_url=here,
            **context,
        )

    def _chosen(self, request: HttpRequest, keys: Sequence[int]) -> list[Result]:
        related = ("run", "issue", "test", "answer", "revision__template")
        readable = Result.objects.readable_by(request.user).select_related(*related)
        found = readable.in_bulk(keys)
        if missing := [key for key in keys if key not in found]:
            raise Http404(f"There is no result {missing[0]} that you can read.")
        return [found[key] for key in keys]

    def _forms(
        self, request: HttpRequest, act: str, results: Sequence[Result]
    ) -> dict[str, forms.Form]:
        """Return the form of each act that the user may do; that of `act` with what was sent."""
        sent = {act: request.POST} if request.method == "POST" else {}
        issues = {result.issue for result in results}
        initial = {"issue": issues.pop() if len(issues) == 1 else None}
        title = {"title": proposed_title(results)}
        every = {
            "test": IntoIssueForm(sent.get("test"), initial=initial, site=self.admin_site),
            "issue": NewIssueForm(sent.get("issue"), initial=title),
            "queue": QueueForm(sent.get("queue"), initial={"queue": OPEN_QUEUES.first()}),
        }
        may = request.user.has_perms
        return {name: form for name, form in every.items() if may(RIGHTS[name])}

    def _as_tests(
        self, request: HttpRequest, results: Sequence[Result], data: Any, here: str
    ) -> HttpResponse:
        tests = tests_of(results, data["issue"], by=current_user(request))
        return self._made(request, tests, "", {"act": "test"}, here)

    def _as_issue(
        self, request: HttpRequest, results: Sequence[Result], data: Any, here: str
    ) -> HttpResponse:
        tests = issue_of(results, data["title"], by=current_user(request))
        issue = tests[0].issue
        said = f"New issue “{issue}”. "
        return self._made(request, tests, said, {"act": "issue", "issue": issue.pk}, here)

    def _made(
        self, request: HttpRequest, tests: Sequence[Test], said: str, made: Any, here: str
    ) -> HttpResponse:
        of = {test.issue for test in tests}
        about = f" of “{tests[0].issue}”" if len(of) == 1 and not said else ""
        new = f"New test{about}." if len(tests) == 1 else f"{len(tests)} new tests{about}."
        say = f"{said}{new} Say what a good answer must show, then send for review."
        made = {**made, "tests": [test.pk for test in tests]}
        self._say_undoable(request, say, made, here)
        row: Test | Issue = tests[0] if len(tests) == 1 else tests[0].issue
        return HttpResponseRedirect(row.get_absolute_url() if len(of) == 1 else here)

    def _queued(
        self, request: HttpRequest, results: Sequence[Result], data: Any, here: str
    ) -> HttpResponse:
        queue = data["queue"]
        items = add_results(queue, results, by=current_user(request))
        where = link(queue.get_absolute_url(), queue)
        old = len(results) - len(items)
        had = f" {old} of them it had already." if old and items else ""
        if not items:
            self.message_user(request, format_html("{} has it already.", where))
            return HttpResponseRedirect(here)
        say = format_html("{} added to {}.{}", counted(len(items), "answer"), where, had)
        made = {"act": "queue", "items": [item.pk for item in items]}
        self._say_undoable(request, say, made, here)
        return HttpResponseRedirect(here)

    def _say_undoable(self, request: HttpRequest, said: str, made: Any, here: str) -> None:
        """Report what was made, with a button that removes exactly that."""
        signed = dumps({**made, "by": current_user(request).pk}, salt=SALT, compress=True)
        shown = {"said": said, "url": self.url_of("undo_file"), "made": signed, "next": here}
        self.say_done(request, render_to_string("runs/review/filed.html", shown, request))

    def undo_file_view(self, request: HttpRequest) -> HttpResponse:
        """Remove what a filing of this user made, if nobody has changed it."""
        here, user = address_back(request, self.url_of("changelist")), current_user(request)
        require(self.has_file_permission(request))
        try:
            made = loads(request.POST.get("made", ""), salt=SALT, max_age=FILING_UNDO_S)
        except BadSignature:
            self.say(request, "What you filed more than a day ago cannot be undone. Delete it.")
            return HttpResponseRedirect(here)
        require(made["by"] == user.pk, user.has_perms(RIGHTS[made["act"]]))
        with self.refusals_shown(request):
            if made["act"] == "queue":
                withdraw_results(made["items"])
            else:
                undo_filing(made["tests"], made.get("issue"), by=user)
            self.say_done(request, "Undone: what you filed is removed.")
        return HttpResponseRedirect(here)


Act = Callable[[Filing, HttpRequest, Sequence[Result], Any, str], HttpResponse]
ACTS: dict[str, Act] = {
    "test": Filing._as_tests,
    "issue": Filing._as_issue,
    "queue": Filing._queued,
}
