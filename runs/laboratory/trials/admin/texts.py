"""Artifacts and ideas in the admin: edit, approve and exclude them."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.text import Truncator
from unfold.decorators import display

from evalhub.admin_site.pages import PageAdmin, current_user
from evalhub.display.formatting import counted
from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.artifact_review import edit, expose, review
from runs.laboratory.trials.benchmarks.text_grid import STATES, state_of
from runs.laboratory.trials.models import Artifact, Idea, Review


class ArtifactForm(forms.ModelForm):
    """A text and its review."""

    class Meta:
        model = Artifact
        fields = ("text", "review", "review_reason")
        widgets = {
            "text": forms.Textarea({"rows": 24, "class": "eh-input eh-mono"}),
            "review_reason": forms.Textarea({"rows": 2, "class": "eh-input"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "text" in self.fields:
            self.fields["text"].strip = False  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        if given.get("review") == Review.EXCLUDED and not given.get("review_reason", "").strip():
            raise ValidationError({"review_reason": "Give a reason: it is listed with the text."})
        return given


@admin.register(Artifact)
class ArtifactAdmin(PageAdmin):
    """Artifacts: the texts of a benchmark, each made from the one before it."""

    form = ArtifactForm
    keeps_history = False
    rows_name = "texts"
    when_empty = "Generate a benchmark first."
    list_display = ("title", "benchmark", "kind", "state", "is_tested", "producer", "is_exposed")
    list_filter = (
        ("benchmark", admin.RelatedOnlyFieldListFilter),
        *(
            "validity",
            "review",
            "kind",
            "source",
            "is_tested",
            ("exposed_at", admin.EmptyFieldListFilter),
        ),
    )
    list_select_related = ("benchmark", "idea", "language_model")
    readonly_fields = ("origin", "validity_state", "original", "exposed_at")
    actions = ("approve", "mark_exposed")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Artifact]:
        rows: QuerySet[Artifact] = super().get_queryset(request)
        return rows.readable_by(request.user)  # type: ignore[attr-defined,no-any-return]

    def get_fieldsets(self, request: HttpRequest, obj: Artifact | None = None) -> Any:
        own = ("origin", "validity_state", "text", "review", "review_reason")
        more = [*(["original"] if obj and obj.original else []), "exposed_at"]
        return [(None, {"fields": [*own, *more]})]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: a generation run or an import makes them."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Artifact | None = None) -> bool:
        """Refuse: they are excluded."""
        return False

    @display(description="text")
    def title(self, row: Artifact) -> str:
        return f"{row.idea}: {row.kind}" if row.idea else f"composed {row.kind}"

    @display(description="state")
    def state(self, row: Artifact) -> str:
        return STATES[state_of(row)][0]

    @display(description="written by")
    def producer(self, row: Artifact) -> str:
        return str(row.language_model or row.get_source_display())

    @display(description="exposed", boolean=True)
    def is_exposed(self, row: Artifact) -> bool:
        return row.exposed_at is not None

    @display(description="made of")
    def origin(self, row: Artifact) -> str:
        parent = row.parent
        source = f"the {parent.kind} {parent}" if parent else "the idea"
        if row.source == "imported":
            return "imported"
        label = " as the model under test" if row.is_tested else ""
        scripted = row.language_model and row.language_model.is_scripted
        note = " (scripted endpoint, not a model)" if scripted else ""
        return f"{row.kind} by {self.producer(row)}{label}{note}, from {source}"

    @display(description="validity")
    def validity_state(self, row: Artifact) -> str:
        return ": ".join(filter(None, [row.get_validity_display(), row.validity_reason]))

    def save_model(self, request: HttpRequest, obj: Artifact, form: Any, change: bool) -> None:
        """Save by the rules of `artifact_review`; say what a change of the text undoes."""
        given, by = form.cleaned_data, current_user(request)
        stored = Artifact.objects.select_related("benchmark").get(pk=obj.pk)
        with self.refusals_shown(request):
            if "text" in form.changed_data:
                outdated = edit(stored, given["text"], by=by)
                if outdated:
                    made = counted(outdated, "text")
                    self.say_done(
                        request, f"Deleted {made} made from the old one: generate them anew."
                    )
            if {"review", "review_reason"} & set(form.changed_data):
                review(stored, Review(given["review"]), reason=given["review_reason"], by=by)

    @admin.action(permissions=["change"], description="Approve")
    def approve(self, request: HttpRequest, queryset: QuerySet[Artifact]) -> None:
        done, problems = 0, []
        for row in queryset:
            try:
                review(row, Review.APPROVED, by=current_user(request))
                done += 1
            except Refused as error:
                problems += [f"{row}: {problem}" for problem in error.problems]
        self.say_done(request, f"Approved {counted(done, 'text')}.")
        if problems:
            self.say(request, *problems[:20])

    @admin.action(permissions=["change"], description="Mark as shown to developers")
    def mark_exposed(self, request: HttpRequest, queryset: QuerySet[Artifact]) -> None:
        n = expose(queryset.values_list("pk", flat=True))
        self.say_done(request, f"Marked {counted(n, 'text')}.")

    def response_post_save_change(self, request: HttpRequest, obj: Artifact) -> HttpResponse:
        return HttpResponseRedirect(obj.benchmark.get_absolute_url())


@admin.register(Idea)
class IdeaAdmin(PageAdmin):
    """Ideas of a benchmark, written by a model or by hand."""

    keeps_history = False
    when_empty = "Generate ideas, or add one by hand."
    fields = ("topic", "name", "statement", "place", "state", "reason")
    list_display = ("title", "topic", "state", "source", "why")
    list_filter = (("topic__benchmark", admin.RelatedOnlyFieldListFilter), "state", "source")
    list_select_related = ("topic__benchmark",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Idea]:
        rows: QuerySet[Idea] = super().get_queryset(request)
        return rows.readable_by(request.user)  # type: ignore[attr-defined,no-any-return]

    def get_readonly_fields(self, request: HttpRequest, obj: Idea | None = None) -> Any:
        """Keep an idea as it is once texts were made of it; it can still be excluded."""
        has_texts = obj is not None and obj.artifacts.exists()
        return ("topic", "name", "statement") if has_texts else (("topic",) if obj else ())

    def formfield_for_foreignkey(self, db_field: Any, request: Any, **kwargs: Any) -> Any:
        if db_field.name == "topic":
            model = db_field.related_model
            kwargs["queryset"] = model.objects.readable_by(request.user).select_related("benchmark")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Idea | None = None) -> bool:
        """Refuse: they are excluded."""
        return False

    @display(description="name")  # sealed with the benchmark, so that no order may be by it
    def title(self, row: Idea) -> str:
        return row.name

    @display(description="reason")
    def why(self, row: Idea) -> str:
        return Truncator(row.reason).chars(80)

    def response_post_save_change(self, request: HttpRequest, obj: Idea) -> HttpResponse:
        return HttpResponseRedirect(obj.topic.benchmark.get_absolute_url())

    def response_post_save_add(self, request: HttpRequest, obj: Idea) -> HttpResponse:
        return HttpResponseRedirect(obj.topic.benchmark.get_absolute_url())
