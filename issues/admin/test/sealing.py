"""Pages to seal and unseal a test and to reveal it to a user, each with a confirmation."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import capfirst
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.access.models import Exposure, User
from evalhub.access.roles import users_with
from evalhub.access.sealing.readers import READ_SEALED
from evalhub.access.sealing.reveals import REVEAL, end, reveal
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.limits import MIN_REVEAL_REASON
from evalhub.refusals import Refused
from issues.admin.rubric.pages import RubricPages
from issues.admin.text_areas import text_area
from issues.lifecycle.sealing import seal, unseal
from issues.models import Test

MAX_EXPOSURES = 50

SEALING = (
    (
        "Viewers and model developers will see only its figures: no prompt, reference "
        "answer, guidelines or answers. Of its issue they will see the title and the "
        "public summary, but no description, comments, sources or feedback."
    ),
    "If it was reviewed or run before, it counts as exposed, because all readers could see it.",
)
UNSEALING = (
    (
        "Everybody with access to this workspace will be able to read its prompt, "
        "reference answer, guidelines and all answers, including exports and the API."
    ),
    "This cannot be undone: you can seal it again, but the exposure stays on record.",
)
REVEALING = (
    (
        "The user will be able to read this test's prompt, reference answer, guidelines, "
        "answers and verdicts on pages, in exports and through the API until somebody "
        "ends it."
    ),
    (
        "This is recorded as an exposure with your name and the reason. Ending it removes "
        "the user's access; the record stays."
    ),
)


class ReasonForm(forms.Form):
    """Form with the reason."""

    reason = forms.CharField(
        widget=text_area(3),
        help_text=f"At least {MIN_REVEAL_REASON} characters. It stays on record.",
    )


class UserChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        full = obj.get_full_name()
        return f"{obj.username} ({full})" if full else str(obj.username)


class RevealForm(ReasonForm):
    """Form with the user and the reason."""

    field_order = ("user", "reason")
    user = UserChoice(
        User.objects.none(),
        widget=UnfoldAdminSelectWidget,
        help_text="Users whose role cannot read sealed tests.",
        error_messages={"required": "Choose a user."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        readers = users_with(READ_SEALED).order_by().values("pk")
        others = User.objects.filter(is_active=True).exclude(pk__in=readers)
        self.fields["user"].queryset = others.order_by("username")  # type: ignore[attr-defined]


class SealingPages(RubricPages):
    """Sealing views of the test admin."""

    change_form_outer_after_template = "issues/exposures.html"
    views = {
        "seal": "<int:object_id>/seal/",
        "unseal": "<int:object_id>/unseal/",
        "reveal": "<int:object_id>/reveal/",
    }
    post_views = {"end_reveal": "<int:object_id>/end/"}

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Say of a sealed test that it is sealed: its issue's page names it to all readers."""
        is_hidden = object_id is not None and self.get_object(request, object_id) is None
        sealed = Test.objects.filter(pk=row_number(object_id), sealed=True)
        if is_hidden and self.has_view_permission(request) and sealed.exists():
            text = f"Test {object_id} is sealed. Ask an admin to reveal it to you."
            messages.warning(request, text)
            return HttpResponseRedirect(self.url_of("changelist"))
        response: HttpResponse = super().changeform_view(request, object_id, *args, **kwargs)
        return response

    def may_seal(self, request: HttpRequest, test: Test) -> bool:
        """Require the right to read sealed tests: otherwise the test would be out of reach."""
        changes = self.has_change_permission(request, test)
        return changes and bool(request.user.has_perm(READ_SEALED))

    def has_delete_permission(self, request: HttpRequest, obj: Test | None = None) -> bool:
        """Keep a sealed test: without it, the texts of its issue would be open."""
        return super().has_delete_permission(request, obj) and not (obj and obj.sealed)

    def buttons(self, request: HttpRequest, row: Any) -> list[Button]:
        if not row.sealed:
            pages = ["seal"] if self.may_seal(request, row) else []
        else:
            pages = ["reveal", "unseal"] if request.user.has_perm(REVEAL) else []
        own = [
            Button(f"{page.capitalize()} …", self.url_of(page, row.pk), is_link=True)
            for page in pages
        ]
        return [*super().buttons(request, row), *own]

    def panel(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {**super().panel(request, row), "exposures": self._exposures(request, row)}

    def _exposures(self, request: HttpRequest, test: Test) -> dict[str, Any] | None:
        """Return its exposures; None if it is not sealed and has none."""
        rows = Exposure.objects.filter(test=test.pk)
        if not test.sealed and not rows.exists():
            return None
        named = rows.select_related("user", "by", "ended_by")
        shown = list(named.order_by("-pk")[: MAX_EXPOSURES + 1])
        list_url = f"{reverse('admin:evalhub_exposure_changelist')}?test={test.pk}"
        return {
            "rows": shown[:MAX_EXPOSURES],
            "has_more": len(shown) > MAX_EXPOSURES,
            "may_end": request.user.has_perm(REVEAL),
            "end_url": self.url_of("end_reveal", test.pk),
            "list_url": list_url if request.user.has_perm("evalhub.view_exposure") else "",
        }

    def seal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for a reason, then seal."""
        test = self.found(request, object_id)
        require(self.may_seal(request, test))

        def act(**given: Any) -> str:
            seal(test, **given)
            return f"{capfirst(str(test))} is sealed."

        return self._ask(request, test, "Seal", SEALING, ReasonForm, act)

    def unseal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for a reason, then open the test to all readers."""
        test = self._revealable(request, object_id)

        def act(**given: Any) -> str:
            unseal(test, **given)
            return f"{capfirst(str(test))} is open to all readers."

        return self._ask(request, test, "Unseal", UNSEALING, ReasonForm, act)

    def reveal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Ask for user and reason, then reveal the test."""
        test = self._revealable(request, object_id)

        def act(**given: Any) -> str:
            if not test.sealed:
                raise Refused([f"{test} is not sealed: everybody can read it."])
            reveal(test.pk, **given)
            return f"Revealed to {given['user']}."

        return self._ask(request, test, "Reveal", REVEALING, RevealForm, act)

    def end_reveal_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """End a user's access."""
        test = self._revealable(request, object_id)
        number = row_number(request.POST.get("exposure"))
        exposure = get_object_or_404(Exposure, pk=number, test=test.pk)
        if end(exposure, by=current_user(request)):
            text = f"{exposure.user} can no longer read it. The exposure stays on record."
            self.say_done(request, text)
        else:
            self.say(request, "Already ended.")
        return self.back(request, test)

    def _revealable(self, request: HttpRequest, object_id: int) -> Test:
        """Return the test if this user may reveal it."""
        test: Test = self.found(request, object_id)
        require(request.user.has_perm(REVEAL))
        return test

    def _ask(
        self,
        request: HttpRequest,
        test: Test,
        label: str,
        sentences: tuple[str, ...],
        form_class: type[ReasonForm],
        act: Callable[..., str],
    ) -> HttpResponse:
        """Show the form; act on a valid one, with refusals at its fields."""
        form = form_class(request.POST or None)
        if request.method == "POST" and form.is_valid():
            try:
                self.say_done(request, act(by=current_user(request), **form.cleaned_data))
                return self.back(request, test)
            except Refused as error:
                form.add_error(None, ValidationError(error.problems))
            except ValidationError as error:
                form.add_error(None, error)
        return self.page(
            request,
            "evalhub/confirm.html",
            title=f"{label} {test}",
            sentences=sentences,
            form=form,
            button=label,
            danger=label != "Seal",
            back_url=self.url_of("change", test.pk),
        )
