import os

import pytest

from evalhub.work.processes.limited_process import LimitReached, call_limited


def reply(data: bytes, *arguments: object) -> list[object]:
    return [data.decode(), *arguments, dict(os.environ).get("EVALHUB_SECRET_KEY")]


def compute(data: bytes) -> None:
    while True:
        pass


def fill(data: bytes) -> int:
    return len(bytearray(2 * 1024**3))


def fail(data: bytes) -> None:
    raise ValueError("on purpose")


def crash(data: bytes) -> None:
    os.abort()


def test_a_function_replies_without_our_environment(monkeypatch):
    monkeypatch.setenv("EVALHUB_SECRET_KEY", "secret")
    found = call_limited(f"{__name__}:reply", "ä".encode(), 1, "b", seconds=10)
    assert found == ["ä", 1, "b", None]


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (compute, "more than 1 s"),
        (fill, "too much memory"),
        (fail, "failed"),
        (crash, "or crashed"),
    ],
)
def test_a_function_without_a_reply_is_given_up_with_the_reason(function, reason):
    seconds = 1 if function is compute else 10
    with pytest.raises(LimitReached, match=reason):
        call_limited(f"{__name__}:{function.__name__}", b"", seconds=seconds)
