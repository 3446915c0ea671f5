import ssl
import time
from random import Random
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from evalhub.limits import CALL_ATTEMPTS
from evalhub.llm.completion import Completion
from evalhub.llm.errors import OUTAGES, CallError, CallErrorKind
from evalhub.llm.providers.error_mapping import _broken, provider_message, retry_after
from evalhub.llm.retry import MIN_SHARE, next_try
from tests.evalhub.llm.endpoints import make_endpoint

NOW = 1_700_000_000.0  # 2023-11-14 22:13:20 UTC


class Highest(Random):
    def uniform(self, low, high):
        return high


def wait_s(error, attempt=1, random=None):
    retry = next_try(error, attempt, 1.0, random or Random(1))
    return retry and retry.wait_s


def error(kind=CallErrorKind.SERVER_ERROR, **fields):
    return CallError(kind, "It broke.", **fields)


def test_wait_is_jittered_over_its_whole_range():
    waits = [wait_s(error(), 4, Random(seed)) for seed in range(200)]
    assert min(waits) < 1
    assert max(waits) > 7


@pytest.mark.parametrize(
    ("kind", "attempt", "retry_after_s", "share", "decision"),
    [
        # An error that may pass: 5 tries in place.
        ("server_error", 1, None, 1.0, (1, False)),
        ("server_error", 2, None, 1.0, (2, False)),
        ("server_error", 3, None, 1.0, (4, False)),
        ("server_error", 4, None, 1.0, (8, False)),
        ("server_error", CALL_ATTEMPTS, None, 1.0, None),
        # A rate limit: the same, then again after a minute until the rate is at its lowest.
        ("rate_limited", 4, None, 1.0, (8, False)),
        ("rate_limited", 5, None, 1.0, (60, True)),
        ("rate_limited", 5, None, 2 * MIN_SHARE, (60, True)),
        ("rate_limited", 5, None, MIN_SHARE, None),
        ("rate_limited", 4, None, MIN_SHARE, (8, False)),
        # A long Retry-After: the item is given back; a very long one: the error is final.
        ("server_error", 1, 20, 1.0, (21, False)),
        ("server_error", 1, 30, 1.0, (31, True)),
        ("rate_limited", 1, 900, MIN_SHARE, (901, True)),
        ("rate_limited", 1, 901, 1.0, None),
        ("rate_limited", 5, 901, 1.0, None),
        # An error that cannot pass.
        ("bad_request", 1, 5, 1.0, None),
    ],
)
def test_retry_policy(kind, attempt, retry_after_s, share, decision):
    failure = error(CallErrorKind(kind), retry_after_s=retry_after_s)
    assert next_try(failure, attempt, share, Highest()) == decision


@pytest.mark.parametrize(
    ("may_pass", "kinds"),
    [
        (True, ("rate_limited", "timed_out", "unreachable", "server_error")),
        (False, ("refused_key", "not_found", "bad_request", "context_too_long")),
    ],
)
def test_only_what_can_pass_is_tried_again(may_pass, kinds):
    for kind in kinds:
        assert (wait_s(error(CallErrorKind(kind))) is not None) == may_pass, kind


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, 30),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:10 GMT"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_its_forms(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_a_page_of_open_tags_is_searched_in_no_time():
    started = time.perf_counter()
    provider_message(None, "<" * 1_000_000)
    assert time.perf_counter() - started < 5


def test_words_of_a_page_are_read_without_its_tags():
    assert provider_message(None, "<html><p>Bad\n <b>gateway</b></p>") == "Bad gateway"


def test_a_certificate_that_is_not_trusted_is_named_and_waited_for():
    """Its error is a ValueError too, as a reply that cannot be read is."""
    expired: Any = ssl.SSLCertVerificationError("certificate has expired")
    where: Any = SimpleNamespace(host="llm.test", port=443, ssl=True)
    failure = aiohttp.ClientConnectorCertificateError(where, expired)

    found = _broken(make_endpoint("https://llm.test/v1"), failure, Completion(), "")

    assert found.kind == CallErrorKind.UNREACHABLE
    assert "has a certificate that is not trusted: " in found.message
    assert "certificate has expired" in found.message
    assert found.can_retry
    assert found.kind in OUTAGES
