import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.agreement.effective_votes import effective_votes


def equicorrelated(n, r):
    """Return the matrix of n judges with correlation r."""
    return [[1 if i == j else r for j in range(n)] for i in range(n)]


@given(st.integers(1, 12))
def test_independent_judges_each_count(n):
    assert effective_votes(equicorrelated(n, 0)) == n


@given(st.integers(1, 12))
def test_judges_that_agree_throughout_count_as_one(n):
    assert effective_votes(equicorrelated(n, 1)) == 1


def test_published_value():
    # L. Kish (1965): the design effect of clusters of n is 1 + (n - 1) · r; here 1 + 4 · 0.5 = 3.
    assert effective_votes(equicorrelated(5, 0.5)) == pytest.approx(5 / 3)


def test_pair_of_three_judges_that_agree_most():
    # 9 / (3 + 2 · 0.9 + 2 · 0.1 + 2 · 0.2)
    matrix = [[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]]
    assert effective_votes(matrix) == pytest.approx(9 / 5.4)


def test_errors_that_cancel_out_are_worth_more():
    assert effective_votes(equicorrelated(2, -0.5)) == 4


def test_mean_of_the_effective_votes_varies_as_much():
    # Three judges share half their variance; the mean of n_eff = 1.5 independent ones varies 2/3.
    rng = np.random.default_rng(1)
    votes = rng.normal(size=(3, 200_000)) * 0.5**0.5 + rng.normal(size=200_000) * 0.5**0.5
    found = effective_votes(np.corrcoef(votes).tolist())
    assert found == pytest.approx(1.5, abs=0.01)
    assert votes.mean(axis=0).var() == pytest.approx(1 / found, abs=0.01)


def test_opposite_judges_leave_no_variance():
    assert effective_votes(equicorrelated(2, -1)) is None


def test_pair_that_was_not_measured_leaves_it_open():
    assert effective_votes([[1, None], [None, 1]]) is None


def test_no_judges_have_no_votes():
    assert effective_votes([]) is None


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1, 0], [0]], "2 correlations in a row, got 1"),
        ([[1, 0.2], [0.3, 1]], r"got 0\.2 and 0\.3 at 0, 1"),
        ([[1, 2], [2, 1]], "got 2 and 2 at 0, 1"),
        ([[0.5]], r"got 0\.5 and 0\.5 at 0, 0"),
        ([[1, None], [0.3, 1]], r"got None and 0\.3"),
    ],
)
def test_what_is_no_correlation_matrix_is_refused(matrix, message):
    with pytest.raises(ValueError, match=message):
        effective_votes(matrix)
