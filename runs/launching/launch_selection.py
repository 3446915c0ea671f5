"""Selection of a launch: its rows, the problems that prevent it, and warnings."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalhub.llm import word_vectors
from evalhub.llm.content.content_parts import images_in
from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.models import LanguageModel
from issues.checks import CHECKS
from issues.judge_templates.prompts import needs_retrieved_documents
from issues.models import Test
from runs.judging.jury import judges_for, repair_models_of
from runs.launching.application_fit import application_problems, application_warnings
from runs.launching.exposure import SealedExposure, refusal, roles_of_judges, sealed_exposure
from runs.launching.launch_options import OPTIONS, LaunchRefused, LaunchSpec
from runs.launching.number_lists import joined
from runs.models import Approach, Judge, Jury, Suite
from runs.suites.suite_tests import read_suite
from runs.suites.test_selection import TestSelection


class Selection(NamedTuple):
    """Rows that a launch names."""

    tests: list[Test]
    models: list[LanguageModel]
    judges: list[Judge]
    jury: Jury | None
    suite: Suite | None
    embedder: LanguageModel | None

    @property
    def backup(self) -> Judge | None:
        return self.jury.backup if self.jury else None

    @property
    def everyone(self) -> list[Judge]:
        """Judges and backup judge."""
        return [*self.judges, self.backup] if self.backup else self.judges

    def judging_models(self) -> set[LanguageModel]:
        """Return all models that judge or repair replies."""
        templates = {test.template_id for test in self.tests if test.template_id is not None}
        repair_models = repair_models_of(self.judges, self.backup, templates)
        return repair_models | {judge.language_model for judge in self.everyone}


def select(spec: LaunchSpec, *, asks: bool = True) -> Selection:
    """Read the rows that a launch names. `asks` is False for imported answers.

    Raises:
        LaunchRefused: Something named does not exist, cannot run or does not fit together.
    """
    selection = named(spec, asks=asks)
    if problems := problems_of(spec, selection, asks=asks):
        raise LaunchRefused([_by_field_name(problem) for problem in problems])
    return selection


def named(spec: LaunchSpec, *, asks: bool = True) -> Selection:
    """Return the rows that a launch names, as far as they exist and can run.

    A model that is not asked need not be active.
    """
    models = LanguageModel.objects.active() if asks else LanguageModel.objects.all()
    jury = Jury.objects.filter(pk=spec.jury).first() if spec.jury else None
    tests = chosen(spec).named.runnable().select_related("issue", "template")
    return Selection(
        tests=list(tests.prefetch_related("tags", "issue__tags", "criteria").order_by("pk")),
        models=list(models.filter(pk__in=spec.models)),
        judges=list(jury.judges.select_related("language_model", "template")) if jury else [],
        jury=jury,
        suite=Suite.objects.filter(pk=spec.suite).first() if spec.suite else None,
        embedder=LanguageModel.objects.active()
        .not_applications()
        .filter(pk=spec.similarity_model or 0)
        .first(),
    )


def problems_of(spec: LaunchSpec, selection: Selection, *, asks: bool = True) -> list[str]:
    """Return the problems that prevent this launch."""
    sealed = sealed_exposure_of(spec, selection, asks=asks)
    return [
        *_missing(spec, selection),
        *inactive_judges(selection.everyone),
        *_tests_without_template(spec, selection),
        *_raw_prompts_with_system_prompt(spec, selection),
        *(application_problems(spec, selection.tests, selection.models) if asks else ()),
        *_self_evaluation(spec, selection),
        *_limit_without_prices(spec, selection),
        *_no_word_vectors(spec),
        *refusal(sealed, is_allowed=spec.allow_sealed_exposure),
    ]


def sealed_exposure_of(
    spec: LaunchSpec, selection: Selection, *, asks: bool = True
) -> SealedExposure | None:
    """Return the exposure of sealed tests that this launch would cause, if any."""
    sealed = [test.pk for test in selection.tests if test.sealed]
    if not sealed:
        return None
    templates = {test.template_id for test in selection.tests if test.template_id is not None}
    roles = [("candidate", model.endpoint()) for model in selection.models] if asks else []
    roles += roles_of_judges(selection.judges, selection.backup, templates)
    if selection.embedder and spec.wants_similarity:
        roles.append(("similarity", selection.embedder.endpoint()))
    return sealed_exposure(sealed, len(selection.tests), roles)


def chosen(spec: LaunchSpec) -> TestSelection:
    suites = [spec.suite] if spec.suite else []
    return TestSelection(
        spec.tests, spec.issues, spec.tags, suites, without_synthetic=spec.without_synthetic
    )


def _missing(spec: LaunchSpec, selection: Selection) -> list[str]:
    problems = []
    if not selection.tests:
        problems.append("No test can run: select approved tests of issues that are not deprecated.")
    idle = set(spec.tests) - {test.pk for test in selection.tests} if selection.tests else set()
    synthetic = set(Test.objects.filter(pk__in=idle).runnable().values_list("pk", flat=True))
    if synthetic:
        problems.append(f"These tests are synthetic, and left out: {joined(sorted(synthetic))}.")
    if unfit := sorted(idle - synthetic):
        problems.append(f"These tests are not approved: {joined(unfit)}.")
    unusable = set(spec.models) - {model.pk for model in selection.models}
    inactive = LanguageModel.objects.filter(pk__in=unusable, is_active=False)
    if inactive:
        problems.append(f"These models are inactive: {', '.join(sorted(map(str, inactive)))}.")
    known = {model.pk for model in (*selection.models, *inactive)}
    if unknown := sorted(set(spec.models) - known):
        problems.append(f"These models are unknown: {joined(unknown)}.")
    named = (("jury", spec.jury, selection.jury), ("suite", spec.suite, selection.suite))
    problems += [f"There is no {kind} {pk}." for kind, pk, row in named if pk and row is None]
    if selection.suite and (problem := read_suite(selection.suite).problem):
        problems.append(problem)
    if spec.similarity_model and selection.embedder is None:
        problems.append(
            f"The similarity model is unknown, inactive or an application: {spec.similarity_model}."
        )
    return problems


def inactive_judges(judges: Iterable[Judge]) -> list[str]:
    models = {judge.language_model for judge in judges}
    off = sorted(str(model) for model in models if not model.is_active)
    return [f"These judges' models are inactive: {', '.join(off)}."] if off else []


def _tests_without_template(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.score_by_similarity or not without_prompt(selection.judges):
        return []
    bare = [t.pk for t in selection.tests if t.template_id is None and not t.criteria.all()]
    return [f"These tests have no judge template and no rubric: {joined(bare)}."] if bare else []


def _raw_prompts_with_system_prompt(spec: LaunchSpec, selection: Selection) -> list[str]:
    raw = [test.pk for test in selection.tests if raw_prompt_of(test.messages) is not None]
    if not raw or not any(prompt.strip() for prompt in spec.system_prompts):
        return []
    return [
        "Raw prompts are sent without a system prompt: remove it, or select no raw prompts. "
        f"These tests are: {joined(raw)}."
    ]


def without_prompt(judges: Sequence[Judge]) -> list[Judge]:
    """Return judges of whole tests that have no template of their own."""
    return [
        judge
        for judge in judges_for(judges, on_rubric=False)
        if judge.approach != Approach.TEMPLATE or judge.template_id is None
    ]


_SELF_EVALUATION = f"“{OPTIONS['allow_self_evaluation'].title}”"


def _by_field_name(problem: str) -> str:
    """Name options as scripts do: forms show their own problems, by their labels."""
    return problem.replace(_SELF_EVALUATION, "allow_self_evaluation")


def _self_evaluation(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.allow_self_evaluation:
        return []
    both = self_judging(selection.models, selection.judging_models())
    if not both:
        return []
    return [
        f"{', '.join(both)} would judge its own answers. "
        f"Choose another jury, or set {_SELF_EVALUATION}."
    ]


def self_judging(models: Iterable[LanguageModel], judging: Iterable[LanguageModel]) -> list[str]:
    """Return the names of the models that judge too, by whatever row."""
    addresses = {_address(model) for model in judging}
    return sorted(str(model) for model in models if _address(model) in addresses)


def _address(model: LanguageModel) -> tuple[str, str]:
    return model.litellm_model, model.api_base


def _limit_without_prices(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.cost_limit_usd is None:
        return []
    models = {*selection.models, *selection.judging_models()}
    unpriced = {str(model) for model in models if not model.has_prices}
    embedder = selection.embedder
    if embedder and spec.wants_similarity and embedder.input_usd_per_mtok is None:
        unpriced.add(str(embedder))
    if not unpriced:
        return []
    names = ", ".join(sorted(unpriced))
    return [f"A cost limit needs prices: add those of {names}, or remove the limit."]


def _no_word_vectors(spec: LaunchSpec) -> list[str]:
    if not spec.wants_similarity or spec.similarity_model:
        return []
    problem = word_vectors.problem()
    return [f"Similarity cannot be measured. {problem}"] if problem else []


# Warnings ----------------------------------------------------------------------------------------


def warnings(spec: LaunchSpec, selection: Selection) -> list[str]:
    """Return concerns that do not prevent the launch."""
    return [
        *_same_developer(selection),
        *equal_samples(selection.judges),
        *backup_of_one_model(selection.judges, selection.backup),
        *_without_reference(spec, selection),
        *_checks_that_cannot_run(selection.tests),
        *application_warnings(selection.tests, selection.models),
        *_unseen_images(selection),
        *_without_documents(selection),
    ]


def _unseen_images(selection: Selection) -> list[str]:
    """Warn of models that take no images although tests have some."""
    tests = [test.pk for test in selection.tests if images_in(test.messages)]
    roles = (
        (selection.models, "Their results will be errors"),
        ([judge.language_model for judge in selection.everyone], "Their judgments will fail"),
    )
    return [
        f"These models take no images: {', '.join(blind)}. {outcome} on tests {joined(tests)}."
        for models, outcome in roles
        if tests and (blind := sorted({str(each) for each in models if not each.takes_images}))
    ]


def _same_developer(selection: Selection) -> list[str]:
    developers = {judge.language_model.developer for judge in selection.everyone} - {""}
    return [
        f"{model} and a judge are both from {model.developer}: judges favour related models."
        for model in selection.models
        if model.developer in developers
    ]


def equal_samples(judges: Iterable[Judge]) -> list[str]:
    """Warn of judges with several samples at temperature 0."""
    same = []
    for judge in judges:
        temperature = (judge.language_model.params | judge.params).get("temperature")
        varies = isinstance(temperature, int | float) and temperature != 0
        if judge.samples > 1 and not varies:
            same.append(str(judge))
    if not same:
        return []
    return [
        f"Several samples at temperature 0: {', '.join(same)}. They hardly differ and say little "
        "about a judge's certainty."
    ]


def backup_of_one_model(judges: Iterable[Judge], backup: Judge | None) -> list[str]:
    """Warn of a backup whose model already judges and fails with it."""
    models = {_address(judge.language_model) for judge in judges}
    if backup is None or _address(backup.language_model) not in models:
        return []
    return [f"{backup.language_model} is both judge and backup: if it fails, so does the backup."]


def _without_reference(spec: LaunchSpec, selection: Selection) -> list[str]:
    bare = [t.pk for t in compared(spec, selection) if not t.reference.strip()]
    if not bare:
        return []
    return [
        f"Tests without a reference answer: {joined(bare)}. They get no score, for their "
        "similarity cannot be measured."
    ]


def _without_documents(selection: Selection) -> list[str]:
    """Warn of judges that ask for retrieved documents, which these models do not report."""
    silent = sorted(str(model) for model in selection.models if not model.documents_path)
    templates = [judge.template for judge in selection.judges if judge.template]
    templates += [t.template for t in selection.tests if t.template and not t.criteria.all()]
    asking = sorted({str(t) for t in templates if needs_retrieved_documents(t.text)})
    if not silent or not asking:
        return []
    return [
        f"{', '.join(asking)} judges by retrieved documents, which {', '.join(silent)} does not "
        "report: these judgments fail and are not scored."
    ]


def compared(spec: LaunchSpec, selection: Selection) -> list[Test]:
    """Return tests whose score includes similarity to the reference answer."""
    by_similarity = spec.score_by_similarity
    return [
        test
        for test in selection.tests
        if (by_similarity if is_unscored(test, selection) else spec.similarity_weight > 0)
    ]


def is_unscored(test: Test, selection: Selection) -> bool:
    """Return whether the test has neither a rubric nor a judge in this launch."""
    if test.criteria.all():
        return False
    able = judges_for(selection.judges, on_rubric=False)
    bare = without_prompt(selection.judges) if test.template_id is None else []
    return all(judge in bare for judge in able)


def _checks_that_cannot_run(tests: Iterable[Test]) -> list[str]:
    names = Counter(
        name
        for test in tests
        for criterion in test.criteria.all()
        if (name := criterion.check_name) and not (name in CHECKS and CHECKS[name].can_run)
    )
    return [
        f"{count} {'criterion uses' if count == 1 else 'criteria use'} the check {name!r}, which "
        "cannot run here: not scored."
        for name, count in sorted(names.items())
    ]
