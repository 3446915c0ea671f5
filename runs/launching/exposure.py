"""Exposure of sealed tests that a launch or judge run would send outside the trusted network."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from django.db.models import Count, Max

from evalhub.digest import digest
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.trusted_network import address_of, is_trusted
from evalhub.models import Exposure, ExposureKind
from runs.judging.jury import snapshot
from runs.models import Judge, Run

CONSENT = "allow_sealed_exposure"

Role = tuple[str, Endpoint]
"""Role of an endpoint, such as "judge", and the endpoint."""


class Recipient(NamedTuple):
    """An address outside, with the models called there, such as "candidate GPT, judge GPT".

    `seen` of these sealed tests were sent there before, most recently on `last` (None: never).
    """

    address: str
    models: tuple[str, ...]
    seen: int
    last: date | None

    def __str__(self) -> str:
        return f"{self.address} ({', '.join(self.models)})"


class SealedExposure(NamedTuple):
    """Number of sealed tests among the tests, and the addresses outside that would get them."""

    sealed: int
    tests: int
    recipients: tuple[Recipient, ...]
    key: str
    """Digest of tests and addresses, so that a consent covers exactly what was shown."""

    def __str__(self) -> str:
        which = "1 test is" if self.sealed == 1 else f"{self.sealed:,} tests are"
        if self.tests > self.sealed:
            verb = "is" if self.sealed == 1 else "are"
            which = f"{self.sealed:,} of {self.tests:,} tests {verb}"
        return (
            f"{which} sealed and would be sent to {'; '.join(map(str, self.recipients))}, outside "
            "the trusted network. This is logged as an exposure."
        )

    def before(self) -> list[str]:
        """Return a sentence for each address that has received some of them before."""
        return [
            f"{one.address} received {one.seen:,} of them before, last on {one.last:%Y-%m-%d}."
            for one in self.recipients
            if one.last is not None
        ] or ["None of them was sent there before."]


def exposure_of_judge_run(run: Run, jury: Mapping[str, Any]) -> SealedExposure | None:
    """Return the exposure that a new judge run by the jury of this snapshot would cause, if any."""
    found = list(run.results.order_by().values_list("test_id", "test__sealed").distinct())
    sealed = sorted({test for test, is_sealed in found if is_sealed})
    if not sealed:
        return None
    return sealed_exposure(sealed, len({test for test, _ in found}), roles_of_jury(jury))


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


def sealed_exposure(
    sealed: Sequence[int], tests: int, roles: Iterable[Role]
) -> SealedExposure | None:
    """Return the exposure of these sealed tests, of so many, to roles outside, if any."""
    models: dict[str, dict[str, None]] = defaultdict(dict)
    for role, endpoint in roles:
        if not is_trusted(endpoint):
            models[address_of(endpoint)][f"{role} {endpoint.name}"] = None
    if not models or not sealed:
        return None
    sent = Exposure.objects.filter(kind=ExposureKind.SENT, test__in=sealed, endpoint__in=models)
    counted = sent.order_by().values_list("endpoint").annotate(Count("test", distinct=True))
    seen = {address: (n, last) for address, n, last in counted.annotate(Max("day"))}
    recipients = tuple(
        Recipient(address, tuple(names), *seen.get(address, (0, None)))
        for address, names in models.items()
    )
    key = digest([sorted(sealed), sorted(models)])
    return SealedExposure(len(sealed), tests, recipients, key)


def refusal(sealed_exposure: SealedExposure | None, *, is_allowed: bool) -> list[str]:
    """Return the problem of an exposure without consent; empty if there is none."""
    if sealed_exposure is None or is_allowed:
        return []
    return [f"{sealed_exposure} Confirm it with the checkbox, or with {CONSENT}: true."]
