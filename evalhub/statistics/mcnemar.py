from evalhub.statistics.binomial import at_most


def mcnemar(worse: int, better: int) -> float:
    """Return the exact two-sided p: min(1, 2 · P(X <= fewer)) of X ~ Binomial(worse + better, ½).

    Tests that both runs passed or both failed do not matter. The tests must be independent; for
    tests that share issues use `sign_flip`.

    Args:
        worse: Tests that the first run passed and the second failed.
        better: Tests that the first run failed and the second passed.

    Returns:
        p in (0, 1] (0 only where it is too small for a float). 1.0 without discordant pairs.
        Fewer than 6 discordant pairs never reach p < 0.05.

    Raises:
        ValueError: A count is negative.

    Source: Q. McNemar (1947), doi:10.1007/BF02295996; exact: the sign test on discordant pairs.
    """
    if min(worse, better) < 0:
        raise ValueError(f"expected counts of 0 or more, got {worse}, {better}")
    return min(1.0, 2 * at_most(min(worse, better), worse + better, 0.5))
