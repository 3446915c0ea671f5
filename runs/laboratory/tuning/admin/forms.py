"""Forms to start a judge tuning, edit its draft and run an attempt."""

from typing import Any

from django import forms

from evalhub.admin_site.term_link import with_terms
from evalhub.display.input_form import InputForm
from issues.models import JudgeTemplate, Tag
from runs.laboratory.tuning.labelled_answers import Pair, Selection, pairs
from runs.laboratory.tuning.models import AnnotatorFilter
from runs.models import Judge, Suite


class StartForm(InputForm):
    """The judge with its template version, and the human verdicts to tune against."""

    pair = forms.ChoiceField(
        label="Judge and template version",
        help_text=with_terms("Judges whose answers also have a {}.", "human evaluation"),
        error_messages={"required": "Choose a judge."},
    )
    suite = forms.ModelChoiceField(
        Suite.objects.order_by("name"), required=False, empty_label="All suites"
    )
    tag = forms.ModelChoiceField(
        Tag.objects.order_by("name"), required=False, empty_label="All tags"
    )
    annotators = forms.ChoiceField(
        label="Human verdicts",
        choices=AnnotatorFilter.choices,
        initial=AnnotatorFilter.ALL,
        help_text="Self-selected answers overstate a judge's errors; random ones do not.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="Reproduces the same splits. Leave empty for a random seed.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pairs = pairs()
        judges = Judge.objects.select_related("language_model", "template")
        judge_by_pk = judges.in_bulk({pair.judge for pair in self.pairs})
        templates = JudgeTemplate.objects.in_bulk({pair.template for pair in self.pairs})
        choices = [("", "Choose a judge")]
        for pair in self.pairs:
            answers = f"{pair.answers:,} answer{'s' if pair.answers != 1 else ''}"
            judge = judge_by_pk[pair.judge]
            inactive = "" if judge.language_model.is_active else " (inactive: activate it to test)"
            name = f"{judge} with {templates[pair.template]}: {answers}{inactive}"
            choices.append((pair.key, name))
        self.fields["pair"].choices = choices  # type: ignore[attr-defined]

    def selection(self) -> Selection:
        """Return the selection of a valid form."""
        judge, template = (int(part) for part in self.cleaned_data["pair"].split("-"))
        return Selection(
            template=JudgeTemplate.objects.get(pk=template),
            judge=Judge.objects.select_related("language_model", "template").get(pk=judge),
            suite=self.cleaned_data["suite"],
            tag=self.cleaned_data["tag"],
            annotators=self.cleaned_data["annotators"],
        )


def wanted_pair(found: list[Pair], *, judge: int, template: int) -> str:
    """Return the most frequent pair of a judge or template; "" if there is none."""
    if not judge and not template:
        return ""
    fit = [pair for pair in found if judge in (0, pair.judge) and template in (0, pair.template)]
    return fit[0].key if fit else ""


class PromptForm(forms.Form):
    """The draft's prompt. `seen` is the prompt when the page was opened."""

    text = forms.CharField(
        label="Prompt",
        strip=False,
        max_length=20_000,
        widget=forms.Textarea(
            attrs={"class": "eh-input eh-mono", "rows": 18, "spellcheck": "true"}
        ),
    )
    seen = forms.CharField(widget=forms.HiddenInput, strip=False, required=False)


class ReasonForm(forms.Form):
    """Reason for publishing an untested draft."""

    reason = forms.CharField(
        label="Reason for publishing untested",
        widget=forms.Textarea(attrs={"class": "eh-input", "rows": 3}),
        max_length=2000,
    )
