import pytest

from evalhub.statistics.agreement.pair_coverage import Comparisons, comparisons


@pytest.mark.parametrize(
    ("answered", "found"),
    [
        # 3 pairs where all answered, 1 on each of the other four; 5 · 3 expected.
        ([(3, 3), (2, 3), (2, 3), (2, 3), (2, 3)], Comparisons(7, 15)),
        # One judge alone is compared with nobody.
        ([(1, 1)] * 4, Comparisons(0, 0)),
        # A judge that steps in makes good what was missed and no more.
        ([(3, 3), (4, 3)], Comparisons(6, 6)),
        ([], Comparisons(0, 0)),
    ],
)
def test_judges_are_compared_in_pairs_of_those_that_answered(answered, found):
    assert comparisons(answered) == found
