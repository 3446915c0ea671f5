"""Checks of arguments; each raises ValueError with the value it got."""

from collections.abc import Sequence, Sized


def check_lengths(**sequences: Sized) -> None:
    lengths = [len(sequence) for sequence in sequences.values()]
    if len(set(lengths)) > 1:
        *names, last = sequences
        raise ValueError(
            f"expected {', '.join(names)} and {last} of one length, "
            f"got {', '.join(map(str, lengths))}"
        )


def check_weights(weights: Sequence[float]) -> None:
    if len(weights) and min(weights) < 0:
        raise ValueError(f"expected weights of 0 or more, got {min(weights)}")


def check_resampling(*, resamples: int, level: float) -> None:
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"expected resamples >= 1 and 0 < level < 1, got {resamples}, {level}")


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"expected a confidence level between 0 and 1, got {level}")


def check_count(k: int, n: int) -> None:
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, got k={k}, n={n}")
