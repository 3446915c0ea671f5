"""What one fault did to a run, and the bounds that it must hold."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_STALL_S = 30.0
HEAD = ("wanted", "made", "lost work", "lost replies", "repeated", "in flight", "beyond", "stall s")


@dataclass(frozen=True)
class Outcome:
    """Counts of one row. `not_run` says why the fault cannot be made here; "": it was made.

    Attributes:
        lost_work: Answers and judgments that the run lacks at its end.
        lost_replies: Requests that reached the provider and are not recorded, without those that
            were in flight in a process that was killed.
        repeated: Requests of one key but the first, without those that the provider refused.
        in_flight: Calls of the processes that died, up to the moment at which their reply could
            be saved.
        beyond: Repeated without having been in flight.
        stall_s: The longest time without progress after the end of the fault.
    """

    name: str
    engine: str
    wanted: int = 0
    made: int = 0
    lost_work: int = 0
    lost_replies: int = 0
    repeated: int = 0
    in_flight: int = 0
    beyond: int = 0
    stall_s: float = 0.0
    states: Sequence[str] = ()
    problems: Sequence[str] = ()
    not_run: str = ""

    @property
    def misses(self) -> list[str]:
        """What is out of its bound."""
        counts = {
            "lost work": self.lost_work,
            "lost replies": self.lost_replies,
            "repeated beyond in flight": self.beyond,
        }
        found = [f"{count} {name}" for name, count in counts.items() if count]
        if self.stall_s > MAX_STALL_S:
            found.append(f"stall {self.stall_s:.0f} s")
        return [*found, *self.problems]

    @property
    def cells(self) -> list[str]:
        work = (self.wanted, self.made, self.lost_work, self.lost_replies)
        calls = (self.repeated, self.in_flight, self.beyond)
        return [*map(str, (*work, *calls)), f"{self.stall_s:.1f}"]

    @property
    def verdict(self) -> str:
        if self.not_run:
            return f"not run: {self.not_run}"
        return "MISSES " + ", ".join(self.misses) if self.misses else "holds"
