from random import Random

import pytest

from evalhub.statistics.agreement.kappa import confusion
from evalhub.statistics.ranking.pearson import pearson_from_confusion


def test_published_value():
    # The first set of F. J. Anscombe (1973), doi:10.1080/00031305.1973.10478966: r = 0.816.
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    assert pearson_from_confusion(confusion(x, y)) == pytest.approx(0.816, abs=0.0005)


def test_it_is_that_of_scipy(scipy_stats):
    rng = Random(3)
    x = [rng.choice([0, 0.25, 0.5, 1]) for _ in range(200)]
    y = [rng.choice([value, 0, 1]) for value in x]
    found = pearson_from_confusion(confusion(x, y))
    assert found == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize(
    ("pairs", "r"), [({(0, 0): 3, (1, 1): 2}, 1), ({(0, 1): 3, (1, 0): 2}, -1)]
)
def test_full_agreement_and_its_opposite(pairs, r):
    assert pearson_from_confusion(pairs) == pytest.approx(r)


@pytest.mark.parametrize("pairs", [{}, {(1, 1): 9}, {(0.1, 0): 5, (0.1, 1): 7}])
def test_what_never_varies_has_none(pairs):
    assert pearson_from_confusion(pairs) is None
