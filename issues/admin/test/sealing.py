"""Sealing a test, opening it again, and revealing it to a person: pages that ask if it is meant."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.access.models import Exposure, User
from evalhub.access.reveals import LEAST_REASON, REVEAL, end, reveal
from evalhub.access.sealed import READ_SEALED
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import current_user, row_number
from issues.admin.rubric.pages import RubricPages
from issues.admin.test.form import text_area
from issues.models import Test
from issues.sealing import seal, unseal
from issues.states import Refused

MOST_EXPOSURES = 50

SEALING = (
    "Viewers and model developers will see its results only as figures, and no longer its prompt, "
    "reference answer, guidelines or answers. Of its issue they will see the title and the "
    "generic statement, and no longer the description, comments, sources and feedback.",
    "If it was reviewed or run before, it counts as exposed: it was open to all readers until now.",
)
UNSEALING = (
    "From then on everybody who reads this ledger reads its prompt, reference answer, guidelines "
    "and all answers, also in exports and through the API.",
    "This cannot be taken back: it may be sealed again, but it stays on record that it was open.",
)
REVEALING = (
    "The person will read this test's prompt, reference answer, guidelines, answers and verdicts, "
    "on pages, in exports and through the API, until somebody ends it.",
    "It is written down as an exposure, with your name and the reason. Ending it closes the test "
    "to the person again; that it was read stays on record.",
)


class ReasonForm(forms.Form):
    """Why it is done."""

    reason = forms.CharField(
        widget=text_area(3),
        help_text=f"{LEAST_REASON} characters or more. It stays on record.",
    )


class UserChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        full = obj.get_full_name()
        return f"{obj.username} ({full})" if full else str(obj.username)


class RevealForm(ReasonForm):
    """To whom, and why."""

    field_order = ("user", "reason")
    user = UserChoice(
        User.objects.none(),
        widget=UnfoldAdminSelectWidget,
        help_text="People whose role does not read sealed tests.",
        error_messages={"required": "Choose to whom."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        readers = User.objects.with_perm(
            READ_SEALED, backend="django.contrib.auth.backends.ModelBackend"
        )
        others = User.objects.filter(is_active=True).exclude(pk__in=readers.order_by().values("pk"))
        self.fields["user"].queryset = others.order_by("username")  # type: ignore[attr-defined]


class SealingPages(RubricPages):
    """For the admin of tests."""

    change_form_outer_after_template = "issues/exposures.html"

    def get_urls(self) -> list[URLPattern]:
        name = self.url_name("").removeprefix("admin:")
        wrap = self.admin_site.admin_view
        return [
            path("<int:object_id>/seal/", wrap(self.seal_view), name=f"{name}seal"),
            path("<int:object_id>/unseal/", wrap(self.unseal_view), name=f"{name}unseal"),
            path("<int:object_id>/reveal/", wrap(self.reveal_view), name=f"{name}reveal"),
            path("<int:object_id>/end/", wrap(self.end_view), name=f"{name}end_reveal"),
            *super().get_urls(),
        ]

    def may_seal(self, request: HttpRequest, test: Test) -> bool:
        """Who may not read sealed tests cannot seal one: it would be out of reach."""
        changes = self.has_change_permission(request, test)
        return changes and bool(request.user.has_perm(READ_SEALED))

    # The test's page ------------------------------------------------------------------------------

    def acts(self, request: HttpRequest, row: Any) -> list[Button]:
        return [*super().acts(request, row), *self._sealing_acts(request, row)]

    def _sealing_acts(self, request: HttpRequest, test: Test) -> list[Button]:
        def link(label: str, page: str) -> Button:
            return Button(f"{label} …", self.url_of(page, test.pk), is_link=True)

        if not test.sealed:
            return [link("Seal", "seal")] if self.may_seal(request, test) else []
        if not request.user.has_perm(REVEAL):
            return []
        return [link("Reveal", "reveal"), link("Unseal", "unseal")]

    def panel(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {**super().panel(request, row), "exposures": self._exposures(request, row)}

    def _exposures(self, request: HttpRequest, test: Test) -> dict[str, Any] | None:
        """What is on record of who saw it; None where nothing is and it is not sealed."""
        rows = Exposure.objects.filter(test=test.pk).select_related("user", "by", "ended_by")
        shown = list(rows.order_by("-pk")[: MOST_EXPOSURES + 1])
        if not shown and not test.sealed:
            return None
        return {
            "rows": shown[:MOST_EXPOSURES],
            "has_more": len(shown) > MOST_EXPOSURES,
            "may_end": request.user.has_perm(REVEAL),
            "end_url": self.url_of("end_reveal", test.pk),
            "list_url": _list_url(request, test),
        }

    # Acts -----------------------------------------------------------------------------------------

    def seal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask, and seal."""
        test = self.found(request, object_id)
        if not self.may_seal(request, test):
            raise PermissionDenied
        form = ReasonForm(request.POST or None)
        if self._is_done(
            request, form, lambda: seal(test, by=current_user(request), **form.cleaned_data)
        ):
            self.message_user(request, f"{capfirst(str(test))} is sealed.", messages.SUCCESS)
            return self.back(request, test)
        return self._ask(request, test, "Seal", SEALING, form)

    def unseal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask, and open the test to all readers."""
        test = self._revealable(request, object_id)
        form = ReasonForm(request.POST or None)
        acted = self._is_done(
            request, form, lambda: unseal(test, by=current_user(request), **form.cleaned_data)
        )
        if acted:
            said = f"{capfirst(str(test))} is open to all readers."
            self.message_user(request, said, messages.SUCCESS)
            return self.back(request, test)
        return self._ask(request, test, "Unseal", UNSEALING, form, danger=True)

    def reveal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask to whom and why, and reveal the test to that person."""
        test = self._revealable(request, object_id)
        form = RevealForm(request.POST or None)

        def act() -> None:
            if not test.sealed:
                raise Refused([f"{test} is not sealed: everybody reads it."])
            reveal(test.pk, by=current_user(request), **form.cleaned_data)

        if self._is_done(request, form, act):
            said = f"Revealed to {form.cleaned_data['user']}, from now on."
            self.message_user(request, said, messages.SUCCESS)
            return self.back(request, test)
        return self._ask(request, test, "Reveal", REVEALING, form, danger=True)

    def end_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """End one person's reading; POST only."""
        test = self._revealable(request, object_id)
        if request.method != "POST":
            raise PermissionDenied
        number = row_number(request.POST.get("exposure"))
        exposure = get_object_or_404(Exposure, pk=number, test=test.pk)
        if end(exposure, by=current_user(request)):
            said = f"Closed to {exposure.user} again. That it was revealed stays on record."
            self.message_user(request, said, messages.SUCCESS)
        else:
            self.say(request, "Nothing to end: it was ended before.")
        return self.back(request, test)

    def _revealable(self, request: HttpRequest, object_id: int) -> Test:
        """A test of which this person may decide who reads it."""
        test: Test = self.found(request, object_id)
        if not request.user.has_perm(REVEAL):
            raise PermissionDenied
        return test

    def _is_done(self, request: HttpRequest, form: forms.Form, act: Callable[[], Any]) -> bool:
        """Act on a valid form; what is refused stands beside its fields."""
        if request.method != "POST" or not form.is_valid():
            return False
        try:
            act()
        except Refused as error:
            form.add_error(None, ValidationError(error.problems))
        except ValidationError as error:
            form.add_error(None, error)
        return form.is_valid()

    def _ask(
        self,
        request: HttpRequest,
        test: Test,
        label: str,
        sentences: tuple[str, ...],
        form: forms.Form,
        *,
        danger: bool = False,
    ) -> HttpResponse:
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"{label} {test}",
            sentences=sentences,
            form=form,
            button=label,
            danger=danger,
            back_url=self.url_of("change", test.pk),
        )


def _list_url(request: HttpRequest, test: Test) -> str:
    """Where all its exposures are listed, for those who may see them."""
    if not request.user.has_perm("evalhub.view_exposure"):
        return ""
    return f"{reverse('admin:evalhub_exposure_changelist')}?test={test.pk}"


def exposed_among(tests: QuerySet[Test]) -> int:
    """How many of these tests stand in an exposure."""
    exposures = Exposure.objects.order_by().values("test").distinct()
    return tests.filter(pk__in=exposures).count()
