"""The 95 % interval of the difference of two pass rates over different tests."""

from math import hypot

from evalhub.statistics.interval import Interval


def rate_difference_interval(
    first: float, of_first: Interval, second: float, of_second: Interval
) -> Interval:
    """Return the interval of `first` - `second` from those of both rates: Newcombe's method 10.

    It is as wide as the intervals that it is made of account for; where tests of both rates share
    issues, it is too wide rather than too narrow.

    Args:
        first: In [0, 1], as all figures.
        of_first: Its interval by `rate_interval`, at the level of the result.

    Source: R. G. Newcombe (1998), Statistics in Medicine 17, 873-890; for intervals other than
    Wilson's by test: G. Y. Zou, A. Donner (2008), Statistics in Medicine 27, 1693-1702.
    """
    difference = first - second
    return Interval(
        low=difference - hypot(first - of_first.low, of_second.high - second),
        high=difference + hypot(of_first.high - first, second - of_second.low),
    )
