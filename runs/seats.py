"""The judges of a judging as its snapshot has them, and which of them sit on what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from django.db.models import QuerySet

from evalhub.digest import digest
from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from issues.judge_templates import rubric_templates
from issues.models import JudgeTemplate
from runs.asking import Wording
from runs.models import Approach, Judge, Judging


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
    """All seats of a judging, with the one that steps in where another failed.

    `menders` are asked to mend unreadable replies, by the template with which a judge was asked.
    """

    seats: list[Seat]
    backup: Seat | None
    menders: Mapping[int, Endpoint] = field(default_factory=dict)

    @property
    def everyone(self) -> list[Seat]:
        return [*self.seats, self.backup] if self.backup else self.seats

    def sitting(self, *, on_rubric: bool) -> list[Seat]:
        """Who is asked about a criterion, or about a test as a whole.

        Those whose approach is made for it. Where there are none, everyone: about a criterion
        with the wording that shows the prompt, about a test as a whole once per endpoint and
        parameters, as two of one model would be asked the same.
        """
        seats = who_sits(self.seats, on_rubric=on_rubric)
        if on_rubric or any(seat.approach == Approach.TEMPLATE for seat in seats):
            return seats
        distinct = {digest([s.endpoint.to_json(), s.params]): s for s in reversed(seats)}
        return [seat for seat in seats if seat in distinct.values()]

    def least_asked(self) -> list[Endpoint]:
        """Those asked about a test as a whole, and any other model once, menders too.

        So many calls an item makes at least; the more of a rubric wait for their turn.
        """
        asked = [seat.endpoint for seat in self.sitting(on_rubric=False)]
        known = {endpoint.language_model_id for endpoint in asked}
        rest = [*(seat.endpoint for seat in self.everyone), *self.menders.values()]
        others = {endpoint.language_model_id: endpoint for endpoint in rest}
        return [*asked, *(others[model] for model in others.keys() - known)]


class Approaching(Protocol):
    """A judge, or its seat."""

    @property
    def approach(self) -> str: ...


J = TypeVar("J", bound=Approaching)


def who_sits(judges: Sequence[J], *, on_rubric: bool) -> list[J]:
    """Those whose approach is made for criteria, or for tests as a whole; where none is, all."""
    made_for_it = [j for j in judges if (j.approach != Approach.TEMPLATE) == on_rubric]
    return made_for_it or list(judges)


def panel_of(judging: Judging) -> Panel:
    """The judges of a judging as they were when it was made."""
    return panel_from(judging.jury)


def panel_from(jury: dict[str, Any]) -> Panel:
    """The judges of a snapshot."""
    everyone = [*jury["judges"], *([jury["backup"]] if jury["backup"] else [])]
    ids = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    return _panel(jury, {t.pk: Wording.of(t) for t in with_teaching().filter(pk__in=ids)})


def with_teaching() -> QuerySet[JudgeTemplate]:
    """Templates with all that their wordings are made of at hand."""
    return JudgeTemplate.objects.prefetch_related("examples", "variants")


def seating_of(judging: Judging) -> Panel:
    """Who sits, without reading any wording: no query."""
    return _panel(judging.jury, {})


def least_asked(judging: Judging) -> list[Endpoint]:
    """What `Panel.least_asked` says of a judging, without reading any wording."""
    return seating_of(judging).least_asked()


def _panel(jury: dict[str, Any], wordings: Mapping[int, Wording]) -> Panel:
    backup = jury["backup"]
    seats = [_seat(judge, wordings) for judge in jury["judges"]]
    menders = {int(pk): Endpoint.from_json(e) for pk, e in jury.get("menders", {}).items()}
    return Panel(seats, _seat(backup, wordings) if backup else None, menders)


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


def snapshot(
    judges: Sequence[Judge], backup: Judge | None, *, name: str, templates: Iterable[int] = ()
) -> dict[str, Any]:
    """What `Judging.jury` holds: the judges as they are asked in this judging, by copy.

    Args:
        backup: None of the judges, who are asked in any case.
        templates: Those of the tests that are judged as a whole.
    """
    newest = rubric_templates()
    everyone = [_copy(judge, newest) for judge in (*judges, *([backup] if backup else []))]
    own = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    menders = menders_of({*templates, *own})
    return {
        "name": name,
        "judges": everyone[: len(judges)],
        "backup": everyone[-1] if backup else None,
        **({"menders": {str(pk): e.to_json() for pk, e in menders.items()}} if menders else {}),
    }


def menders_of(template_ids: Iterable[int]) -> dict[int, Endpoint]:
    """Who mends the replies of judges that are asked with these templates, as it is now."""
    models = _mending_models(template_ids)
    return {pk: model.judge_endpoint() for pk, model in models.items()}


def mending_models(
    judges: Sequence[Judge], backup: Judge | None, templates: Iterable[int]
) -> set[LanguageModel]:
    """The models that would mend the replies of these judges; `templates` are the tests' own."""
    if not judges:
        return set()
    newest = rubric_templates()
    ids = set(templates)
    for judge in (*judges, *([backup] if backup else [])):
        own = judge.template_id if judge.approach == Approach.TEMPLATE else None
        rubric = rubric_template(judge, newest)
        ids |= {pk for pk in (own, rubric and rubric.pk) if pk}
    return set(_mending_models(ids).values())


def _mending_models(template_ids: Iterable[int]) -> dict[int, LanguageModel]:
    """By the template. One that was deactivated mends nothing any more: the judge is asked."""
    found = JudgeTemplate.objects.filter(pk__in=template_ids).select_related("repair_model")
    models = {template.pk: template.repair_model for template in found}
    return {pk: model for pk, model in models.items() if model and model.is_active}


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
    """With what wording a judge is asked about a criterion: its own, or its approach's.

    Args:
        newest: The last published wording of each approach.
    """
    if judge.approach == Approach.TEMPLATE:
        return newest.get(Approach.PROMPT_AWARE)
    return judge.template or newest.get(judge.approach)


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
        has_rubrics: Whether judges are asked about criteria of some tests.
    """
    newest = rubric_templates() if has_rubrics else {}
    on_whole = [*who_sits(judges, on_rubric=False), backup]
    on_rubric = [*who_sits(judges, on_rubric=True), backup]
    asked = [
        [
            *_identity(judge),
            judge == backup,
            _whole_versions(judge, versions) if judge in on_whole else [],
            _rubric_versions(judge, newest) if judge in on_rubric else [],
        ]
        for judge in (*judges, *([backup] if backup else []))
    ]
    return digest(sorted(asked, key=digest))


def _identity(judge: Judge) -> list[Any]:
    model = judge.language_model
    params = model.params | judge.params
    return [model.litellm_model, model.api_base, judge.approach, params, judge.samples]


def _whole_versions(judge: Judge, versions: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    own = judge.template if judge.approach == Approach.TEMPLATE else None
    return [[own.family, own.version]] if own and versions else list(versions)


def _rubric_versions(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> list[Sequence[Any]]:
    template = rubric_template(judge, newest) if newest else None
    return [[template.family, template.version]] if template else []
