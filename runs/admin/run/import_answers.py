"""The page that imports a run's answers from a file."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone

from evalhub.admin_site.pages import PageAdmin, current_user
from evalhub.display.input_form import InputForm
from evalhub.models import LanguageModel
from runs.admin.launch.fields import form_field
from runs.launching.answer_files import read_file
from runs.launching.imported_answers import import_answers
from runs.launching.launch_options import LaunchRefused, read_spec
from runs.limits import MAX_ANSWER_FILE_BYTES

OPTIONS_OF_IMPORT = (
    *("suite", "jury", "label", "release"),
    *("allow_self_evaluation", "allow_sealed_exposure"),
)


class ImportAnswersForm(InputForm):
    """The model or application that answered, options of the launch, and the file."""

    model = forms.ModelChoiceField(
        LanguageModel.objects.order_by("name"),
        label="Model or application that answered",
        empty_label="Choose a model",
        error_messages={"required": "Choose the model that answered."},
    )
    system_prompt = forms.CharField(
        required=False,
        strip=False,
        label="System prompt of these answers",
        widget=forms.Textarea({"rows": 2}),
    )
    file = forms.FileField(error_messages={"required": "Choose a file."})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": False, **kwargs})
        self.fields |= {name: form_field(name) for name in OPTIONS_OF_IMPORT}

    def clean_file(self) -> tuple[str, str]:
        """Return the file's name and text."""
        file = self.cleaned_data["file"]
        if file.size > MAX_ANSWER_FILE_BYTES:
            raise forms.ValidationError(
                f"The file has {file.size:,} bytes; the limit is {MAX_ANSWER_FILE_BYTES:,}."
            )
        try:
            return file.name, file.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise forms.ValidationError(f"The file is not UTF-8 text: {error}.") from error


def import_answers_page(request: HttpRequest, admin: PageAdmin) -> HttpResponse:
    """Show the form, or make the run; list every problem."""
    label = f"Answers of {timezone.localtime():%-d %B %Y, %H:%M}"
    form = ImportAnswersForm(initial={"label": label})
    problems: list[str] = []
    if request.method == "POST":
        form = ImportAnswersForm(request.POST, request.FILES)
        problems = [str(message) for found in form.errors.values() for message in found]
        if not problems:
            try:
                return _imported(request, form.cleaned_data)
            except LaunchRefused as refused:
                problems = refused.problems
    return admin.page(
        request,
        "runs/run/import_answers.html",
        title="Import answers",
        problems=problems,
        form=form,
    )


def _imported(request: HttpRequest, values: dict[str, Any]) -> HttpResponse:
    answers = read_file(*values["file"])
    options = {
        **{name: values[name] for name in OPTIONS_OF_IMPORT},
        **{name: values[name] and values[name].pk for name in ("jury", "suite")},
        "tests": sorted({answer.body.test for answer in answers}),
        "models": [values["model"].pk],
        "system_prompts": [values["system_prompt"]],
    }
    run = import_answers(read_spec(options), answers, by=current_user(request))
    messages.success(request, f"Imported {len(answers)} answers; judging has started.")
    return HttpResponseRedirect(run.get_absolute_url())
