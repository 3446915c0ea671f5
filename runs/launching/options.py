"""A launch as the options of a command ask for it: by names, as people type them."""

import json
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping, Sequence
from typing import Any

from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel
from issues.models import Issue, Tag
from runs.judging.jury_builder import JuryBuilder, backup_problem, jury_of
from runs.launching.number_lists import MAX_TEMPERATURE, numbers_in
from runs.launching.spec import LaunchRefused, LaunchSpec, read_spec
from runs.models import DEFAULT_APPROACHES, Approach, Jury, Suite
from runs.models.jury import MAX_SAMPLES

APPROACHES = {approach.value.replace("_", "-"): approach.value for approach in Approach}
JUDGE_OPTIONS = ("approach", "judge_temperature", "judge_samples", "judge_param", "backup")
"""Options that say how the judges named with --judge are asked."""


def add_launch_options(parser: ArgumentParser) -> None:
    """Everything that `spec_of` reads."""
    parser.add_argument(
        "--model", action="append", default=[], help="Its name. Repeatable: one run for each."
    )
    what = parser.add_argument_group("what is tested (everything named is put together)")
    what.add_argument("--suite", help="Name of a suite. Its defaults hold for what is not said.")
    what.add_argument("--tags", nargs="+", default=[], metavar="NAME")
    what.add_argument("--issues", default="", metavar="NUMBERS", help="Such as 3,8-12.")
    what.add_argument("--tests", default="", metavar="NUMBERS", help="Such as 3,8-12.")
    what.add_argument(
        "--defaults", action=BooleanOptionalAction, default=True, help="Use those of the suite."
    )
    how = parser.add_argument_group("how")
    how.add_argument("--label", default="", help="Name of the run.")
    how.add_argument("--release", help="Version under test.")
    how.add_argument("--repeats", type=int, help="How often each test is asked.")
    how.add_argument("--cost-limit", help="US dollars that each run may cost.")
    how.add_argument("--system-prompt", action="append", help="Repeatable: one run for each.")
    how.add_argument(
        "--temperature", action="append", type=float, help="Repeatable: one run for each."
    )
    how.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="Such as seed=7."
    )
    _add_options_of_judges(parser)
    _add_options_of_similarity(parser)


def _add_options_of_judges(parser: ArgumentParser) -> None:
    who = parser.add_argument_group("who judges (without any only people)")
    who.add_argument("--jury", help="Name of a jury.")
    who.add_argument("--judge", action="append", default=[], help="Name of a model. Repeatable.")
    who.add_argument(
        "--approach",
        action="append",
        choices=list(APPROACHES),
        help="How the judges judge: repeatable, one judge for each. Usual are "
        + ", ".join(name for name, value in APPROACHES.items() if value in DEFAULT_APPROACHES)
        + ".",
    )
    who.add_argument(
        "--judge-temperature", action="append", type=float, help="Repeatable: one judge for each."
    )
    who.add_argument("--judge-samples", type=int, help="How often each judge is asked the same.")
    who.add_argument("--judge-param", action="append", metavar="NAME=VALUE")
    who.add_argument("--backup", help="Name of the model that is asked where a judge failed.")
    who.add_argument("--allow-self-evaluation", action="store_true", default=None)
    parser.add_argument(
        "--allow-sealed-exposure",
        action="store_true",
        default=None,
        help="Send sealed tests outside the trusted network, which exposes them.",
    )


def _add_options_of_similarity(parser: ArgumentParser) -> None:
    near = parser.add_argument_group("nearness to the reference answer")
    near.add_argument(
        "--similarity-weight", type=float, metavar="BETA", help="Its share of scores, 0 to 1."
    )
    near.add_argument("--similarity-model", help="Name of what embeds. Without: built in.")
    near.add_argument(
        "--score-by-similarity",
        action="store_true",
        default=None,
        help="Score tests by it alone that have no rubric and no judge.",
    )


def spec_of(options: Mapping[str, Any]) -> LaunchSpec:
    """The launch that the options describe; a jury of the judges named is found or made.

    Raises:
        LaunchRefused: Names are unknown or values wrong, all of them told at once.
    """
    problems: list[str] = []
    suite = _one(Suite, options["suite"], "suite", problems)
    values = {
        **(suite.defaults if suite and options["defaults"] else {}),
        **_tested(options, suite, problems),
        **_texts(options, problems),
    }
    values.setdefault("models", [])
    if not values["models"] and not options["model"]:
        problems.append("Name a model with --model: no suite says which.")
    jury_builder = _jury_builder(options, problems)
    if problems:
        raise LaunchRefused(problems)
    if jury_builder is not None:
        values["jury"] = _jury(jury_builder, options["backup"]).pk
    return read_spec(values)


