from collections import Counter
from dataclasses import replace

import pytest

from issues.models import FrozenCriterion, JudgeTemplate, Tag, TemplateExample
from runs.deletion import delete_run
from runs.models import Judgment, Result
from runs.rehearsals.models import Half, People, Precedent
from runs.rehearsals.outcome import outcome
from runs.rehearsals.starting import RehearsalRefused, draft_of
from runs.rehearsals.verdicts import pairs, verdicts_of
from tests.factories import first_result, make_test, make_user
from tests.runs.rehearsals.rows import (
    AGREED,
    MIXED,
    chosen_of,
    decided,
    judge_of,
    rehearsal_of,
    say,
    template_of,
)
from tests.runs.rubrics import rubric_run

pytestmark = pytest.mark.django_db


def halves_of(rehearsal):
    return dict(rehearsal.precedents.values_list("result__test_id", "half"))


def test_what_both_said_is_copied():
    rehearsal = rehearsal_of(decided(MIXED))
    found = rehearsal.precedents.values_list("value", "judge_value", "passed", "judge_passed")
    assert Counter(found) == Counter((p, j, bool(p), bool(j)) for p, j in MIXED)


def test_halves_are_disjoint_by_test_and_the_seed_gives_them_again():
    run = decided(MIXED)
    first = halves_of(rehearsal_of(run, seed=4))
    assert Counter(first.values()) == {Half.SEEN: 8, Half.HELD_OUT: 8}
    Precedent.objects.all().delete()
    assert halves_of(rehearsal_of(run, seed=4)) == first
    Precedent.objects.all().delete()
    assert halves_of(rehearsal_of(run, seed=5)) != first


def test_tests_stay_in_their_half_in_later_rehearsals():
    run = decided(MIXED)
    first = halves_of(rehearsal_of(run, seed=4))
    assert halves_of(rehearsal_of(run, seed=5)) == first


def test_later_words_of_people_change_no_rehearsal():
    run = decided(AGREED)
    rehearsal = rehearsal_of(run)
    before = outcome(rehearsal)
    say(run.results.first(), 0)
    assert outcome(rehearsal) == before


def test_adjudication_outranks_and_a_dispute_is_left_out():
    run = decided([*AGREED, (1, 1), (1, 1)])
    settled, disputed = run.results.order_by("-pk")[:2]
    for result in (settled, disputed):
        say(result, 0)
    say(settled, 0, kind="adjudication")
    rehearsal = rehearsal_of(run)
    assert rehearsal.left_out == {"disputed": 1}
    assert rehearsal.precedents.get(result=settled).passed is False
    assert not rehearsal.precedents.filter(result=disputed).exists()


def test_withdrawn_verdict_does_not_count():
    run = decided([*AGREED, (1, 1)])
    last = run.results.order_by("-pk")[0]
    mine = last.evaluations.get()
    say(last, None, person=mine.annotator, kind="withdrawal", option="")
    assert not rehearsal_of(run).precedents.filter(result=last).exists()


def test_only_what_was_drawn_at_random_and_judged_blind():
    run = decided([(None, 1)] * 12)
    results = list(run.results.order_by("pk"))
    for result in results[:10]:
        say(result, 1, chosen_by="queue_random", blind=True)
    say(results[10], 1, chosen_by="queue_random")
    say(results[11], 0)
    assert len(verdicts_of(chosen_of(run)).decided) == 12
    assert len(verdicts_of(chosen_of(run, people=People.RANDOM)).decided) == 10


def test_only_a_tag():
    run = decided(AGREED)
    tag = Tag.objects.create(name="dates")
    assert verdicts_of(chosen_of(run, tag=tag)).decided == []
    tags = Result.objects.first().tag_set
    tags.names = ["dates"]
    tags.save()
    assert len(verdicts_of(chosen_of(run, tag=tag)).decided) == len(AGREED)


def test_newest_judging_is_what_the_judge_says_now():
    run = decided(AGREED)
    judging = run.judgings.get()
    again = type(judging).objects.create(run=run, number=2, jury=judging.jury)
    result = run.results.order_by("pk")[0]
    first = result.judgments.get()
    first.pk, first.judging, first.value, first.option = None, again, 0.0, "0"
    first.save()
    found = {one.result: one.judge_value for one in verdicts_of(chosen_of(run)).decided}
    assert found[result.pk] == 0.0


def test_too_few_are_refused_in_words():
    run = decided([(1, 1)] * 3)
    with pytest.raises(RehearsalRefused, match=r"3 answers of 3 tests.*at least 8"):
        rehearsal_of(run)


def test_judges_without_a_verdict_are_counted():
    rehearsal = rehearsal_of(decided([*AGREED, (1, None), (0, None)]))
    found = outcome(rehearsal).in_use
    assert sum(half.failed for half in found.halves.values()) == 2
    assert sum(half.n for half in found.halves.values()) == len(AGREED)


def test_criteria_are_compared_one_by_one():
    points = {f"point {n}": [1.0] for n in range(8)}
    run = rubric_run([], points, tests=tuple(_rubric_tests(points)))
    result = first_result(run)
    criterion = FrozenCriterion.objects.filter(revision=result.revision).exclude(key="")[0]
    judgment = Judgment.objects.get(result=result, criterion=criterion)
    say(result, 0, criterion=criterion)
    chosen = chosen_of(run)
    found = verdicts_of(replace(chosen, template=judgment.template, judge=judgment.judge)).decided
    assert [(one.criterion, one.passed, one.judge_passed) for one in found] == [
        (criterion.pk, False, True)
    ]


def _rubric_tests(points):
    yield make_test(criteria=[{"text": text} for text in points])


def test_what_the_version_in_use_was_taught_proves_nothing_of_it():
    run = decided(MIXED)
    taught = run.results.first().test
    template = template_of(run)
    type(template).objects.filter(pk=template.pk).update(state="draft")
    TemplateExample.objects.create(template=template, test=taught, output="x", option="1")
    type(template).objects.filter(pk=template.pk).update(state="published")
    rehearsal = rehearsal_of(run)
    assert rehearsal.precedents.get(result__test=taught).half == Half.SEEN
    found = outcome(rehearsal)
    assert found.taught == 1
    assert sum(half.n for half in found.in_use.halves.values()) == len(MIXED) - 1


def test_pairs_are_offered_with_how_much_is_known():
    run = decided(AGREED)
    decided([(1, 1)])
    found = pairs()
    assert found[0] == (judge_of(run).pk, template_of(run).pk, len(AGREED))
    assert found[1].answers == 1


def test_draft_is_made_once():
    rehearsal = rehearsal_of(decided(AGREED))
    person = make_user("maintainer")
    draft = draft_of(rehearsal, by=person)
    assert (draft.version, draft.state) == (rehearsal.template.version + 1, "draft")
    assert draft_of(rehearsal, by=person) == draft


def test_next_draft_follows_what_was_published_last():
    rehearsal = rehearsal_of(decided(AGREED))
    draft = draft_of(rehearsal, by=None)
    JudgeTemplate.objects.filter(pk=draft.pk).update(text="{{ output }} anew", state="published")
    assert draft_of(rehearsal, by=None).text == "{{ output }} anew"


def test_a_run_can_be_deleted_with_what_rehearsals_took_from_it():
    run = decided(AGREED)
    rehearsal = rehearsal_of(run)
    delete_run(run)
    assert not rehearsal.precedents.exists()
    assert outcome(rehearsal).in_use.halves["seen"].n == 0
