"""The options of `LaunchSpec` as options of a command: rows by name, not by number."""

import json
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from django.apps import apps
from django.db.models import Choices

from evalhub.llm.parameters import parameter_problems
from evalhub.models import LanguageModel, ModelKind
from issues.models import Issue
from runs.judging.jury_builder import JuryBuilder, backup_problem, jury_of
from runs.launching.launch_options import OPTIONS, LaunchRefused, LaunchSpec, entry_of, read_spec
from runs.launching.number_lists import MAX_TEMPERATURE, numbers_in
from runs.limits import MAX_JUDGE_SAMPLES
from runs.models import DEFAULT_APPROACHES, Approach, Jury, Method, Suite
from runs.models.jury import MAX_ROLE

NUMBERS = ("issues", "tests")
"""Options given as numbers, such as 3,8-12."""
APPROACHES = {approach.value.replace("_", "-"): approach.value for approach in Approach}
METHODS = {method.value.replace("_", "-"): method.value for method in Method}
NEED_JUDGES = (
    *("approach", "judge_temperature", "judge_samples", "judge_param", "backup"),
    *("judge_method", "judge_role"),
)


def add_launch_options(parser: ArgumentParser) -> None:
    """Add every option that `spec_of` reads: those of a launch, and those that build a jury."""
    launch = parser.add_argument_group("launch")
    for name in OPTIONS:
        _add(launch, name)
    launch.add_argument(
        "--defaults",
        action=BooleanOptionalAction,
        default=True,
        help="Use the suite's defaults for options that are not given.",
    )
    judges = parser.add_argument_group("judges (instead of --jury)")
    judges.add_argument("--judge", action="append", default=[], help="Name of a model. Repeatable.")
    judges.add_argument(
        "--approach",
        action="append",
        choices=list(APPROACHES),
        help="Approach of the judges. Repeatable: one judge for each. Default: "
        + ", ".join(name for name, value in APPROACHES.items() if value in DEFAULT_APPROACHES)
        + ".",
    )
    judges.add_argument(
        "--judge-temperature", action="append", type=float, help="Repeatable: one judge for each."
    )
    judges.add_argument("--judge-samples", type=int, help="Samples of each judgment.")
    judges.add_argument("--judge-method", choices=list(METHODS), help="Calls of each judgment.")
    judges.add_argument("--judge-role", help="Who judges: the start of every prompt.")
    judges.add_argument("--judge-param", action="append", metavar="NAME=VALUE")
    judges.add_argument("--backup", help="Name of the model that replaces a judge that failed.")


def _add(group: Any, name: str) -> None:
    """Add one option of `LaunchSpec`; its value is None where it is not given."""
    kind = get_origin(OPTIONS[name].annotation) or OPTIONS[name].annotation
    form: dict[str, Any] = {"metavar": "NAME"} if entry_of(name).rows else {}
    if kind is bool:
        form = {"action": "store_true", "default": None}
    elif name in NUMBERS:
        form = {"metavar": "NUMBERS"}
    elif isinstance(kind, type) and issubclass(kind, Choices):
        form = {"choices": kind.values}
    elif name == "tags":
        form |= {"nargs": "+"}
    elif kind in (list, dict):
        form |= {"action": "append"} | ({"metavar": "NAME=VALUE"} if kind is dict else {})
    if kind in (int, float) or name == "temperatures":
        form["type"] = int if kind is int else float
    flag = entry_of(name).flag or f"--{name.replace('_', '-')}"
    group.add_argument(flag, dest=name, help=OPTIONS[name].description, **form)


def spec_of(options: Mapping[str, Any]) -> LaunchSpec:
    """Return the launch that the options describe; find or make a jury of the judges named.

    Raises:
        LaunchRefused: Names are unknown or values wrong; lists every problem.
    """
    problems: list[str] = []
    values = {
        name: _read(name, options[name], problems) for name in OPTIONS if options[name] is not None
    }
    suite = Suite.objects.filter(pk=values.get("suite") or 0).first()
    if suite and options["defaults"]:
        values = suite.defaults | values
    usual = ", ".join(options["models"] or []) or (suite.name if suite else "")
    values = {"label": usual[:150], "models": []} | values
    if not values["models"] and not options["models"]:
        problems.append("Name a model with --model: the suite sets none.")
    jury_builder = _jury_builder(options, problems)
    if problems:
        raise LaunchRefused(problems)
    if jury_builder is not None:
        values["jury"] = _jury(jury_builder, options["backup"]).pk
    return read_spec(values)


