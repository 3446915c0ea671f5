from collections.abc import Sequence
from math import fsum, hypot, isfinite


def cosine(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return a·b / (|a|·|b|).

    Args:
        first: Shape (n,).
        second: Shape (n,), from the same embedding model.

    Returns:
        In [-1, 1]; 1 is the same direction. None if either has no direction: all zeros,
        empty, or not finite.

    Raises:
        ValueError: The vectors differ in length, so one model did not make both.
    """
    if len(first) != len(second):
        raise ValueError(f"expected vectors of equal length, got {len(first)}, {len(second)}")
    one, other = _direction(first), _direction(second)
    if one is None or other is None:
        return None
    return min(1.0, max(-1.0, fsum(a * b for a, b in zip(one, other, strict=True))))


def _direction(vector: Sequence[float]) -> list[float] | None:
    """Normalise the vector; scale it first, so that squares neither overflow nor underflow."""
    largest = max(map(abs, vector), default=0.0)
    if not largest or not all(map(isfinite, vector)):
        return None
    scaled = [number / largest for number in vector]
    length = hypot(*scaled)
    return [number / length for number in scaled]
