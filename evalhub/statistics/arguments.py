"""What the statistics ask of their arguments; each raises ValueError that names what it got."""

from collections.abc import Sequence, Sized


def check_lengths(**sequences: Sized) -> None:
    """The sequences are of one length; they are told by their names."""
    lengths = [len(sequence) for sequence in sequences.values()]
    if len(set(lengths)) > 1:
        *names, last = sequences
        raise ValueError(
            f"expected {', '.join(names)} and {last} of one length, "
            f"got {', '.join(map(str, lengths))}"
        )


def check_weights(weights: Sequence[float]) -> None:
    """No weight is negative."""
    if len(weights) and min(weights) < 0:
        raise ValueError(f"expected weights of 0 or more, got {min(weights)}")


def check_resampling(*, resamples: int, level: float) -> None:
    """Something is drawn, and the interval holds a part of it."""
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"expected resamples >= 1 and 0 < level < 1, got {resamples}, {level}")


def check_level(level: float) -> None:
    """A level of confidence lies between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"expected a confidence level between 0 and 1, got {level}")


def check_count(k: int, n: int) -> None:
    """No more were counted than there are."""
    if not 0 <= k <= n:
        raise ValueError(f"expected 0 <= k <= n, got k={k}, n={n}")
