from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from evalhub.admin_site.contributions import ExtensibleAdmin
from evalhub.admin_site.lists import count_by
from evalhub.admin_site.pages import PageAdmin, current_user
from issues.models import Issue, ResolutionLabel, Tag, Test
from issues.tags import check_name, merge


class MergeForm(forms.Form):
    target = forms.ModelChoiceField(
        Tag.objects.all(),
        label="Merge into",
        widget=UnfoldAdminSelectWidget,
        help_text=(
            "Issues, tests and suites with one of the selected tags get this tag instead; the "
            "selected tags are deleted."
        ),
    )


class TagForm(forms.ModelForm):
    class Meta:
        model = Tag
        fields = ("name", "kind", "parent")

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        check_name(data.get("name", ""), self.instance.pk or 0)
        return data


@admin.register(Tag)
class TagAdmin(ExtensibleAdmin):
    """Tags; a renamed tag stays on its issues, and its history keeps the old name."""

    when_empty = "Tags group issues by domain, task type or anything else."
    list_display = ("name", "kind", "parent", "issue_count", "test_count")
    list_filter = (("kind", ChoicesDropdownFilter),)
    list_select_related = ("parent",)
    search_fields = ("name",)
    autocomplete_fields = ("parent",)
    form = TagForm
    actions = ("merge_tags",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Tag]:
        tags: QuerySet[Tag] = super().get_queryset(request)
        return tags.annotate(
            issues_total=count_by("tag", Issue.tags.through.objects.all()),
            tests_total=count_by("tag", Test.tags.through.objects.all()),
        )

    @display(description="issues", ordering="issues_total")
    def issue_count(self, tag: Any) -> int:
        return int(tag.issues_total)

    @display(description="tests of its own", ordering="tests_total")
    def test_count(self, tag: Any) -> int:
        return int(tag.tests_total)

    @admin.action(permissions=["change", "delete"], description="Merge …")
    def merge_tags(self, request: HttpRequest, queryset: QuerySet[Tag]) -> HttpResponse | None:
        form = MergeForm(request.POST if "target" in request.POST else None)
        if form.is_valid():
            target = form.cleaned_data["target"]
            with self.refusals_shown(request):
                changed = merge(list(queryset), target, by=current_user(request))
                self.say_done(request, f"Merged into {target}: {changed} rows updated.")
            return None
        return self.action_page(
            request,
            "merge_tags",
            queryset,
            title="Merge tags",
            sentences=[
                "The history of each issue, test and suite records it. These tags will be deleted:"
            ],
            rows=[f"{tag} ({self.issue_count(tag)} issues)" for tag in queryset],
            form=form,
            button="Merge",
        )


@admin.register(ResolutionLabel)
class ResolutionLabelAdmin(PageAdmin):
    search_fields = ("name",)
