"""Forms for people and roles, in the words of the house."""

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
    "groups": ("Roles", "What they may do."),
    "is_active": ("Active", "Switch off instead of deleting: what they did stays theirs."),
    "is_staff": ("May log in", "Off for the account of a script, which has tokens only."),
    "is_superuser": ("All rights", "Whatever the roles say."),
    "username": ("Username", "Letters, digits and @ . + - _ only."),
    "usable_password": ("Password", "The account of a script needs none."),
    "password1": ("New password", None),
}
"""Label and help of each field; None leaves the help as it is."""


class PasswordStatus(ReadOnlyPasswordHashWidget):
    """Whether there is a password, and where to set one."""

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
        self.fields["usable_password"].widget.choices = [("true", "with one"), ("false", "without")]


def _reword(form: forms.ModelForm) -> None:
    for name in WORDS.keys() & form.fields.keys():
        label, help_text = WORDS[name]
        form.fields[name].label = label
        if help_text is not None:
            form.fields[name].help_text = help_text


class _ByTable(ModelChoiceIterator):
    """Rights in groups: first the table, then what may be done with its rows."""

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
    """All but those to the records of what rows were, which nothing asks for."""
    listed = rights.exclude(content_type__model__startswith="historical")
    return listed.select_related("content_type")


def table_of(right: Permission) -> str:
    return capfirst(str(right.content_type.name))


def act_of(right: Permission) -> str:
    """One word such as "view" for the usual rights, otherwise the right's own name."""
    act, _, table = right.codename.partition("_")
    return act if table == right.content_type.model else right.name


def rights_in_words(rights: Any) -> list[tuple[str, str]]:
    """Each table with what may be done with its rows."""
    ordered = sorted(without_records(rights), key=lambda r: (table_of(r), r.pk))
    return [(table, ", ".join(map(act_of, rows))) for table, rows in groupby(ordered, key=table_of)]
