"""The bounds that `dev.py chaos` holds each fault to."""

import pytest

from tests.chaos.faults import ALL, Row, refusal
from tests.chaos.outcome import Outcome


def outcome(**changes) -> Outcome:
    """A row that holds, and of which one more of anything would be too much."""
    fields = {"wanted": 180, "made": 188, "repeated": 8, "in_flight": 8, "stall_s": 30.0}
    return Outcome("worker-killed", "sqlite", **(fields | changes))


def test_calls_in_flight_of_what_died_may_be_repeated():
    assert outcome().verdict == "holds"


@pytest.mark.parametrize(
    "changes",
    [
        {"lost_work": 1},
        {"lost_replies": 1},
        {"beyond": 1},
        {"stall_s": 30.1},
        {"problems": ["1 processes left"]},
    ],
)
def test_a_row_out_of_its_bound_misses(changes):
    assert outcome(**changes).verdict.startswith("MISSES")


def test_a_fault_that_cannot_be_made_here_says_why_and_misses_nothing():
    row = Row("moved", ALL[0].fault, why_not=lambda: refusal("no-such-program"))
    reason = row.why_not_on("sqlite")

    assert reason == "there is no program no-such-program"
    assert Outcome("moved", "sqlite", not_run=reason).misses == []


def test_what_a_machine_refuses_is_its_own_word():
    assert "no-such-file" in refusal("ls", "no-such-file")


def test_every_engine_has_faults_among_the_kill_tests():
    assert {engine for row in ALL for engine in row.short} == {"sqlite", "postgres"}
