import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.laboratory.trials.judges.metrics import METRICS, Metric, chrf, rouge_l, token_overlap

SHORT = "The program sorts a list of numbers."
LONG = "A list of numbers is what the program sorts, in rising order."


def test_rouge_l_is_the_f1_of_the_common_subsequence():
    # Of 7 and 12 words, "a list of numbers" are the longest common subsequence: 2·4 / 19.
    assert rouge_l(SHORT, LONG) == pytest.approx(8 / 19)


def test_token_overlap_ignores_order():
    # the, program, sorts, a, list, of, numbers: 2·7 / 19.
    assert token_overlap(SHORT, LONG) == pytest.approx(14 / 19)


def test_chrf_is_that_of_its_authors():
    # By hand for n-grams of 1 and 2 in sacrebleu's own tests; here only its scale, 0 to 1.
    assert chrf(SHORT, SHORT) == 1
    assert 0.3 < chrf(SHORT, LONG) < 0.7


@pytest.mark.parametrize("metric", Metric)
def test_equal_texts_have_1_and_unrelated_ones_less_than_the_threshold(metric):
    judge = METRICS[metric]

    assert judge.measure(SHORT, SHORT) == pytest.approx(1)
    assert judge.measure(SHORT, "Zebras graze quietly near rivers") < judge.threshold


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_texts_have_a_number_from_0_to_1(first, second):
    for judge in METRICS.values():
        assert 0 <= judge.measure(first, second) <= 1
