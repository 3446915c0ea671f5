from collections import Counter
from dataclasses import replace

import pytest

from evalhub.refusals import Refused
from issues.models import FrozenCriterion, JudgeTemplate, Tag, TemplateExample
from runs.laboratory.tuning.figures import tuning_figures
from runs.laboratory.tuning.labelled_answers import labelled_answers_of, pairs
from runs.laboratory.tuning.models import AnnotatorFilter, LabelledExample, Split
from runs.laboratory.tuning.start import draft_of
from runs.lifecycle.deletion import delete_run
from runs.models import Judgment, Result
from tests.factories import first_result, make_test, make_user
from tests.runs.laboratory.tuning.rows import (
    AGREED,
    MIXED,
    judge_of,
    say,
    scored,
    selection_of,
    template_of,
    tuning_of,
)
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db


def splits_of(tuning):
    return dict(tuning.examples.values_list("result__test_id", "split"))


def test_verdicts_of_both_are_copied():
    tuning = tuning_of(scored(MIXED))
    found = tuning.examples.values_list("value", "judge_value", "passed", "judge_passed")
    assert Counter(found) == Counter((p, j, bool(p), bool(j)) for p, j in MIXED)


def test_splits_are_disjoint_by_test_stay_in_later_tunings_and_come_again_by_the_seed():
    run = scored(MIXED)
    first = splits_of(tuning_of(run, seed=4))
    assert Counter(first.values()) == {Split.DEVELOPMENT: 8, Split.HELD_OUT: 8}
    assert splits_of(tuning_of(run, seed=5)) == first
    LabelledExample.objects.all().delete()
    assert splits_of(tuning_of(run, seed=4)) == first
    LabelledExample.objects.all().delete()
    assert splits_of(tuning_of(run, seed=5)) != first


def test_later_evaluations_change_no_tuning():
    run = scored(AGREED)
    tuning = tuning_of(run)
    before = tuning_figures(tuning)
    say(run.results.first(), 0)
    assert tuning_figures(tuning) == before


def test_adjudication_outranks_and_a_dispute_is_left_out():
    run = scored([*AGREED, (1, 1), (1, 1)])
    settled, disputed = run.results.order_by("-pk")[:2]
    for result in (settled, disputed):
        say(result, 0)
    say(settled, 0, kind="adjudication")
    tuning = tuning_of(run)
    assert tuning.left_out == {"disputed": 1}
    assert tuning.examples.get(result=settled).passed is False
    assert not tuning.examples.filter(result=disputed).exists()


def test_withdrawn_verdict_does_not_count():
    run = scored([*AGREED, (1, 1)])
    last = run.results.order_by("-pk")[0]
    mine = last.evaluations.get()
    say(last, None, annotator=mine.annotator, kind="withdrawal", option="")
    assert not tuning_of(run).examples.filter(result=last).exists()


def test_only_what_was_drawn_at_random_and_judged_blind():
    run = scored([(None, 1)] * 12)
    results = list(run.results.order_by("pk"))
    for result in results[:10]:
        say(result, 1, chosen_by="queue_random", blind=True)
    say(results[10], 1, chosen_by="queue_random")
    say(results[11], 0)
    assert len(labelled_answers_of(selection_of(run)).labelled) == 12
    drawn = selection_of(run, annotators=AnnotatorFilter.RANDOM)
    assert len(labelled_answers_of(drawn).labelled) == 10


def test_only_a_tag():
    run = scored(AGREED)
    tag = Tag.objects.create(name="dates")
    assert labelled_answers_of(selection_of(run, tag=tag)).labelled == []
    tags = Result.objects.first().tag_set
    tags.names = ["dates"]
    tags.save()
    assert len(labelled_answers_of(selection_of(run, tag=tag)).labelled) == len(AGREED)


def test_the_newest_judge_run_counts():
    run = scored(AGREED)
    judge_run = run.judge_runs.get()
    again = type(judge_run).objects.create(run=run, number=2, jury=judge_run.jury)
    result = run.results.order_by("pk")[0]
    first = result.judgments.get()
    first.pk, first.judge_run, first.value, first.option = None, again, 0.0, "0"
    first.save()
    found = {one.result: one.judge_value for one in labelled_answers_of(selection_of(run)).labelled}
    assert found[result.pk] == 0.0


def test_too_few_are_refused_in_words():
    run = scored([(1, 1)] * 3)
    with pytest.raises(Refused, match=r"3 answers of 3 tests.*at least 8"):
        tuning_of(run)


def test_judges_without_a_verdict_are_counted():
    tuning = tuning_of(scored([*AGREED, (1, None), (0, None)]))
    found = tuning_figures(tuning).in_use
    assert sum(split.failed for split in found.splits.values()) == 2
    assert sum(split.n for split in found.splits.values()) == len(AGREED)


def test_criteria_are_compared_one_by_one():
    points = {f"point {n}": [1.0] for n in range(8)}
    run = rubric_run([], points, tests=(make_test(criteria=[{"text": text} for text in points]),))
    result = first_result(run)
    criterion = FrozenCriterion.objects.filter(revision=result.revision).exclude(key="")[0]
    judgment = Judgment.objects.get(result=result, criterion=criterion)
    say(result, 0, criterion=criterion)
    selection = selection_of(run)
    selection = replace(selection, template=judgment.template, judge=judgment.judge)
    (one,) = labelled_answers_of(selection).labelled
    assert (one.criterion, one.passed, one.judge_passed) == (criterion.pk, False, True)


def test_examples_of_the_version_in_use_are_excluded_from_its_figures():
    run = scored(MIXED)
    taught = run.results.first().test
    template = template_of(run)
    type(template).objects.filter(pk=template.pk).update(state="draft")
    TemplateExample.objects.create(template=template, test=taught, output="x", option="1")
    type(template).objects.filter(pk=template.pk).update(state="published")
    tuning = tuning_of(run)
    assert tuning.examples.get(result__test=taught).split == Split.DEVELOPMENT
    found = tuning_figures(tuning)
    assert found.taught == 1
    assert sum(split.n for split in found.in_use.splits.values()) == len(MIXED) - 1


def test_pairs_are_offered_with_how_much_is_known():
    run = scored(AGREED)
    scored([(1, 1)])
    found = pairs()
    assert found[0] == (judge_of(run).pk, template_of(run).pk, len(AGREED))
    assert found[1].answers == 1


def test_draft_is_made_once_and_the_next_follows_what_was_published_last():
    tuning = tuning_of(scored(AGREED))
    annotator = make_user("maintainer")
    draft = draft_of(tuning, by=annotator)
    assert (draft.version, draft.state) == (tuning.template.version + 1, "draft")
    assert draft_of(tuning, by=annotator) == draft
    JudgeTemplate.objects.filter(pk=draft.pk).update(text="{{ output }} anew", state="published")
    assert draft_of(tuning, by=annotator).text == "{{ output }} anew"


def test_a_run_can_be_deleted_with_what_tunings_took_from_it():
    run = scored(AGREED)
    tuning = tuning_of(run)
    delete_run(run)
    assert not tuning.examples.exists()
    assert tuning_figures(tuning).in_use.splits["development"].n == 0
