"""A workbench as a file: its rows with their judgments, its settings, and a script without us."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import ValidationError

from evalhub.files.export_files import Export
from evalhub.llm.content.content_parts import images_in, with_data_urls
from evalhub.llm.content.images import data_urls
from evalhub.llm.verdicts.judge_params import params_for
from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.examples import hidden_of
from issues.rubrics.scales import from_json
from issues.rubrics.scoring import WHOLE_TEST
from runs.exported_scripts.judging import judging_script
from runs.judging.prompts import examples_for
from runs.laboratory.workbench.contents import content_with, save_contents
from runs.laboratory.workbench.figures import RowFigures, figures_of
from runs.laboratory.workbench.judges import Setup, point_of, setup_of
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.pairs import pairs_of
from runs.laboratory.workbench.requests import BenchRequest, prompt_of, requests_of
from runs.laboratory.workbench.row_files import TEXTS
from runs.models import Method

SETTINGS = ("name", "text", "scale", "reply_form", "guidelines", "criteria")


def export_of(bench: Workbench, rows: Sequence[BenchRow], user: User) -> Export:
    """Return these rows with what judges say now. Stale and failed judgments are left out.

    So are prompts with an example that this user may not read.
    """
    setup = setup_of(bench)
    figures = figures_of(setup, bench, rows).rows
    has_turns = any(row.input is None for row in rows)
    exported = [_row(each, has_turns=has_turns) for each in figures]
    settings = {name: getattr(bench, name) for name in SETTINGS}
    document = {"workbench": settings, "rows": exported}
    return Export(exported, document, _script(bench, setup, figures, user))


def _row(each: RowFigures, *, has_turns: bool) -> dict[str, Any]:
    """Return a row; all of an export have the same fields, as a CSV needs."""
    row = each.row
    is_one = len(each.criteria) == 1
    expected: Any = {key: option for key, option in row.expected.items() if option}
    verdicts = {
        criterion.key: {v.name: v.vote.option for v in criterion.verdicts if v.counts}
        for criterion in each.criteria
    }
    return {
        "input": row.input,
        **{name: getattr(row, name) for name in TEXTS},
        "expected": next(iter(expected.values()), "") if is_one else expected,
        "judged": next(iter(verdicts.values()), {}) if is_one else verdicts,
        "score": each.scored.score if each.scored else None,
        **({"messages": row.messages, "turns": row.turns} if has_turns else {}),
    }


def settings_from(bench: Workbench, settings: Mapping[str, Any]) -> None:
    """Take prompt, scale, guidelines and criteria of an exported workbench.

    Raises:
        Refused: They are not valid.
    """
    sent = {name: settings[name] for name in SETTINGS[1:] if name in settings}
    try:
        from_json(sent.get("scale", bench.scale))
        sent["criteria"] = [_criterion(each) for each in sent.get("criteria", bench.criteria)]
        save_contents(bench, sent)
    except ValidationError as error:
        raise Refused(list(error.messages)) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Refused(
            [f"The settings of the workbench in this file are not valid: {error}"]
        ) from error


def _criterion(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the valid content of a criterion; raises ValidationError, or whatever it is not."""
    point = point_of(content_with({name: v for name, v in sent.items() if v is not None}))
    point.full_clean(exclude=["test"])
    return content_with({**point.as_content(), "target": str(sent.get("target") or "")})


# The script ---------------------------------------------------------------------------------------


def _script(bench: Workbench, setup: Setup, figures: Sequence[RowFigures], user: User) -> str:
    requests = [r for each in figures for r in requests_of(setup, each.row)]
    asked = [r for r in requests if r.judge and r.template and not r.place.sample]
    by_steps = {r.judge.name for r in asked if r.judge and r.judge.method != Method.SINGLE}
    asked = [r for r in asked if r.judge and r.judge.name not in by_steps]
    points = setup.points
    has_alternatives = any(point.alternative is not None for point in points)
    whole = {"key": WHOLE_TEST, "text": "the whole answer", "weight": 1, "mandatory": False}
    criteria = [
        {
            "key": point.key,
            "text": point.text or point.check_name,
            "weight": point.weight,
            "mandatory": point.mandatory,
            "inverted": point.is_inverted,
            "target": setup.targets.get(point.key, ""),
            "check": bool(point.check_name),
        }
        for point in points
    ] or [whole | {"inverted": False, "target": "", "check": False}]
    return judging_script(
        title=str(bench),
        judges={r.judge.name: _judge(r) for r in asked if r.judge},
        criteria=criteria,
        scales={r.judge.name: _values(r) for r in asked if r.judge},
        rows=[
            {"row": each.row.place, "expected": each.row.expected, "checks": _checks(each)}
            for each in figures
        ],
        requests=[sent for r in asked if (sent := _request(r, user)) is not None],
        left_out=_left_out(sorted(by_steps), figures, has_alternatives=has_alternatives),
        has_score=not has_alternatives,
    )


def _left_out(
    by_steps: Sequence[str], figures: Sequence[RowFigures], *, has_alternatives: bool
) -> list[str]:
    """Say what the script does not do as the site does it."""
    found = []
    if by_steps:
        names = ", ".join(by_steps)
        found.append(f"{names}: judges that debate or criticise themselves are not asked.")
    if has_alternatives:
        found.append("Rows have no score: the script cannot weigh alternative criteria.")
    if pairs_of([each.row for each in figures]):
        found.append("Answers are judged one by one, and not compared in pairs.")
    return found


def _judge(request: BenchRequest) -> dict[str, Any]:
    judge, template = request.judge, request.template
    assert judge is not None
    assert template is not None
    endpoint = judge.endpoint
    return {
        "model": endpoint.litellm_model,
        "params": endpoint.params | params_for(endpoint, judge.params, template.schema),
        "api_base": endpoint.api_base,
        "api_key_env": endpoint.api_key_env,
    }


def _values(request: BenchRequest) -> dict[str, float]:
    assert request.template is not None
    return {option.label: option.value for option in request.template.scale.options}


def _request(request: BenchRequest, user: User) -> dict[str, Any] | None:
    judge, template, place = request.judge, request.template, request.place
    assert judge is not None
    assert template is not None
    messages = prompt_of(judge, template, request.case, place.key)
    if isinstance(messages, str):
        return None
    if hidden_of(examples_for(template, request.case, place.key).examples, user):
        return None
    return {
        "row": request.row.place,
        "criterion": place.key,
        "judge": judge.name,
        "order": place.order,
        "samples": judge.samples,
        "schema": template.schema if judge.endpoint.structured_output else None,
        "messages": with_data_urls(messages, data_urls(images_in(messages))),
    }


def _checks(each: RowFigures) -> dict[str, float]:
    return {
        criterion.key: verdict.value
        for criterion in each.criteria
        for verdict in criterion.verdicts
        if criterion.point.check_name and verdict.counts and verdict.value is not None
    }
