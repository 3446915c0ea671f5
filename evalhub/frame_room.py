"""Room for the frames of deep calls, taken at once.

CPython keeps the frames of a thread in pieces of 16 KiB, and gives a piece back to the system when
the first frame in it ends. A loop whose calls reach over the end of a piece takes and gives back
one at each call, which takes a hundred times as long as the call itself; and calls of Django and
its templates are deep enough for several ends. A function with one large frame gets a piece that
has room for all that it calls.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

WORDS = 33_000
"""Of one frame: a little over half of a piece of 512 KiB, whose rest holds hundreds of frames. The
memory of either is only taken where it is used."""


def with_room(call: Callable[P, R]) -> Callable[P, R]:
    """Return a function that calls this one with room for what it calls; a middleware, too."""

    def roomy(*args: P.args, **kwargs: P.kwargs) -> R:
        return call(*args, **kwargs)

    roomy.__code__ = roomy.__code__.replace(co_stacksize=WORDS)
    return wraps(call)(roomy)
