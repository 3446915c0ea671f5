"""The whole retry policy: of failed calls, rate limits, and items whose worker died. Pure.

A call that failed with an error that may pass is tried 5 times, with exponential backoff. After a
429 the shared rate is halved as well (`evalhub.work.limits.shared_rate`), and after the fifth try
the item waits a minute and starts again: a 429 is final only once the rate is at its lowest.

A Retry-After header is the least wait. Above 30 seconds the item is given back to wait for it, and
starts again with a full set of tries. Above 15 minutes the error is final.

An item that was claimed twice without an orderly end is claimed alone in its process, so that work
which kills its worker takes no other with it. If that claim fails too, the item is an error.
"""

from random import Random
from typing import NamedTuple

from evalhub.limits import CALL_ATTEMPTS, LONGEST_PAUSE_S, LONGEST_WAIT_S
from evalhub.llm.errors import CallError, CallErrorKind

BASE_S = 1.0

MIN_SHARE = 0.02
"""The lowest share of its full rate to which a model's shared rate is cut."""

CLAIMS_TOGETHER = 2
"""Claims of an item beside others; the next is alone in its process, and the last."""


class Retry(NamedTuple):
    """Another try, in `wait_s` seconds. `is_later`: the item is given back for that time."""

    wait_s: float
    is_later: bool


def next_try(error: CallError, attempt: int, share: float, random: Random) -> Retry | None:
    """Decide how a failed call is tried again; None: the error is final.

    Backoff has full jitter: uniform between 0 and 2^(attempt - 1) seconds. It is added to a
    Retry-After, so that waiting calls do not return together.

    Args:
        error: The error of the last try.
        attempt: The number of that try, from 1.
        share: The share of its full rate at which the model is called now.
        random: Source of the jitter.

    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
    """
    asked_s = error.retry_after_s or 0.0
    if not error.can_retry or asked_s > LONGEST_WAIT_S:
        return None
    if attempt < CALL_ATTEMPTS:
        wait_s = asked_s + random.uniform(0, BASE_S * 2 ** (attempt - 1))
        return Retry(wait_s, is_later=wait_s > LONGEST_PAUSE_S)
    is_lowest = share < 1.5 * MIN_SHARE  # the rate recovers a little between two cuts
    if error.kind == CallErrorKind.RATE_LIMITED and not is_lowest:
        return Retry(2 * LONGEST_PAUSE_S, is_later=True)
    return None
