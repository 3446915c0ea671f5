import json

import pytest

from evalhub.llm import capabilities
from evalhub.llm.connection_check import check_connection
from tests import provider as scripted
from tests.evalhub.llm.endpoints import make_endpoint
from tests.provider import verdict

pytestmark = pytest.mark.usefixtures("allowed")


CALL = {"id": "c1", "type": "function", "function": {"name": "say", "arguments": "{}"}}


def as_asked(request):
    if "tools" in request:
        return scripted.Reply(None, tool_calls=[CALL])
    return verdict(1) if "response_format" in request else "ready"


@pytest.fixture
def reports_of(provider, run):
    def check(reply, **fields):
        provider.script = reply if callable(reply) else lambda request: reply
        return run(check_connection(make_endpoint(provider, **fields)))

    return check


@pytest.fixture
def report_of(reports_of):
    """Gives the first report: what is asked as a candidate."""
    return lambda reply, **fields: reports_of(reply, **fields)[0]


def test_it_asks_what_candidates_and_judges_ask_and_shows_each_answer(reports_of, provider):
    first, tool, judge = reports_of(as_asked)

    assert first.succeeded
    assert "Reply with the word ready." in first.message
    assert "“ready”" in first.message
    assert "(9 tokens in, 1 out)" in first.message
    assert "call of say({})" in tool.message
    assert '"score": 1' in judge.message
    assert [
        sorted(request.keys() - {"model", "messages", "stream"}) for request in provider.requests
    ] == [
        [],
        ["tools"],
        ["max_tokens", "response_format", "temperature"],
    ]


def test_what_fails_later_does_not_hide_what_works(reports_of):
    reports = reports_of(
        lambda request: scripted.failure(400, "no tools") if "tools" in request else "ready",
        structured_output=False,
    )
    assert [report.succeeded for report in reports] == [True, False, True]
    assert "with a tool" in reports[1].message


def test_a_judge_without_a_verdict_is_told_apart(reports_of):
    assert "No verdict" in reports_of("ready")[2].message


def test_a_parameter_that_is_left_out_is_named(reports_of, provider):
    refuses = scripted.failure(400, "Unsupported parameter: 'temperature'")
    judge = reports_of(lambda r: refuses if "temperature" in r else as_asked(r))[2]
    capabilities.follow(1, {})
    assert judge.succeeded
    assert "temperature" in judge.message


def test_schema_is_not_tried_where_the_model_takes_none(reports_of, provider):
    reports_of("ready", structured_output=False)
    assert not any("response_format" in request for request in provider.requests)


@pytest.mark.parametrize(
    ("reply", "kind", "advice"),
    [
        (scripted.UNAUTHORIZED, "refused_key", "Check the key"),
        (scripted.NOT_FOUND, "not_found", "Check the model's name"),
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
