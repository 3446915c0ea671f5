from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, Permission
from django.db.models import Model, QuerySet
from django.forms.models import ModelChoiceIterator
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from evalhub.access.models import Token, User
from evalhub.access.roles import ROLES
from evalhub.admin_site.buttons import Button
from evalhub.admin_site.history import HistoryAdmin
from evalhub.admin_site.password_again import AsksPassword
from evalhub.audit.models import AuditEntry
from evalhub.display.formatting import counted

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


ADMINISTERS = "evalhub.change_token"
"""Right to see and revoke everybody's tokens."""

admin.site.unregister(Group)


@admin.register(User)
class EvalHubUserAdmin(UserAdmin, AsksPassword, HistoryAdmin):  # type: ignore[misc]
    """Accounts of people and scripts; their rights come from their roles."""

    form, add_form = UserEditForm, NewUserForm
    instead_of_deleting = "Set the account to inactive instead: its work keeps its author."
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "roles", "may_log_in", "is_active", "last_login")
    list_filter = ("groups", "is_active", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password", ("first_name", "last_name"), "email")}),
        ("Roles", {"fields": ("groups", "is_active", "is_staff", "is_superuser")}),
        ("Dates", {"fields": (("last_login", "date_joined"),)}),
    )
    add_fieldsets = (
        (None, {"fields": ("username", "usable_password", "password1", "password2")}),
        ("Roles", {"fields": ("groups", "is_staff")}),
    )
    autocomplete_fields = ("groups",)
    readonly_fields = ("last_login", "date_joined")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Let new users log in by default."""
        return {"is_staff": True, **super().get_changeform_initial_data(request)}

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Name what users did who cannot be deleted for it."""
        trees, counts, lacking, protected = super().get_deleted_objects(objs, request)
        if acts := AuditEntry.objects.filter(actor__in=objs).count():
            protected = [counted(acts, "audit entry", "audit entries")]
        return trees, counts, lacking, protected

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        question = self.password_question(request, id)
        return question or super().user_change_password(request, id, form_url)

    @display(description="roles")
    def roles(self, user: User) -> str:
        named = [group.name for group in user.groups.all()]
        return ", ".join(["all rights"] * user.is_superuser + named) or "none"

    @display(description="can log in", boolean=True, ordering="is_staff")
    def may_log_in(self, user: User) -> bool:
        return bool(user.is_staff and user.is_active)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Let only superusers create superusers."""
        own: Any = self.readonly_fields
        return own if request.user.is_superuser else (*own, "is_superuser")

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed: bool = super().has_change_permission(request, obj)
        return allowed and _may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        allowed: bool = super().has_delete_permission(request, obj)
        return allowed and _may_touch(request, obj)


def _may_touch(request: HttpRequest, user: User | None) -> bool:
    return user is None or not user.is_superuser or bool(request.user.is_superuser)


@admin.register(Group)
class RoleAdmin(GroupAdmin, AsksPassword, HistoryAdmin):  # type: ignore[misc]
    """Roles. Built-in ones get their rights back at every migrate."""

    form = RoleForm
    list_display = ("name", "kind", "members")
    filter_horizontal = ()
    autocomplete_fields = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        return super().get_queryset(request).prefetch_related("user_set")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        response: HttpResponse = super().add_view(request, form_url, {"title": "Add role"})
        return response

    def get_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        """Show the rights as a table where they cannot be changed."""
        return ("name", "permissions" if self.has_change_permission(request, obj) else "rights")

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        return ("rights",)

    @display(description="rights")
    def rights(self, group: Group) -> SafeString:
        rights = rights_in_words(group.permissions)
        return render_to_string("evalhub/rights.html", {"rights": rights})

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        is_own = obj is None or obj.name not in ROLES
        return is_own and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        is_own = obj is not None and obj.name not in ROLES
        return is_own and bool(super().has_delete_permission(request, obj))

    @display(description="kind")
    def kind(self, group: Group) -> str:
        return "built-in" if group.name in ROLES else "custom"

    @display(description="users")
    def members(self, group: Group) -> int:
        return len(group.user_set.all())


class TokenForm(forms.ModelForm):
    class Meta:
        model = Token
        fields = ("name", "scope", "expires_at", "networks", "user")


@admin.register(Token)
class TokenAdmin(AsksPassword, HistoryAdmin):
    """API tokens. Every user creates and revokes their own; a token's text is shown once."""

    form = TokenForm
    list_display = ("name", "user", "scope", "start", "status", "expires_at", "last_used_at")
    list_filter = (("scope", ChoicesDropdownFilter),)
    list_select_related = ("user",)
    search_fields = ("name", "user__username", "prefix")
    when_empty = "Create a token to use the API from a script. It has your rights, or only reads."
    actions = ("revoke",)
    change_form_outer_before_template = "evalhub/token_panel.html"
    post_views = {"revoke": "<int:object_id>/revoke/"}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Token]:
        tokens: QuerySet[Token] = super().get_queryset(request)
        return tokens if request.user.has_perm(ADMINISTERS) else tokens.filter(user=request.user.pk)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow every logged-in user; a token itself cannot log in."""
        return bool(request.user.is_active and request.user.is_staff)

    has_module_permission = has_revoke_permission = has_add_permission

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_add_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Refuse: tokens are revoked, so that a record of them remains."""
        return False

    def may_read_history(self, request: HttpRequest, object_id: str) -> bool:
        return self.get_object(request, object_id) is not None

    @display(description="starts with")
    def start(self, token: Token) -> str:
        return f"{token.prefix}…"

    @display(
        description="state", label={"usable": "success", "revoked": "danger", "expired": "warning"}
    )
    def status(self, token: Token) -> str:
        if token.revoked_at:
            return "revoked"
        is_over = token.expires_at is not None and token.expires_at <= timezone.now()
        return "expired" if is_over else "usable"

    # Create ---------------------------------------------------------------------------------------

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if obj is not None:
            dates = ("created_at", "expires_at", "last_used_at")
            return ("name", "user", "scope", "start", "networks", *dates)
        own = ("name", "scope", "expires_at", "networks")
        return (*own, "user") if request.user.has_perm(ADMINISTERS) else own

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self.get_fields(request, obj) if obj is not None else ()

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer no user with more rights than the one who creates the token."""
        if db_field.name == "user":
            users = User.objects.filter(is_active=True).order_by("username")
            if not request.user.is_superuser:
                users = users.filter(is_superuser=False)
            kwargs |= {"queryset": users, "initial": request.user.pk}
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        """Create the token and keep its text for this one response."""
        fields = {"user": request.user, **form.cleaned_data}
        made, obj.text = Token.objects.issue(**fields)  # type: ignore[attr-defined]
        obj.pk, obj.prefix, obj.user = made.pk, made.prefix, made.user

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> Any:
        """Show the token's text, once; admin pages are never cached."""
        return self.page(
            request,
            "evalhub/token_made.html",
            title=f"Token “{obj.name}”",
            token=obj,
            list_url=self.url_of("changelist"),
        )

    # Revoke ---------------------------------------------------------------------------------------

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        token = kwargs.get("obj")
        acts = []
        if token is not None and token.revoked_at is None:
            acts = [Button("Revoke", self.url_of("revoke", token.pk), kind="danger")]
        return super().render_change_form(
            request, {**context, "token": token, "acts": acts}, *args, **kwargs
        )

    def revoke_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        token = self.found(request, object_id)
        self.revoke(request, Token.objects.filter(pk=token.pk))
        return self.back(request, token)

    @admin.action(permissions=["revoke"], description="Revoke")
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        revoked = Token.objects.filter(pk__in=queryset).revoke()
        self.say_done(request, f"Tokens revoked: {revoked}.")
