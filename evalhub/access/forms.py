from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, Permission
from django.db.models import QuerySet
from django.forms.models import ModelChoiceIterator
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.forms import UserChangeForm, UserCreationForm

WORDS = {
    "is_active": ("Active", "Clear instead of deleting the account: its work keeps its author."),
    "is_staff": ("Can log in", "Clear for scripts, which use tokens only."),
    "is_superuser": ("All rights", "Grants all rights, regardless of roles."),
    "username": ("Username", "Use letters, digits and @ . + - _ only."),
    "usable_password": ("Password", "Scripts need none."),
    "password1": ("New password", None),
}
"""Label and help text of each field; None keeps Django's help text."""


class PasswordStatus(ReadOnlyPasswordHashWidget):
    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        return render_to_string("evalhub/password.html", {"is_set": is_password_usable(value)})


class UserEditForm(UserChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reword(self)
        self.fields["password"].widget = PasswordStatus()
        self.fields["password"].help_text = ""


class NewUserForm(UserCreationForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reword(self)
        self.fields["usable_password"].widget.choices = [("true", "Set one"), ("false", "None")]


def _reword(form: forms.ModelForm) -> None:
    for name in WORDS.keys() & form.fields.keys():
        label, help_text = WORDS[name]
        form.fields[name].label = label
        if help_text is not None:
            form.fields[name].help_text = help_text


class _ByTable(ModelChoiceIterator):
    """Choices of rights, grouped by table."""

    def __iter__(self) -> Iterator[Any]:
        rights = without_records(self.queryset).order_by(
            "content_type__app_label", "content_type__model", "codename"
        )
        for table, group in groupby(rights, key=table_of):
            yield table, [(right.pk, act_of(right)) for right in group]


class RightsField(forms.ModelMultipleChoiceField):
    iterator = _ByTable


class RoleForm(forms.ModelForm):
    permissions = RightsField(
        Permission.objects.all(),
        label="Rights",
        required=False,
        widget=forms.CheckboxSelectMultiple(attrs={"class": "eh-right"}),
    )

    class Meta:
        model = Group
        fields = ("name", "permissions")


def without_records(rights: "QuerySet[Permission]") -> "QuerySet[Permission]":
    """Exclude the rights on history tables, which nothing checks."""
    listed = rights.exclude(content_type__model__startswith="historical")
    return listed.select_related("content_type")


def table_of(right: Permission) -> str:
    return capfirst(str(right.content_type.name))


def act_of(right: Permission) -> str:
    """Return a verb such as "view" for a standard right, else the right's own name."""
    act, _, table = right.codename.partition("_")
    return act if table == right.content_type.model else right.name


def rights_in_words(rights: Any) -> list[tuple[str, str]]:
    ordered = sorted(without_records(rights), key=lambda r: (table_of(r), r.pk))
    return [(table, ", ".join(map(act_of, rows))) for table, rows in groupby(ordered, key=table_of)]
