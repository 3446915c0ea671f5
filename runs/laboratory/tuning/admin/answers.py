"""Questions to a judge beside the editor of its prompt, and the answers that are kept there."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from evalhub.admin_site.contributions import Contribution, contribute
from evalhub.admin_site.pages import current_user, require, row_number
from evalhub.models import LanguageModel
from evalhub.values.storable import storable
from issues.models import JudgeTemplate
from runs.laboratory.direct_calls import reply_of
from runs.laboratory.tuning.models import PromptAnswer
from runs.laboratory.tuning.questions import question_about

EDIT = "issues.change_judgetemplate"
MAX_PROMPT = 20_000
SHOWN = 20
"""Newest answers on all versions of a template."""


def ask_section(request: HttpRequest, template: Any, model: LanguageModel | None = None) -> str:
    """Render the answers on all versions of a template, and the form to ask.

    Args:
        model: The judge to ask; None: one is chosen.
    """
    may_edit = request.user.has_perm(EDIT)
    rows = PromptAnswer.objects.readable_by(request.user).filter(template__family=template.family)
    answers = rows.prefetch_related("template", "language_model", "asked_by")[:SHOWN]
    if not (may_edit or answers):
        return ""
    models = LanguageModel.objects.active().not_applications().only("name").order_by("name")
    context = {"template": template, "model": model, "models": models, "answers": answers}
    context |= {"may_edit": may_edit}
    return render_to_string("runs/laboratory/tuning/_ask.html", context, request)


@method_decorator(require_POST)
def ask_view(admin: Any, request: HttpRequest, object_id: int) -> HttpResponse:
    """Ask a judge about the prompt in the editor and keep its answer, or delete an answer."""
    require(request.user.has_perm(EDIT))
    template = get_object_or_404(JudgeTemplate, pk=object_id)
    if "delete" in request.POST:
        rows = PromptAnswer.objects.readable_by(request.user).filter(template=template)
        get_object_or_404(rows, pk=row_number(request.POST["delete"])).delete()
        return HttpResponse()
    prompt = (request.POST.get("text") or template.text)[:MAX_PROMPT]
    texts = {name: request.POST.get(name, "") for name in ("ideal", "poor")}
    models = LanguageModel.objects.active().not_applications()
    model = models.filter(pk=row_number(request.POST.get("model"))).first()
    try:
        question = question_about(prompt, **texts)
    except ValueError as error:
        return _failed(request, str(error))
    if model is None:
        return _failed(request, "Choose a judge to ask.")
    said = reply_of(model.judge_endpoint(), question.message, by=current_user(request))
    if said.error:
        return _failed(request, said.error)
    answer = PromptAnswer.objects.create(
        template=template,
        is_edited=prompt.split() != template.text[:MAX_PROMPT].split(),
        language_model=model,
        question=question.key,
        answer=storable(said.text),
        sealed=bool(texts["ideal"].strip()),
        asked_by=current_user(request),
        **{name: storable(text) for name, text in texts.items()},
    )
    context = {"answer": answer, "cost": said.cost, "may_edit": True}
    return render(request, "runs/laboratory/tuning/_answer.html", context)


def _failed(request: HttpRequest, error: str) -> HttpResponse:
    return render(request, "runs/laboratory/tuning/_answer.html", {"error": error})


contribute(
    Contribution(section=ask_section, views=(("<int:object_id>/ask/", ask_view, "ask"),)),
    JudgeTemplate,
)
