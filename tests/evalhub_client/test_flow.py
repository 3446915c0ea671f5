"""When a request is sent again, and after which pause; driven by hand, without a site."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from evalhub_client.errors import ApiError, EvalHubError, Unreachable
from evalhub_client.flow import Pause, Request, sent

READ = Request("GET", "runs/", repeatable=True)
CHANGE = Request("PATCH", "tests/1/", body={})


def reply(status, headers=(), **body):
    request = httpx.Request("GET", "http://site/")
    return httpx.Response(status, json=body, headers=dict(headers), request=request)


def pauses(request, *replies, retries=5):
    """The pauses between the replies to a request, until one of them ends it."""
    flow = sent(request, retries)
    found: list[float] = []
    next(flow)
    for one in replies:
        try:
            step = flow.throw(one) if isinstance(one, Exception) else flow.send(one)
        except StopIteration as end:
            return found, end.value
        assert isinstance(step, Pause)
        found.append(step.seconds)
        assert next(flow) == request
    raise AssertionError("the flow asks for more")


def test_too_many_requests_are_sent_after_the_pause_that_the_site_asks_for():
    found, last = pauses(CHANGE, reply(429, {"Retry-After": "7"}), reply(200))

    assert found == [7.0]
    assert last.status_code == 200


def test_retry_after_may_be_a_date():
    until = datetime.now(UTC) + timedelta(seconds=60)
    found, _ = pauses(CHANGE, reply(503, {"Retry-After": format_datetime(until)}), reply(200))

    assert 50 < found[0] <= 60


def test_pauses_double_where_the_site_asks_for_none():
    assert pauses(READ, reply(503), reply(502), Unreachable("gone"), reply(200))[0] == [1, 2, 4]


@pytest.mark.parametrize("failure", [reply(502), reply(504), Unreachable("gone")])
def test_a_change_that_may_have_been_made_is_not_sent_again(failure):
    with pytest.raises(EvalHubError):
        pauses(CHANGE, failure)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 500])
def test_what_will_not_change_is_not_sent_again(status):
    with pytest.raises(ApiError) as refused:
        pauses(READ, reply(status, detail="No."))

    assert refused.value.status == status


def test_it_gives_up_after_the_last_retry():
    with pytest.raises(ApiError, match="503"):
        pauses(READ, *[reply(503)] * 3, retries=2)


def test_it_does_not_wait_for_an_hour():
    with pytest.raises(ApiError, match="429"):
        pauses(READ, reply(429, {"Retry-After": "3600"}))
