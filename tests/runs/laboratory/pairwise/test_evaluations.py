import pytest
from django.core.exceptions import ValidationError

from runs.laboratory.pairwise.evaluations import (
    active_choice,
    choose,
    chosen_as_shown,
    found_pair,
    order_for,
    undo,
)
from runs.laboratory.pairwise.models import PairEvaluation
from runs.laboratory.pairwise.outcomes import pair_rows
from runs.models import Result
from runs.scoring.shown_verdicts import record
from tests.factories import make_user
from tests.runs.laboratory.pairwise.rows import answered_runs

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair():
    runs = answered_runs("x", "y", tests=1)
    return [run.results.get() for run in runs]


def scores(pair):
    return [row.outcome.score for row in pair_rows([one.run_id for one in pair], None)]


def key(pair, key, by, **fields):
    """Choose by a key, as a page does."""
    chosen = chosen_as_shown(key, (pair[0].pk, pair[1].pk), by, **fields)
    return choose(pair[0], pair[1], chosen, by=by)


def shown_as(pair, annotator, wanted):
    """The key by which this annotator says that the first (0) or second (1) answer is better."""
    return "ab"[wanted ^ order_for((pair[0].pk, pair[1].pk), annotator)]


@pytest.mark.parametrize("wanted", [0, 1])
def test_a_choice_is_of_the_answer_and_not_of_its_place(pair, wanted):
    for annotator in [make_user("annotator") for _ in range(6)]:
        key(pair, shown_as(pair, annotator, wanted), annotator)
    assert scores(pair) == [1 - wanted]
    assert {row.order for row in PairEvaluation.objects.all()} == {0, 1}


def test_undo_restores_the_choice_before_and_deletes_nothing(pair):
    annotator = make_user("annotator")
    key(pair, "e", annotator)
    key(pair, shown_as(pair, annotator, 0), annotator, reason="It is shorter.")
    assert scores(pair) == [1]

    undo(found_pair(*pair), by=annotator)
    assert scores(pair) == [0.5]
    undo(found_pair(*pair), by=annotator)
    assert scores(pair) == []
    assert undo(found_pair(*pair), by=annotator) is None
    assert PairEvaluation.objects.count() == 4


def test_the_same_choice_again_is_recorded_once(pair):
    annotator = make_user("annotator")
    first = key(pair, "e", annotator)
    chosen = chosen_as_shown("e", (pair[0].pk, pair[1].pk), annotator)
    assert choose(pair[1], pair[0], chosen, by=annotator) == first
    assert active_choice(first.pair, annotator) == first


def test_people_who_differ_are_disputed(pair):
    key(pair, "e", make_user("annotator"))
    key(pair, "a", make_user("annotator"))
    (row,) = pair_rows([one.run_id for one in pair], None)
    assert row.outcome.is_disputed
    assert row.outcome.score is None


def test_a_choice_is_blind_unless_verdicts_were_shown_before(pair):
    blind, sighted = make_user("annotator"), make_user("annotator")
    record(sighted, results=[pair[1].pk])
    assert key(pair, "a", blind).blind
    assert not key(pair, "a", sighted).blind


def test_what_is_no_choice_is_refused(pair):
    annotator = make_user("annotator")
    for wrong in ("", "1", "A"):
        with pytest.raises(ValidationError, match="is no choice"):
            key(pair, wrong, annotator)
    with pytest.raises(ValidationError, match="10,001 characters"):
        key(pair, "a", annotator, reason="x" * 10_001)
    with pytest.raises(ValidationError, match="one run"):
        key([pair[0], pair[0]], "a", annotator)
    other = answered_runs("z", tests=1)[0].results.get()
    with pytest.raises(ValidationError, match="answers to tests"):
        key([pair[0], other], "a", annotator)
    Result.objects.filter(pk=pair[1].pk).update(state="error")
    pair[1].refresh_from_db()
    with pytest.raises(ValidationError, match="no answer"):
        key(pair, "a", annotator)