def _read(name: str, given: Any, problems: list[str]) -> Any:
    """Return the value of an option for `LaunchSpec`: ids in place of names."""
    if name in NUMBERS:
        return _numbers(name, given, problems)
    if name == "params":
        return _parameters(given, "--param", problems)
    if rows := entry_of(name).rows:
        ids = _ids(apps.get_model(rows), [given] if isinstance(given, str) else given, problems)
        return (ids[0] if ids else None) if isinstance(given, str) else ids
    return given


# Judges ------------------------------------------------------------------------------------------


def _jury_builder(options: Mapping[str, Any], problems: list[str]) -> JuryBuilder | None:
    """Return the builder of the judges that are named; None if there are none."""
    ids = _ids(LanguageModel, options["judge"], problems)
    _ids(LanguageModel, [options["backup"]] if options["backup"] else [], problems)
    params = _parameters(options["judge_param"] or [], "--judge-param", problems)
    tested_only = LanguageModel.objects.filter(pk__in=ids, kind=ModelKind.APPLICATION)
    problems += [f"{model} is an HTTP application, which never judges." for model in tested_only]
    samples, temperatures = options["judge_samples"], options["judge_temperature"] or []
    problems += parameter_problems(params)
    if options["judge"] and options["jury"]:
        problems.append("--jury and --judge both name judges: leave one of them out.")
    for name in NEED_JUDGES:
        if options[name] is not None and not options["judge"]:
            option = name.replace("_", "-")
            problems.append(f"--{option} needs judges: name them with --judge.")
    if samples is not None and not 1 <= samples <= MAX_JUDGE_SAMPLES:
        problems.append(f"--judge-samples {samples}: take from 1 to {MAX_JUDGE_SAMPLES} samples.")
    role = options["judge_role"] or ""
    if len(role) > MAX_ROLE:
        problems.append(f"--judge-role has {len(role):,} characters; take at most {MAX_ROLE:,}.")
    problems += [
        f"--judge-temperature {number:g} is not from 0 to {MAX_TEMPERATURE}."
        for number in temperatures
        if not 0 <= number <= MAX_TEMPERATURE
    ]
    if not ids:
        return None
    return JuryBuilder(
        models=list(LanguageModel.objects.filter(pk__in=ids).order_by("pk")),
        approaches=[APPROACHES[name] for name in options["approach"] or []] or DEFAULT_APPROACHES,
        temperatures=temperatures,
        params=params,
        samples=samples or 1,
        method=METHODS[options["judge_method"] or "single"],
        role=role,
    )


def _jury(jury_builder: JuryBuilder, backup_name: str | None) -> Jury:
    model = LanguageModel.objects.filter(name=backup_name).first()
    draft = jury_builder.backup_draft(model) if model else None
    if problem := backup_problem(draft, jury_builder.drafts()):
        raise LaunchRefused([problem])
    return jury_of(jury_builder.judges(), jury_builder.backup(model) if model else None)


# Reading -----------------------------------------------------------------------------------------


def _ids(model: Any, names: Sequence[str], problems: list[str]) -> list[int]:
    found = dict(model.objects.filter(name__in=names).values_list("name", "pk"))
    missing = [name for name in names if name not in found]
    if missing:
        kind = "model" if model is LanguageModel else model._meta.verbose_name
        known = list(model.objects.order_by("name").values_list("name", flat=True)[:10])
        offer = f"There is {', '.join(known)}." if known else f"There is no {kind} yet."
        problems += [f"There is no {kind} called {name!r}. {offer}" for name in missing]
    return [found[name] for name in dict.fromkeys(names) if name in found]


def _numbers(name: str, text: str, problems: list[str]) -> list[int]:
    try:
        numbers = numbers_in(text)
    except ValueError as error:
        problems.append(f"--{name}: {error}")
        return []
    if name == "issues":
        known = set(Issue.objects.filter(pk__in=numbers).values_list("pk", flat=True))
        problems += [f"There is no issue {number}." for number in sorted(set(numbers) - known)]
    return numbers


def _parameters(texts: Sequence[str], option: str, problems: list[str]) -> dict[str, Any]:
    """Read each NAME=VALUE; a value that is not JSON is text."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            problems.append(f"{option} {text!r}: write NAME=VALUE, such as seed=7.")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found
