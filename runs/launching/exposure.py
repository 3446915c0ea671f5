"""Exposure of sealed tests that a launch or judge run would send outside the trusted network."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from evalhub.access.sealing.sending_consent import Role, SealedExposure, sealed_exposure
from evalhub.llm.endpoint import Endpoint
from runs.judging.jury import snapshot
from runs.models import Judge, Result, Run

__all__ = ["CONSENT", "Role", "SealedExposure", "refusal", "sealed_exposure"]

CONSENT = "allow_sealed_exposure"


def exposure_of_judge_run(run: Run, jury: Mapping[str, Any]) -> SealedExposure | None:
    """Return the exposure that a new judge run by the jury of this snapshot would cause, if any."""
    return exposure_of_results(run.results.all(), roles_of_jury(jury))


def exposure_of_results(results: QuerySet[Result], roles: Iterable[Role]) -> SealedExposure | None:
    """Return the exposure that the tests of these results would have to these roles, if any."""
    found = dict(results.order_by().values_list("test_id", "test__sealed").distinct())
    return sealed_exposure(sorted(pk for pk in found if found[pk]), len(found), roles)


def roles_of_judges(
    judges: Sequence[Judge], backup: Judge | None, templates: Iterable[int]
) -> list[Role]:
    """Return judges, backup judge and repair models; `templates` are the tests' own."""
    if not judges:
        return []
    return roles_of_jury(snapshot(judges, backup, name="", templates=templates))


def roles_of_jury(jury: Mapping[str, Any]) -> list[Role]:
    """Return judges, backup judge and repair models of a snapshot."""
    roles = [("judge", judge["endpoint"]) for judge in jury["judges"]]
    roles += [("backup judge", jury["backup"]["endpoint"])] if jury["backup"] else []
    roles += [("repair", stored) for stored in jury.get("repair_models", {}).values()]
    return [(role, Endpoint.from_json(stored)) for role, stored in roles]


def refusal(sealed_exposure: SealedExposure | None, *, is_allowed: bool) -> list[str]:
    """Return the problem of an exposure without consent; empty if there is none."""
    if sealed_exposure is None or is_allowed:
        return []
    return [f"{sealed_exposure} Confirm it with the checkbox, or with {CONSENT}: true."]
