"""The jobs that both sides do: so many tests, one answer and three judge calls for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from tests.provider import lognormal

JUDGES = 3
SEED = 20


@dataclass(frozen=True)
class Job:
    """Tests and calls in flight; `latency_ms` None: it varies from call to call.

    `of_litellm`: the most that the window in one process, and in two, may be of bare litellm's.
    None: the bound is a tenth above the ideal, besides what bare calls lose.
    """

    name: str
    tests: int
    in_flight: int
    latency_ms: float | None
    of_litellm: tuple[float, float] | None = None

    @property
    def calls(self) -> int:
        return self.tests * (1 + JUDGES)

    @property
    def latencies_ms(self) -> list[float]:
        """One for each call, in the order in which they arrive at the provider."""
        if self.latency_ms is not None:
            return [self.latency_ms] * self.calls
        return lognormal(SEED, self.calls)

    @property
    def ideal_s(self) -> float:
        """All calls, always as many in flight as may be."""
        return sum(self.latencies_ms) / self.in_flight / 1000


JOBS = (
    Job("standard", tests=110, in_flight=20, latency_ms=200),
    Job("large", tests=1000, in_flight=50, latency_ms=50, of_litellm=(0.45, 0.35)),
    Job("varied", tests=200, in_flight=20, latency_ms=None),
)


def greedy_s(latencies_ms: Sequence[float], tests: int, in_flight: int) -> float:
    """When the last call ends if a free place always takes the next call that may start.

    The n-th call that starts takes the n-th latency. Judges of an answer may start when it is
    there, and go before further answers.
    """
    now, started, answers_left, judges_ready = 0.0, 0, tests, 0
    running: list[tuple[float, bool]] = []
    while answers_left or judges_ready or running:
        while len(running) < in_flight and (judges_ready or answers_left):
            is_answer = not judges_ready
            judges_ready -= not is_answer
            answers_left -= is_answer
            heappush(running, (now + latencies_ms[started], is_answer))
            started += 1
        now, was_answer = heappop(running)
        judges_ready += JUDGES * was_answer
    return now / 1000
