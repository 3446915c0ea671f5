"""The judges of a judging as its snapshot has them, and which of them sit on what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalhub.digest import digest
from evalhub.llm.endpoint import Endpoint
from issues.models import JudgeTemplate, TemplateState
from runs.asking import Wording
from runs.models import Approach, Judge, Judging

RUBRIC_FAMILIES = {
    Approach.TEMPLATE: "rubric-prompt-aware",
    Approach.STANDARD: "rubric-standard",
    Approach.PROMPT_AWARE: "rubric-prompt-aware",
    Approach.HOLISTIC: "rubric-holistic",
}
"""The built-in templates with which judges are asked about one criterion, by approach."""


@dataclass(frozen=True)
class Seat:
    """One judge of a judging, by copy.

    `whole` is its own wording for tests as a whole; None: each test's own template. `rubric` is
    the wording for one criterion; None where the ledger has none.
    """

    judge_id: int
    name: str
    endpoint: Endpoint
    approach: str
    params: dict[str, Any]
    samples: int
    whole: Wording | None
    rubric: Wording | None


@dataclass(frozen=True)
class Panel:
    """All seats of a judging, with the one that steps in where another failed."""

    seats: list[Seat]
    backup: Seat | None

    @property
    def everyone(self) -> list[Seat]:
        return [*self.seats, self.backup] if self.backup else self.seats

    def sitting(self, *, on_rubric: bool) -> list[Seat]:
        """Who is asked about a criterion, or about a test as a whole.

        Those whose approach is made for it. Where there are none, everyone: about a criterion
        with the wording that shows the prompt, about a test as a whole once per endpoint and
        parameters, as two of one model would be asked the same.
        """
        made_for_it = [s for s in self.seats if (s.approach != Approach.TEMPLATE) == on_rubric]
        if made_for_it or on_rubric:
            return made_for_it or self.seats
        distinct = {digest([s.endpoint.to_json(), s.params]): s for s in reversed(self.seats)}
        return [seat for seat in self.seats if seat in distinct.values()]

    def least_asked(self) -> list[Endpoint]:
        """Those asked about a test as a whole, and any other model once.

        So many calls an item makes at least; the more of a rubric wait for their turn.
        """
        asked = [seat.endpoint for seat in self.sitting(on_rubric=False)]
        known = {endpoint.language_model_id for endpoint in asked}
        others = {seat.endpoint.language_model_id: seat.endpoint for seat in self.everyone}
        return [*asked, *(others[model] for model in others.keys() - known)]


def panel_of(judging: Judging) -> Panel:
    """The judges of a judging as they were when it was made."""
    return panel_from(judging.jury)


def panel_from(jury: dict[str, Any]) -> Panel:
    """The judges of a snapshot."""
    everyone = [*jury["judges"], *([jury["backup"]] if jury["backup"] else [])]
    ids = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    return _panel(jury, {t.pk: Wording.of(t) for t in JudgeTemplate.objects.filter(pk__in=ids)})


def least_asked(judging: Judging) -> list[Endpoint]:
    """What `Panel.least_asked` says of a judging, without reading any wording."""
    return _panel(judging.jury, {}).least_asked()


def _panel(jury: dict[str, Any], wordings: Mapping[int, Wording]) -> Panel:
    backup = jury["backup"]
    seats = [_seat(judge, wordings) for judge in jury["judges"]]
    return Panel(seats, _seat(backup, wordings) if backup else None)


def _seat(judge: dict[str, Any], wordings: Mapping[int, Wording]) -> Seat:
    return Seat(
        judge_id=judge["judge"],
        name=judge["name"],
        endpoint=Endpoint.from_json(judge["endpoint"]),
        approach=judge["approach"],
        params=judge["params"],
        samples=judge["samples"],
        whole=wordings.get(judge["template"]),
        rubric=wordings.get(judge["rubric_template"]),
    )


def snapshot(judges: Sequence[Judge], backup: Judge | None, *, name: str) -> dict[str, Any]:
    """What `Judging.jury` holds: the judges as they are asked in this judging, by copy."""
    newest = _newest_rubric_templates()
    if backup in judges:
        backup = None  # it has been asked already
    return {
        "name": name,
        "judges": [_copy(judge, newest) for judge in judges],
        "backup": _copy(backup, newest) if backup else None,
    }


def _copy(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> dict[str, Any]:
    rubric = rubric_template(judge, newest)
    return {
        "judge": judge.pk,
        "name": str(judge),
        "endpoint": judge.language_model.judge_endpoint().to_json(),
        "approach": judge.approach,
        "params": judge.params,
        "samples": judge.samples,
        "template": judge.template_id if judge.approach == Approach.TEMPLATE else None,
        "rubric_template": rubric.pk if rubric else None,
    }


def rubric_template(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> JudgeTemplate | None:
    """With what wording a judge is asked about a criterion: its own, or its approach's."""
    if judge.template and judge.approach != Approach.TEMPLATE:
        return judge.template
    return newest.get(RUBRIC_FAMILIES[Approach(judge.approach)])


def _newest_rubric_templates() -> dict[str, JudgeTemplate]:
    """The last published wording of each approach, by family."""
    families = set(RUBRIC_FAMILIES.values())
    published = JudgeTemplate.objects.filter(family__in=families, state=TemplateState.PUBLISHED)
    return {template.family: template for template in published.order_by("version")}


def jury_fingerprint(
    judges: Sequence[Judge],
    backup: Judge | None,
    *,
    versions: Sequence[Sequence[Any]],
    has_rubrics: bool,
) -> str:
    """Digest of models, approaches, parameters and the template versions really asked.

    Args:
        versions: Families and versions of the templates of the tests that are judged as a whole.
        has_rubrics: Whether some tests are judged criterion by criterion.
    """
    newest = _newest_rubric_templates() if has_rubrics else {}
    seats = [(judge, False) for judge in judges] + ([(backup, True)] if backup else [])
    return digest(sorted((_asked(j, b, versions, newest) for j, b in seats), key=digest))


def _asked(
    judge: Judge,
    is_backup: bool,
    versions: Sequence[Sequence[Any]],
    newest: Mapping[str, JudgeTemplate],
) -> list[Any]:
    own = judge.template
    whole = [own] if own and judge.approach == Approach.TEMPLATE else None
    rubric = [template] if newest and (template := rubric_template(judge, newest)) else []
    return [
        judge.language_model.litellm_model,
        judge.language_model.api_base,
        judge.approach,
        judge.language_model.params | judge.params,
        judge.samples,
        is_backup,
        [[t.family, t.version] for t in whole] if whole else list(versions),
        [[t.family, t.version] for t in rubric],
    ]