def _tested(options: Mapping[str, Any], suite: Suite | None, problems: list[str]) -> dict[str, Any]:
    """What is tested, and the label, which are said or nothing."""
    issues = _numbers(options["issues"], "--issues", problems)
    known = Issue.objects.filter(pk__in=issues).values_list("pk", flat=True)
    problems += [f"There is no issue {number}." for number in sorted(set(issues) - set(known))]
    usual = ", ".join(options["model"]) or (suite.name if suite else "")
    return {
        "label": options["label"] or usual[:150],
        "suite": suite and suite.pk,
        "tags": _ids(Tag, options["tags"], "tag", problems),
        "issues": issues,
        "tests": _numbers(options["tests"], "--tests", problems),
    }


def _texts(options: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """The fields of a launch that options speak of; what is not said is not among them."""
    jury = _one(Jury, options["jury"], "jury", problems)
    embedder = _one(LanguageModel, options["similarity_model"], "model", problems)
    said = {
        "models": _ids(LanguageModel, options["model"], "model", problems),
        "release": options["release"],
        "repeats": options["repeats"],
        "cost_limit_usd": options["cost_limit"],
        "system_prompts": options["system_prompt"],
        "temperatures": options["temperature"],
        "params": _parameters(options["param"], "--param", problems),
        "jury": jury and jury.pk,
        "allow_self_evaluation": options["allow_self_evaluation"],
        "similarity_weight": options["similarity_weight"],
        "similarity_model": embedder and embedder.pk,
        "score_by_similarity": options["score_by_similarity"],
        "allow_sealed_exposure": options["allow_sealed_exposure"],
    }
    return {name: value for name, value in said.items() if value not in (None, [], {})}


# Judges ------------------------------------------------------------------------------------------


def _jury_builder(options: Mapping[str, Any], problems: list[str]) -> JuryBuilder | None:
    """How the judges named are put together; None where none is named."""
    ids = _ids(LanguageModel, options["judge"], "model", problems)
    _one(LanguageModel, options["backup"], "model", problems)
    params = _parameters(options["judge_param"] or [], "--judge-param", problems)
    samples, temperatures = options["judge_samples"], options["judge_temperature"] or []
    problems += parameter_problems(params)
    if options["judge"] and options["jury"]:
        problems.append("--jury and --judge both say who judges: leave one of them out.")
    idle = [name for name in JUDGE_OPTIONS if options[name] is not None and not options["judge"]]
    problems += [
        f"--{name.replace('_', '-')} needs judges: name them with --judge." for name in idle
    ]
    if samples is not None and not 1 <= samples <= MAX_SAMPLES:
        problems.append(f"--judge-samples {samples}: ask from 1 to {MAX_SAMPLES} times.")
    wrong = [number for number in temperatures if not 0 <= number <= MAX_TEMPERATURE]
    problems += [
        f"--judge-temperature {number:g} is not from 0 to {MAX_TEMPERATURE}." for number in wrong
    ]
    if not ids:
        return None
    return JuryBuilder(
        models=list(LanguageModel.objects.filter(pk__in=ids).order_by("pk")),
        approaches=[APPROACHES[name] for name in options["approach"] or []] or DEFAULT_APPROACHES,
        temperatures=temperatures,
        params=params,
        samples=samples or 1,
    )


def _jury(jury_builder: JuryBuilder, backup_name: str | None) -> Jury:
    model = LanguageModel.objects.filter(name=backup_name).first() if backup_name else None
    if model and (
        problem := backup_problem(jury_builder.backup_draft(model), jury_builder.drafts())
    ):
        raise LaunchRefused([problem])
    return jury_of(jury_builder.judges(), jury_builder.backup(model) if model else None)


# Reading -----------------------------------------------------------------------------------------


def _one(model: Any, name: str | None, what: str, problems: list[str]) -> Any:
    ids = _ids(model, [name], what, problems) if name else []
    return model.objects.get(pk=ids[0]) if ids else None


def _ids(model: Any, names: Sequence[str], what: str, problems: list[str]) -> list[int]:
    found = dict(model.objects.filter(name__in=names).values_list("name", "pk"))
    missing = [name for name in names if name not in found]
    if missing:
        known = list(model.objects.order_by("name").values_list("name", flat=True)[:10])
        offer = f" There is {', '.join(known)}." if known else f" There is no {what} yet."
        problems += [f"There is no {what} called {name!r}.{offer}" for name in missing]
    return [found[name] for name in dict.fromkeys(names) if name in found]


def _numbers(text: str, option: str, problems: list[str]) -> list[int]:
    try:
        return numbers_in(text)
    except ValueError as error:
        problems.append(f"{option}: {error}")
        return []


def _parameters(texts: Sequence[str], option: str, problems: list[str]) -> dict[str, Any]:
    """Each NAME=VALUE; the value is JSON where it reads so, otherwise text."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            problems.append(f"{option} {text!r}: write NAME=VALUE, such as seed=7.")
        found[name] = _json_or_text(value)
    return found


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value
