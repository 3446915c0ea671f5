"""Streamed calls, against a real HTTP provider."""

from decimal import Decimal

import pytest

from evalhub.llm import gateway
from evalhub.llm.errors import CallError, CallErrorKind
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.provider import SERVER_ERROR, UNAUTHORIZED, Reply

pytestmark = pytest.mark.usefixtures("allowed")


@pytest.fixture
def streamed(provider, run, way):
    """Asks a provider that replies as told; gives the pieces and the completion."""

    def ask(reply, **fields):
        provider.script = lambda request: reply
        pieces: list[str] = []
        ask.pieces = pieces
        endpoint = make_endpoint(provider, **{"litellm_model": way} | fields)
        return pieces, run(gateway.stream(endpoint, QUESTION, {}, pieces.append))

    return ask


def test_text_comes_piece_by_piece_and_whole(streamed):
    prices = {"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)}
    pieces, completion = streamed(Reply("one two  three"), **prices)

    assert pieces == ["one", " two", "  three"]
    assert completion.text == "one two  three"
    assert (completion.input_tokens, completion.output_tokens) == (5, 3)
    assert completion.cost_usd == Decimal("0.00004")
    assert completion.finish_reason == "stop"
    assert '"content": " two"' in completion.reply


def test_uncounted_tokens_are_not_measured(streamed):
    _, completion = streamed(Reply("one two", usage=False))
    assert (completion.input_tokens, completion.cost_usd) == (None, None)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (UNAUTHORIZED, CallErrorKind.REFUSED_KEY),
        (SERVER_ERROR, CallErrorKind.SERVER_ERROR),
        (Reply("one two", cut_short=True), CallErrorKind.UNREACHABLE),
        (Reply(""), CallErrorKind.EMPTY_ANSWER),
        (Reply("one two three", hang_after=2), CallErrorKind.TIMED_OUT),
    ],
)
def test_a_failure_is_explained(streamed, reply, kind):
    with pytest.raises(CallError) as caught:
        streamed(reply, timeout_s=1)
    assert caught.value.kind == kind


def test_what_came_before_a_failure_was_passed_on(streamed):
    with pytest.raises(CallError):
        streamed(Reply("one two three", cut_short=True))
    assert streamed.pieces == ["one", " two", " three"]
