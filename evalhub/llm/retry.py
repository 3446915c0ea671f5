"""When to try a failed call again."""

from random import Random

from evalhub.llm.errors import CallError

ATTEMPTS = 5
BASE_S = 1.0
CAP_S = 60.0
LONGEST_WAIT_S = 900.0


def delay_s(attempt: int, error: CallError, random: Random) -> float | None:
    """Seconds to wait before the next try; None when there is to be none.

    Exponential with full jitter: uniform between 0 and min(60, 2^(attempt - 1)). A provider's
    Retry-After is a lower bound, with the jitter on top so that waiting calls do not return
    together; one of more than 15 minutes is not waited for.

    Args:
        attempt: The attempt that failed, from 1.
        error: What it failed with.
        random: Source of the jitter.

    Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog (2015).
    """
    if not error.can_retry or attempt >= ATTEMPTS:
        return None
    jitter = random.uniform(0, min(CAP_S, BASE_S * 2 ** (attempt - 1)))
    wait = error.retry_after_s or 0.0
    return None if wait > LONGEST_WAIT_S else wait + jitter
