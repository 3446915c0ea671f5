"""The form that asks a model for drafts of tests."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.core import signing
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from pydantic import ValidationError

from evalhub.display.input_form import InputForm
from evalhub.models import LanguageModel, User
from evalhub.values.option_problems import option_problems
from issues.content.test_texts import first_words
from issues.drafting.destinations import Destination
from issues.drafting.documents import ENDINGS, Passage, UnreadableDocument, passages_of
from issues.drafting.settings import DraftingSettings, Length, Task, built_in_personas
from issues.drafting.start import Order
from issues.limits import LATER_BATCH, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS, MAX_PDF_PAGES
from issues.models import Generation, JudgeTemplate, TemplateState, Test

MAX_OPTIONS = 10
LABELS = {
    Task.GENERIC: "Generic",
    Task.SUMMARISATION: "Summarisation",
    Task.QUESTION_ANSWERING: "Question answering",
    Task.TEXT_GENERATION: "Text generation",
}
LENGTHS = {
    Length.ANY: "Any",
    Length.SHORT: "Short (1–2 sentences)",
    Length.MEDIUM: "Medium (3–5 sentences)",
    Length.LONG: "Long (5–9 sentences)",
}


def _input(**attrs: Any) -> forms.TextInput:
    return forms.TextInput(attrs=attrs)


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "data-eh-edits": "true"})


def _count(label: str, help_text: str = "") -> forms.IntegerField:
    return forms.IntegerField(
        label=label,
        min_value=0,
        max_value=LATER_BATCH,
        initial=0,
        required=False,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"class": "eh-input dr-count"}),
    )


class OptionForm(InputForm):
    label = forms.CharField(
        max_length=60, required=False, widget=_input(placeholder="Yes"), label="Option"
    )
    description = forms.CharField(max_length=4000, required=False, widget=_input())
    value = forms.FloatField(
        min_value=0,
        max_value=1,
        required=False,
        help_text="From 0 to 1",
        widget=forms.NumberInput(attrs={"class": "eh-input dr-count", "step": "any"}),
    )
    quantity = _count("Drafts")


OptionRows = forms.formset_factory(OptionForm, extra=2, max_num=MAX_OPTIONS)


class Documents(forms.ClearableFileInput):
    allow_multiple_selected = True

    def value_from_datadict(self, data: Any, files: MultiValueDict[str, Any], name: str) -> Any:
        return files.getlist(name) if hasattr(files, "getlist") else files.get(name)


class DocumentsField(forms.FileField):
    widget = Documents

    def clean(self, data: Any, initial: Any = None) -> list[Passage]:
        try:
            return passages_of(data or [])
        except UnreadableDocument as error:
            raise forms.ValidationError(str(error)) from error


class GenerateForm(InputForm):
    """Settings of a batch, its models and sources. `order` is the order of a valid form."""

    task = forms.ChoiceField(choices=[(task.value, LABELS[task]) for task in Task])
    criterion = forms.CharField(
        max_length=120,
        widget=_input(),
        label="Name",
        help_text="What judges decide, in a few words.",
    )
    description = forms.CharField(
        max_length=4000, required=False, widget=_area(2), label="Question"
    )
    borderline = _count("Borderline drafts", "Between the options. A definition is written first.")
    pairs = _count("Pairs", "Two answers each, of which the one for the best option should win.")
    variables = forms.CharField(
        max_length=600,
        required=False,
        widget=_input(placeholder="Question"),
        label="Input fields",
        help_text="Separated by commas. Name them so that a model knows what to write. "
        "Empty: one that fits the task.",
    )
    answer_name = forms.CharField(
        max_length=120, required=False, widget=_input(placeholder="Answer"), label="Answer field"
    )
    domain = forms.CharField(max_length=120, required=False, widget=_input(list="dr-domains"))
    persona = forms.CharField(max_length=120, required=False, widget=_input(list="dr-personas"))
    length = forms.ChoiceField(
        choices=[(length.value, LENGTHS[length]) for length in Length], required=False
    )
    style = forms.CharField(max_length=120, required=False, widget=_input(placeholder="a letter"))
    sentiment = forms.CharField(max_length=120, required=False, widget=_input(placeholder="angry"))
    noise = forms.CharField(
        max_length=120, required=False, widget=_input(placeholder="typing errors")
    )
    out_of_domain = forms.BooleanField(
        required=False, label="Outside the domain, but near enough to mislead"
    )
    partial_match = forms.BooleanField(required=False, label="Show the option only in part")
    documents = DocumentsField(
        required=False,
        label="Documents to rest on",
        help_text=f"{', '.join(ENDINGS)}; at most {MAX_DOCUMENTS} files of "
        f"{MAX_DOCUMENT_BYTES // 1024**2} MB, {MAX_PDF_PAGES} pages each. A batch rests on "
        "one passage, which its drafts cite.",
    )
    kept_documents = forms.CharField(required=False, widget=forms.HiddenInput)
    examples = forms.ModelMultipleChoiceField(
        Test.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )
    template = forms.ModelChoiceField(
        JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED),
        required=False,
        empty_label="As another test of the issue",
        label="Judge template of the tests",
    )
    generator = forms.ModelChoiceField(LanguageModel.objects.none(), label="Generated by")
    judge = forms.ModelChoiceField(
        LanguageModel.objects.none(),
        required=False,
        empty_label="Nobody",
        label="Labelled by",
        help_text="Another model says which option each draft shows.",
    )
    overruled = forms.CharField(
        max_length=500,
        required=False,
        widget=_input(),
        label="Reason for a generator that is not independent",
        help_text="Needed only if it judges in a jury, or is of the family of a model under test.",
    )
    cost_limit_usd = forms.DecimalField(
        label="Cost limit (USD)",
        required=False,
        min_value=Decimal(0),
        max_digits=12,
        decimal_places=4,
        help_text="Empty: what you may still spend today.",
        widget=forms.NumberInput(attrs={"class": "eh-input dr-count", "step": "any"}),
    )

    def __init__(
        self,
        *args: Any,
        user: User,
        follows: Generation | None = None,
        test: Test | None = None,
        issue: Any = None,
        destination: Destination | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.follows, self.test, self.issue = user, follows, test, issue
        self.destination = destination
        self.option_rows = OptionRows(
            self.data or None, initial=self.initial.pop("options", None), prefix="option"
        )
        active = LanguageModel.objects.active().not_applications()
        self._field("generator").queryset = self._field("judge").queryset = active
        if len(active) == 1:
            self._field("generator").initial = active[0].pk
        if issue is not None:
            tests = Test.objects.readable_by(user).filter(issue=issue)
            self._field("examples").queryset = tests
        self._field("examples").label_from_instance = lambda each: (
            f"{each.pk}: {first_words(each.messages)}{' (sealed)' if each.sealed else ''}"
        )

    def _field(self, name: str) -> Any:
        return self.fields[name]

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        if self.issue is None and self.destination is None:
            self.add_error(None, "Choose the issue that the tests belong to.")
        if not self.option_rows.is_valid() or self.errors:
            return data
        options = [
            {**row, "quantity": row.get("quantity") or 0}
            for row in self.option_rows.cleaned_data
            if row.get("label")
        ]
        for option in options:
            if option.get("value") is None:
                self.add_error(None, f"Option {option['label']!r} needs a value from 0 to 1.")
        variables = [name.strip() for name in data["variables"].split(",") if name.strip()]
        names = set(DraftingSettings.model_fields) & set(data)
        given = {
            name: data[name] or 0 if name in ("borderline", "pairs") else data[name]
            for name in names
        }
        given |= {
            "options": options,
            "variables": variables,
            "answer_name": data["answer_name"] or "Answer",
            "template": data["template"].pk if data["template"] else None,
        }
        if not self.errors:
            try:
                self.drafting = DraftingSettings.model_validate(given)
            except ValidationError as error:
                for problem in option_problems(error):
                    self.add_error(None, problem)
        return data

    @property
    def passages(self) -> list[Passage]:
        """Return the passages of the files now sent, else of those sent before."""
        found: list[Passage] = self.cleaned_data.get("documents") or []
        if found or not (kept := self.cleaned_data.get("kept_documents")):
            return found or _passages_of(self.follows)
        try:
            return [Passage(*row) for row in signing.loads(kept, salt=SALT, max_age=MAX_AGE_S)]
        except signing.BadSignature:
            return []

    def kept(self) -> str:
        """Return the documents for a hidden field: a browser does not send files again."""
        if not self.is_bound or "documents" in self.errors:
            return ""
        passages = [tuple(passage) for passage in self.passages]
        return signing.dumps(passages, salt=SALT, compress=True) if passages else ""

    def order(self) -> Order:
        """Return what a valid form asks for."""
        data = self.cleaned_data
        return Order(
            self.drafting,
            data["generator"],
            data["judge"],
            issue=self.issue,
            test=self.test,
            examples=list(data["examples"]),
            passages=self.passages,
            follows=self.follows,
            destination=self.destination,
            overruled=data["overruled"],
            cost_limit_usd=data["cost_limit_usd"],
        )


SALT = "issues.drafting.documents"
MAX_AGE_S = 24 * 3600


def _passages_of(follows: Generation | None) -> list[Passage]:
    return [Passage(**row) for row in follows.passages] if follows else []


def suggestions(user: User) -> dict[str, Sequence[str]]:
    """Return domains and personas: those that come along, and those of earlier batches."""
    own = Generation.objects.readable_by(user).values_list("settings__domain", "settings__persona")
    pairs = [*built_in_personas(), *own[:500]]
    return {
        "domains": sorted({domain for domain, _ in pairs if domain}),
        "personas": list(dict.fromkeys(persona for _, persona in pairs if persona)),
    }


def sent_number(request: HttpRequest, name: str) -> str | None:
    """Return a row's number from the form, else from the link."""
    return request.POST.get(name) or request.GET.get(name)
