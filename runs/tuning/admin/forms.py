"""What a person chooses: whose verdicts, and what a try may cost."""

from typing import Any

from django import forms

from issues.models import JudgeTemplate, Tag
from runs.models import Judge, Suite
from runs.tuning.labelled_answers import Chosen, Pair, pairs
from runs.tuning.models import AnnotatorFilter

NONE = "No judge's verdict has been given by a person too yet."


class ChoosingForm(forms.Form):
    """A judge with a version of a template, and which people's verdicts count."""

    pair = forms.ChoiceField(
        label="Judge and version in use",
        help_text="As far as people judged the same answers.",
        error_messages={"required": "Choose a judge."},
    )
    suite = forms.ModelChoiceField(
        Suite.objects.order_by("name"), required=False, empty_label="All suites"
    )
    tag = forms.ModelChoiceField(
        Tag.objects.order_by("name"), required=False, empty_label="All tags"
    )
    annotators = forms.ChoiceField(
        label="People's verdicts",
        choices=AnnotatorFilter.choices,
        initial=AnnotatorFilter.ALL,
        help_text="Answers that people chose themselves are often those where a judge errs.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="It decides the halves: the same seed gives the same ones. Empty: any.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pairs = pairs()
        self.fields["pair"].choices = [  # type: ignore[attr-defined]
            ("", "Choose one"),
            *pair_choices(self.pairs),
        ]
        for field in self.fields.values():
            field.widget.attrs["class"] = "eh-input"

    def chosen(self) -> Chosen:
        """What was chosen, of a form that is valid."""
        judge, template = (int(part) for part in self.cleaned_data["pair"].split("-"))
        return Chosen(
            template=JudgeTemplate.objects.get(pk=template),
            judge=Judge.objects.select_related("language_model", "template").get(pk=judge),
            suite=self.cleaned_data["suite"],
            tag=self.cleaned_data["tag"],
            annotators=self.cleaned_data["annotators"],
        )


def pair_choices(found: list[Pair]) -> list[tuple[str, str]]:
    """The pairs in words, each with how many answers people judged too."""
    rows = Judge.objects.filter(pk__in={pair.judge for pair in found})
    judges = {row.pk: row for row in rows.select_related("language_model", "template")}
    templates = JudgeTemplate.objects.in_bulk({pair.template for pair in found})
    return [
        (
            key_of(pair),
            f"{judges[pair.judge]} with {templates[pair.template]}: {pair.answers:,} "
            f"answer{'s' if pair.answers != 1 else ''}",
        )
        for pair in found
    ]


def key_of(pair: Pair) -> str:
    return f"{pair.judge}-{pair.template}"


def wanted_pair(found: list[Pair], *, judge: int, template: int) -> str:
    """The pair that a link to a judge, or to a template, means; "" where it means none."""
    fit = (
        pair
        for pair in found
        if (not judge or pair.judge == judge) and (not template or pair.template == template)
    )
    pair = next(fit, None) if judge or template else None
    return key_of(pair) if pair else ""


class AttemptForm(forms.Form):
    """What a try may cost, and whether sealed tests may be sent."""

    cost_limit_usd = forms.DecimalField(
        label="Stop at, in US dollars",
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text="Empty: no limit.",
        widget=forms.NumberInput(attrs={"class": "eh-input eh-narrow", "step": "any"}),
    )
    allow_sealed_exposure = forms.BooleanField(
        label="The sealed tests may be sent there", required=False
    )

    def __init__(self, *args: Any, has_sealed: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not has_sealed:
            del self.fields["allow_sealed_exposure"]


class LimitForm(forms.Form):
    """Until where a try that stands still may go on."""

    cost_limit_usd = forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4
    )


class PromptForm(forms.Form):
    """The draft's words. `seen` is what they were when the page was opened."""

    text = forms.CharField(
        label="Wording",
        strip=False,
        max_length=20_000,
        widget=forms.Textarea(
            attrs={"class": "eh-input eh-mono", "rows": 18, "spellcheck": "true"}
        ),
    )
    seen = forms.CharField(widget=forms.HiddenInput, strip=False, required=False)


class ReasonForm(forms.Form):
    """Why a draft is published that was not tried as it is."""

    reason = forms.CharField(
        label="Why it is published untried",
        widget=forms.Textarea(attrs={"class": "eh-input", "rows": 3}),
        max_length=2000,
    )
