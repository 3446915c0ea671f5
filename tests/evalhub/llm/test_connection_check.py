import json

import pytest

from evalhub.llm.connection_check import check_connection
from tests import provider as scripted
from tests.evalhub.llm.endpoints import make_endpoint

pytestmark = pytest.mark.usefixtures("allowed")


@pytest.fixture
def report_of(provider, run):
    def check(reply, **fields):
        provider.script = lambda request: reply
        return run(check_connection(make_endpoint(provider, **fields)))

    return check


def test_success_says_what_was_asked_and_what_came_back(report_of):
    report = report_of('{"word": "ready"}')
    assert report.succeeded
    assert "Reply with the word ready." in report.message
    assert '“{"word": "ready"}”' in report.message
    assert "(5 tokens in, 2 out)" in report.message


def test_schema_is_tried_where_the_model_takes_one(report_of, provider):
    report_of("ready")
    assert "response_format" in provider.requests[0]


def test_schema_is_not_tried_where_the_model_takes_none(report_of, provider):
    report_of("ready", structured_output=False)
    assert "response_format" not in provider.requests[0]


@pytest.mark.parametrize(
    ("reply", "kind", "advice"),
    [
        (scripted.UNAUTHORIZED, "refused_key", "Check the key"),
        (scripted.NOT_FOUND, "not_found", "Check the model's name"),
        (scripted.NO_SCHEMA, "bad_request", "switch off 'structured output'"),
        (scripted.HTML_PAGE, "unreadable_reply", "API, not of a web page"),
        (scripted.RESET, "unreachable", "Check the base URL"),
    ],
)
def test_failure_says_what_is_wrong_and_what_to_do(report_of, reply, kind, advice):
    report = report_of(reply)
    assert (report.succeeded, report.error_kind) == (False, kind)
    assert advice in report.message


def test_forbidden_address_says_where_it_is_allowed(report_of, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = []
    assert "EVALHUB_ALLOWED_ADDRESSES" in report_of("ready").message


def test_hanging_model_is_not_waited_for_longer_than_its_own_time_out(report_of):
    assert report_of(scripted.HANG, timeout_s=0.3).error_kind == "timed_out"


def test_report_can_be_recorded(report_of):
    report = report_of("ready")
    assert json.loads(report.completion.reply)["id"] == "chatcmpl-1"
    assert len(report.request_digest) == 64
