"""Pages that start a generation run: they show its calls and cost, which its button confirms."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse

from evalhub.admin_site.pages import current_user, require
from evalhub.display.formatting import counted
from evalhub.llm import local_model
from evalhub.models import LanguageModel
from runs.admin.batches import StartPages
from runs.laboratory.trials.admin.forms import FreshForm, GenerateForm, ReplayForm, SmallForm
from runs.laboratory.trials.benchmarks.new_benchmarks import generate_fresh, small_benchmark
from runs.laboratory.trials.generation import generation_runs
from runs.laboratory.trials.generation.generation_estimate import estimate
from runs.laboratory.trials.models import GenerationRun
from runs.laboratory.trials.replays.replay_runs import REPLAY_RIGHTS

GENERATE = "trials.add_generationrun"


class StartViews(StartPages):
    """Views of a benchmark's starts."""

    def generate_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Choose stage and model, then start."""
        require(request.user.has_perm(GENERATE))
        benchmark = self.found(request, object_id)
        form = GenerateForm(_sent(request))
        return self._start(
            request,
            form,
            lambda: generation_runs.start(
                form.order(benchmark),
                by=current_user(request),
                cost_limit_usd=form.cleaned_data["cost_limit_usd"],
            ),
            title=f"Generate {benchmark}",
            sentence="The model writes what is missing: ideas of topics, descriptions of ideas, "
            "and the texts of all paths without an asterisk. Each step can be reviewed.",
            back_url=benchmark.get_absolute_url(),
        )

    def replay_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Choose paths and a model under test, then start."""
        require(request.user.has_perms(REPLAY_RIGHTS))
        benchmark = self.found(request, object_id)
        form = ReplayForm(benchmark, _sent(request))
        return self._start(
            request,
            form,
            lambda: generation_runs.start(
                form.order(),
                by=current_user(request),
                cost_limit_usd=form.cleaned_data["cost_limit_usd"],
            ),
            title=f"Test a model on {benchmark}",
            sentence="Each path becomes an issue with an approved test for each idea. The results "
            "of all paths become one run, so that trends, comparisons and gates include them.",
            back_url=benchmark.get_absolute_url(),
        )

    def fresh_view(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Choose seed and perturbation, then generate a fresh instance."""
        require(request.user.has_perm(GENERATE))
        benchmark = self.found(request, object_id)
        form = FreshForm(_sent(request) or {})
        return self._start(
            request,
            form,
            lambda: generate_fresh(
                benchmark,
                by=current_user(request),
                **form.cleaned_data,
            ),
            title=f"Generate a fresh instance of {benchmark}",
            sentence="It has the same topics and paths, and ideas of its own: none is repeated. "
            "The model, its sizes and its cost limit are those of the last generation run.",
            back_url=benchmark.get_absolute_url(),
        )

    def small_view(self, request: HttpRequest) -> HttpResponse:
        """Have a model write 2 topics with 3 ideas each: the embedded one, or another."""
        require(request.user.has_perm(GENERATE))
        models = LanguageModel.objects.active().not_applications().order_by("pk")
        embedded = models.filter(litellm_model=local_model.LITELLM_MODEL)
        model = embedded.first() or models.first()
        form = SmallForm(_sent(request) or ({"model": model.pk} if model else None))
        return self._start(
            request,
            form,
            lambda: small_benchmark(form.cleaned_data["model"], by=current_user(request)),
            title="Generate a small benchmark",
            sentence="2 topics with 3 ideas each, of which one is a cluster, and the texts of 3 "
            "paths: enough to see how trials of judges work."
            if model
            else "There is no language model yet: add one first.",
            back_url=self.url_of("changelist"),
        )

    def _start(
        self,
        request: HttpRequest,
        form: forms.Form,
        begin: Callable[[], GenerationRun],
        **context: Any,
    ) -> HttpResponse:
        """Show the form with the estimate; start what was estimated."""

        def start() -> tuple[str, str]:
            run = begin()
            return counted(run.expected, "step"), run.benchmark.get_absolute_url()

        is_ready = form.is_bound and form.is_valid()
        return self.start_page(
            request,
            "runs/batch_start.html",
            form,
            (lambda: estimate(begin)) if is_ready else None,
            start,
            **context,
        )


def _sent(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None
