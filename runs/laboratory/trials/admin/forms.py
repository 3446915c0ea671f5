"""Forms of benchmarks: their settings, their generation, and files of labelled pairs."""

from typing import Any, cast

from django import forms

from evalhub.admin_site.batch_control import limit_field
from evalhub.display.input_form import InputForm
from evalhub.schedules import cron_in
from runs.admin.batches import model_field
from runs.laboratory.trials.generation.generation_runs import GenerationOrder
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import (
    KINDS,
    BadPath,
    chain_of,
    kinds_from,
    path_text,
    problems_of_kinds,
    read_paths,
)
from runs.laboratory.trials.models import Benchmark, GenerationPath, Stage
from runs.limits import MAX_IDEAS, MAX_TOPICS
from runs.models import Jury


class BenchmarkForm(forms.ModelForm):
    """A benchmark with its paths as lines of text."""

    paths = forms.CharField(
        required=False,
        widget=forms.Textarea({"class": "eh-input", "rows": 5}),
        help_text="One per line, such as description > java > summary. An asterisk marks a text "
        "that the model under test writes: description > java > summary*.",
    )

    class Meta:
        model = Benchmark
        fields = ("name", "description", "state", "sealed", "seed", "kinds", "cron")
        labels = {"kinds": "Kinds of texts", "cron": "Schedule of fresh instances"}
        help_texts = {
            "kinds": "JSON: key, label, form (text or code) and the language of code.",
            "cron": "For example 0 6 1 * * for each first of the month at 06:00. Leave empty for "
            "none.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            lines = [path_text(chain_of(path.steps)) for path in self.instance.paths.all()]
            self.initial["paths"] = "\n".join(lines)
        else:
            self.initial["kinds"] = [kind.as_json() for kind in KINDS]

    def clean_kinds(self) -> Any:
        kinds = self.cleaned_data["kinds"]
        if problems := problems_of_kinds(kinds):
            raise forms.ValidationError(problems)
        if not self.instance.pk:
            return kinds
        used = set(self.instance.artifacts.values_list("kind", flat=True).distinct())
        if lost := used - set(kinds_from(kinds)):
            raise forms.ValidationError(f"There are texts of the kind {min(lost)!r}: keep it.")
        return kinds

    def clean_cron(self) -> str:
        return cron_in(self.cleaned_data["cron"])

    def clean_paths(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["paths"].splitlines() if line.strip()]
        try:
            read_paths(lines, self._keys())
        except BadPath as error:
            raise forms.ValidationError(list(error.args)) from error
        return lines

    def _keys(self) -> list[str]:
        kinds = self.data.get("kinds") and self.cleaned_data.get("kinds")
        return list(kinds_from(kinds or [kind.as_json() for kind in KINDS]))


class GenerateForm(InputForm):
    """A generation run, or the replay of tested paths."""

    stage = forms.ChoiceField(
        label="Last stage",
        choices=Stage.choices,
        initial=Stage.ARTIFACTS,
        help_text="Stop after a stage to review it. The next run goes on with what is missing.",
    )
    model = model_field(
        label="Trusted model",
        help_text="Truth follows from its texts, so choose a strong one.",
    )
    ideas_per_topic = forms.IntegerField(min_value=1, max_value=MAX_IDEAS, initial=10)
    ideas_per_cluster = forms.IntegerField(
        min_value=1,
        max_value=MAX_IDEAS,
        required=False,
        help_text="Leave empty for as many as of other topics.",
    )
    max_tokens = forms.IntegerField(
        label="Output tokens per text", min_value=16, max_value=32_000, initial=2000
    )
    topics = forms.IntegerField(
        label="Topics to add",
        min_value=0,
        max_value=MAX_TOPICS,
        required=False,
        help_text="For the stage topics only: the model completes the list.",
    )
    outside = forms.CharField(
        label="Examples outside all topics",
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 3}),
        help_text="One per line. The added topics cover them.",
    )
    cost_limit_usd = limit_field()

    def order(self, benchmark: Benchmark) -> GenerationOrder:
        given = self.cleaned_data
        lines = [line.strip() for line in given["outside"].splitlines()]
        settings = GenerationSettings(
            ideas_per_topic=given["ideas_per_topic"],
            ideas_per_cluster=given["ideas_per_cluster"],
            max_tokens=given["max_tokens"],
            topics=given["topics"] or 0,
            outside=[line[:1000] for line in lines if line][:50],
        )
        return GenerationOrder(benchmark, Stage(given["stage"]), given["model"], settings=settings)


class ReplayForm(InputForm):
    """The replay of paths with a model under test."""

    paths = forms.ModelMultipleChoiceField(
        GenerationPath.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        help_text="The model under test writes the texts with an asterisk. Texts before the first "
        "one come from storage.",
    )
    tested_model = model_field(
        label="Model under test",
    )
    model = model_field(
        label="Trusted model",
        help_text="It writes the texts after the asterisk.",
    )
    jury = forms.ModelChoiceField(
        Jury.objects.filter(is_active=True),
        required=False,
        empty_label="Human evaluation only",
        help_text="It compares the end of each path with its reference. Choose judges that a trial "
        "on this benchmark showed to be fit.",
    )
    release = forms.CharField(
        required=False, max_length=100, help_text="Version of the model under test."
    )
    max_tokens = forms.IntegerField(
        label="Output tokens per text", min_value=16, max_value=32_000, initial=2000
    )
    cost_limit_usd = limit_field(
        help_text="Leave empty for no limit. Judge calls have the same limit again."
    )

    def __init__(self, benchmark: Benchmark, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        tested = [path.pk for path in benchmark.paths.all() if path.is_tested]
        paths = cast(forms.ModelMultipleChoiceField, self.fields["paths"])
        paths.queryset, paths.initial = benchmark.paths.filter(pk__in=tested), tested

    def order(self) -> GenerationOrder:
        given = self.cleaned_data
        settings = GenerationSettings(
            max_tokens=given["max_tokens"],
            jury=given["jury"] and given["jury"].pk,
            release=given["release"],
        )
        return GenerationOrder(
            self.benchmark,
            Stage.ARTIFACTS,
            given["model"],
            given["tested_model"],
            list(given["paths"]),
            settings,
        )


class SmallForm(InputForm):
    """The model that writes a small benchmark."""

    model = model_field()


class FreshForm(InputForm):
    """The differences of a fresh instance."""

    seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="Leave empty for a new one."
    )
    instruction = forms.CharField(
        label="Perturbation",
        required=False,
        max_length=1000,
        widget=forms.Textarea({"rows": 2}),
        help_text="A sentence that changes ideas and descriptions, such as “Use names from "
        "logistics.” Leave empty for none.",
    )


class ImportForm(InputForm):
    """A file of labelled pairs."""

    name = forms.CharField(max_length=150, label="Name of the benchmark")
    file = forms.FileField(
        help_text="JSON lines in UTF-8, at most 8 MB. Each line has left, right, and label (true "
        "or false) or score (1 to 7); optional are kind, topic and idea.",
    )
    sealed = forms.BooleanField(required=False, help_text="Only readers of sealed tests see it.")
