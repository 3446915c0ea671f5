import pytest

from evalhub.statistics.student import student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 10, 99, 500, 999, 1000, 5000])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.99])
def test_it_is_scipys(freedom, level, scipy_stats):
    assert student_quantile(level, freedom) == pytest.approx(
        scipy_stats.t.ppf(0.5 + level / 2, freedom)
    )


def test_no_degrees_of_freedom_are_refused():
    with pytest.raises(ValueError, match="degrees of freedom"):
        student_quantile(0.95, 0)
