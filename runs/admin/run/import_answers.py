"""The page on which a run is given its answers as a file."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils import timezone

from evalhub.models import LanguageModel
from runs.launching.imported_answers import import_answers, read_csv
from runs.launching.spec import LaunchRefused, read_spec
from runs.models import Jury

MOST_BYTES = 10 * 1024 * 1024


class ImportAnswersForm(forms.Form):
    """Whose answers they are, who judges them, and the file."""

    label = forms.CharField(max_length=150, error_messages={"required": "Give it a label."})
    release = forms.CharField(max_length=100, required=False)
    model = forms.ModelChoiceField(
        LanguageModel.objects.all(), error_messages={"required": "Choose the model that answered."}
    )
    system_prompt = forms.CharField(required=False, strip=False)
    jury = forms.ModelChoiceField(Jury.objects.filter(is_active=True), required=False)
    allow_self_evaluation = forms.BooleanField(required=False)
    allow_sealed_exposure = forms.BooleanField(required=False)
    file = forms.FileField(error_messages={"required": "Choose a CSV file."})

    def clean_file(self) -> str:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(f"The file has {file.size:,} bytes, above {MOST_BYTES:,}.")
        try:
            return str(file.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise forms.ValidationError(f"The file is not UTF-8 text: {error}.") from error


def import_answers_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """Show the form; or make the run, or say everything that is wrong."""
    problems: list[str] = []
    if request.method == "POST":
        form = ImportAnswersForm(request.POST, request.FILES)
        problems = [str(message) for found in form.errors.values() for message in found]
        if not problems:
            try:
                return _supplied(request, form.cleaned_data)
            except LaunchRefused as refused:
                problems = refused.problems
    context = {
        **site.each_context(request),
        "title": "Give a run its answers",
        "problems": problems,
        "data": request.POST or {"label": f"Answers of {timezone.localtime():%-d %B %Y, %H:%M}"},
        "models": LanguageModel.objects.order_by("name"),
        "juries": Jury.objects.filter(is_active=True),
    }
    return TemplateResponse(request, "runs/run/import_answers.html", context)


def _supplied(request: HttpRequest, values: dict[str, Any]) -> HttpResponse:
    answers = read_csv(values["file"])
    spec = read_spec(
        {
            "label": values["label"],
            "release": values["release"],
            "tests": [answer.test for answer in answers],
            "models": [values["model"].pk],
            "system_prompts": [values["system_prompt"]],
            "jury": values["jury"].pk if values["jury"] else None,
            "allow_self_evaluation": values["allow_self_evaluation"],
            "allow_sealed_exposure": values["allow_sealed_exposure"],
        }
    )
    run = import_answers(spec, answers, by=request.user)  # type: ignore[arg-type]
    messages.success(request, f"{len(answers)} answers were taken over; they are judged now.")
    return HttpResponseRedirect(run.get_absolute_url())
