"""Acts that ask for the user's password again if it was entered long ago.

A session that somebody else got hold of shall give no tokens, rights or keys.
"""

import time
from typing import Any

from django import forms
from django.contrib.auth import authenticate
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.widgets import UnfoldAdminPasswordWidget

from evalhub.access.logins import entered_at, note_password
from evalhub.admin_site.pages import PageAdmin, current_user
from evalhub.limits import PASSWORD_FRESH_S

FIELD = "password_again"


class PasswordForm(forms.Form):
    password_again = forms.CharField(
        label="Your password",
        strip=False,
        widget=UnfoldAdminPasswordWidget(
            attrs={"autocomplete": "current-password", "autofocus": True}
        ),
    )

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.POST if FIELD in request.POST else None)
        self.request = request

    def clean_password_again(self) -> str:
        password: str = self.cleaned_data[FIELD]
        name = self.request.user.get_username()
        found = authenticate(self.request, username=name, password=password)
        if found is None or found.pk != self.request.user.pk:
            raise forms.ValidationError("This is not your password.")
        return password


class AsksPassword(PageAdmin):
    """An admin whose rows are saved and deleted only with a password entered not long ago."""

    def is_sensitive(self, request: HttpRequest, object_id: str | None) -> bool:
        """Return whether this submission needs the password."""
        return True

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        question = self.password_question(request, object_id)
        return question or super().changeform_view(request, object_id, form_url, extra_context)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        question = self.password_question(request, object_id)
        return question or super().delete_view(request, object_id, extra_context)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        is_deletion = "delete_selected" in request.POST.getlist("action")
        question = self.password_question(request, None) if is_deletion else None
        return question or super().changelist_view(request, extra_context)

    def password_question(self, request: HttpRequest, object_id: str | None) -> HttpResponse | None:
        """Return the page that asks for the password and keeps what was sent; None to go on."""
        is_fresh = time.time() - entered_at(request) < PASSWORD_FRESH_S
        if request.method != "POST" or is_fresh or not self.is_sensitive(request, object_id):
            return None
        if not current_user(request).has_usable_password():
            self.say(request, "Nothing was saved: log out and in again first, then repeat this.")
            return HttpResponseRedirect(request.get_full_path())
        form = PasswordForm(request)
        if form.is_valid():
            note_password(request)
            return None
        kept = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name not in (FIELD, "csrfmiddlewaretoken")
        ]
        return self.page(
            request,
            "evalhub/confirm.html",
            title="Enter your password again",
            sentences=[
                f"You entered it over {PASSWORD_FRESH_S // 60} minutes ago, and this changes who "
                "may do what, or where a key is sent. Nothing is saved yet; what you "
                "entered is kept."
            ],
            hidden=kept,
            form=form,
            button="Save",
            back_url=request.get_full_path(),
        )
