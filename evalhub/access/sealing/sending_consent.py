"""Exposure of sealed tests that calls would send outside the trusted network: asked for first."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from django.db.models import Count, Max
from django.utils import timezone

from evalhub.access.sealing import exposures
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.security.trusted_network import address_of, is_trusted
from evalhub.models import Exposure, ExposureKind, User
from evalhub.values.digest import digest

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


def consent_asked(
    sealed: Sequence[int], tests: int, roles: Iterable[Role], consent: str | None
) -> dict[str, str]:
    """Return what a page must ask before it sends the sealed tests; {} if it may.

    Args:
        consent: The key of the exposure that the user has agreed to.
    """
    exposure = sealed_exposure(sealed, tests, roles)
    if exposure is None or consent == exposure.key:
        return {}
    return {"consent": exposure.key, "words": f"{exposure} {' '.join(exposure.before())}"}


def record_sendings(sealed: Sequence[int], roles: Iterable[Role], *, by: User) -> None:
    """Save that these endpoints get the sealed tests, before anything is sent."""
    day = timezone.localdate()
    exposures.record(
        {
            exposures.Sending(test, address_of(endpoint), day): {
                "language_model_id": endpoint.language_model_id,
                "purpose": role[:20],
                "by": by,
            }
            for role, endpoint in roles
            if not is_trusted(endpoint)
            for test in sealed
        }
    )
