"""Agreement of annotators: the rule, the query and the page."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from evalhub.statistics.agreement.alpha_bands import Band
from evalhub.statistics.agreement.krippendorff import alpha
from evalhub.statistics.rates.rate_interval import Method
from reports.annotators.page import ANNOTATORS
from reports.annotators.query import ALL, annotators
from reports.annotators.rule import (
    FEW_BOTH,
    ONE_VERDICT,
    AnnotatorVerdict,
    EvaluationScope,
    RepeatedVerdict,
    group_agreement,
    pairs,
    seen,
    self_agreement,
)
from reports.documents.reading import Reading
from reports.queries.human_agreement import evaluated_runs
from runs.models import ChosenBy, HumanEvaluation, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import make_issue, make_template, make_test, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.judged_runs import judged

BLIND = {"blind": True, "chosen_by": ChosenBy.QUEUE_RANDOM}
BINARY, FIVE = (0.0, 1.0), (0.0, 0.25, 0.5, 0.75, 1.0)


def verdicts_of(who, values, *, scale=BINARY, blind=True, suite=None, tags=0):
    """What one person says of answers 0, 1, 2 …, each of an issue of its own; None: nothing."""
    return [
        AnnotatorVerdict(who, n, n, suite, tags, scale, value, value > 0.5, blind)
        for n, value in enumerate(values)
        if value is not None
    ]


# Two people ---------------------------------------------------------------------------------------


def test_kappa_and_raw_agreement_of_two_people():
    # They agree on 8 of 10; each says pass five times, so chance is 0.5: (0.8 - 0.5) / 0.5.
    first = verdicts_of(1, [1, 1, 1, 1, 0, 1, 0, 0, 0, 0])
    second = verdicts_of(2, [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    (pair,) = pairs([*second, *first])
    assert (pair.first, pair.second, pair.n, pair.same.passed) == (1, 2, 10, 8)
    assert pair.kappa == pytest.approx(0.6)
    assert pair.interval.low < 0.6 < pair.interval.high
    assert pair.same.interval.low < 0.8 < pair.same.interval.high
    assert pair.same.method is Method.BY_ISSUE
    assert pair.why_not == ""


def test_only_answers_that_both_judged_count():
    (pair,) = pairs([*verdicts_of(1, [1, 0, 1, None]), *verdicts_of(2, [1, 0, None, 0])])
    assert pair.n == 2


@pytest.mark.parametrize(("values", "why_not"), [([1], FEW_BOTH), ([1, 1, 1], ONE_VERDICT)])
def test_too_few_answers_or_one_verdict_throughout_give_no_kappa_and_say_why(values, why_not):
    (pair,) = pairs([*verdicts_of(1, values), *verdicts_of(2, values)])
    assert (pair.same.passed, pair.kappa, pair.why_not) == (len(values), None, why_not)


def test_on_a_longer_scale_near_misses_weigh_less_by_degree():
    first = verdicts_of(1, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75], scale=FIVE)
    second = verdicts_of(2, [0.0, 0.25, 0.75, 0.75, 1.0, 1.0], scale=FIVE)
    (pair,) = pairs([*first, *second])
    assert pair.graded.n == 6
    assert pair.graded.kappa > pair.kappa


def test_two_options_have_no_kappa_by_degree():
    (pair,) = pairs([*verdicts_of(1, [1, 0]), *verdicts_of(2, [1, 1])])
    assert pair.graded is None


def test_scales_are_not_mixed():
    first = [*verdicts_of(1, [0.25, 0.5, 1.0], scale=FIVE), *verdicts_of(1, [None] * 3 + [0, 1])]
    second = [*verdicts_of(2, [0.25, 0.5, 1.0], scale=FIVE), *verdicts_of(2, [None] * 3 + [1, 1])]
    (pair,) = pairs([*first, *second])
    assert (pair.n, pair.graded.n) == (5, 3)


def test_a_rare_verdict_is_pointed_out():
    (pair,) = pairs([*verdicts_of(1, [1] * 20 + [0]), *verdicts_of(2, [1] * 21)])
    assert pair.is_lopsided


# All together -------------------------------------------------------------------------------------


def test_alpha_is_krippendorffs_of_pass_and_fail():
    table = [[1, 1, None], [0, 0, 0], [1, 0, None], [None, 1, 1], [0, 0, 1], [1, 1, 1]]
    given = [
        one
        for who, column in enumerate(zip(*table, strict=True))
        for one in verdicts_of(who, column)
    ]
    (line,) = group_agreement(given, lambda one: [ALL])
    assert line.alpha == pytest.approx(alpha(table, "nominal"))
    assert (line.answers, line.annotators) == (6, 3)
    # Pairs of verdicts: 1 + 3 + 1 + 1 + 3 + 3 = 12; equal: 1 + 3 + 0 + 1 + 1 + 3 = 9.
    assert (line.same.n, line.same.passed) == (12, 9)
    assert line.interval is not None


def test_what_one_person_judged_alone_is_no_answer_to_compare():
    (line,) = group_agreement([*verdicts_of(1, [1, 1, 0]), *verdicts_of(2, [1])], lambda one: [ALL])
    assert line.answers == 1


@pytest.mark.parametrize(
    ("values", "band"), [([1, 0, 1, 0], Band.NOT_ENOUGH_DATA), ([1] * 6, Band.NO_VARIATION)]
)
def test_there_is_no_alpha_of_too_little_or_without_variation(values, band):
    (line,) = group_agreement([*verdicts_of(1, values), *verdicts_of(2, values)], lambda one: [ALL])
    assert (line.alpha, line.interval, line.band) == (None, None, band)


def test_blind_verdicts_are_taken_alone():
    given = [*verdicts_of(1, [1, 0]), *verdicts_of(2, [1, 0], blind=False)]
    assert pairs(seen(given, EvaluationScope.BLIND)) == []
    assert len(pairs(seen(given, EvaluationScope.ALL))) == 1


# The same person again ----------------------------------------------------------------------------


def test_how_often_a_person_says_the_same_again():
    again = [RepeatedVerdict(1, n, first, second) for n, (first, second) in enumerate(ONE_PERSON)]
    (line,) = self_agreement(again)
    assert (line.n, line.same.passed) == (4, 3)
    # Chance: 0.5 · 0.75 + 0.5 · 0.25 = 0.5; (0.75 - 0.5) / 0.5.
    assert line.kappa == pytest.approx(0.5)


ONE_PERSON = [(True, True), (True, True), (False, True), (False, False)]


def test_once_is_too_little():
    (line,) = self_agreement([RepeatedVerdict(1, 1, True, True)])
    assert (line.kappa, line.why_not) == (None, "Fewer than 2 answers were reviewed again.")


# What is read -------------------------------------------------------------------------------------


@pytest.fixture
def people(db):
    return make_user("annotator", username="anna"), make_user("annotator", username="bela")


def answers(n=3, **fields):
    run = judged(*[[1]] * n, **fields)
    return list(run.results.order_by("pk"))


def say(result, person, option, **fields):
    evaluate(result, HumanVerdict(option, "Because.", **fields), by=person)


def found():
    return annotators(evaluated_runs(last=50), Reading(make_user("viewer")))


def page(**state):
    form = ANNOTATORS.form(as_query({name: str(value) for name, value in state.items()}))
    return ANNOTATORS.build(form.filters, Reading(make_user("viewer")))


def cells(document, key):
    return document.table(key).as_rows()


def both_say(results, people, first, second, **fields):
    for result, one, other in zip(results, first, second, strict=True):
        say(result, people[0], one, **fields)
        say(result, people[1], other, **fields)


def test_each_persons_standing_verdict_counts(people):
    results = answers()
    both_say(results, people, "101", "111", **BLIND)
    say(results[1], people[0], "1", **BLIND)  # changed
    say(results[2], people[1], "0", **BLIND)
    withdraw(results[2], by=people[1])

    (pair,) = found().pairs[EvaluationScope.BLIND]

    assert (pair.n, pair.same.passed) == (3, 3)


def test_an_adjudication_is_nobodys_opinion_and_says_who_was_overruled(people):
    results = answers()
    both_say(results, people, "111", "011")
    judge = make_user("adjudicator", username="carla")
    say(results[0], judge, "1", kind="adjudication")

    read = found()

    assert len(read.pairs[EvaluationScope.ALL]) == 1
    work = {read.names[one.who]: one for one in read.work}
    assert (work["anna"].settled, work["anna"].overruled) == (1, 0)
    assert (work["bela"].settled, work["bela"].overruled) == (1, 1)
    assert (work["carla"].evaluations, work["carla"].adjudications) == (0, 1)


def test_groups_are_suites_and_tags_as_they_were_at_launch(people):
    suite = Suite.objects.create(name="Facts")
    tests = [make_test(issue=make_issue(tags=("law",))), make_test(issue=make_issue())]
    both_say(answers(2, suite=suite, tests=tests), people, "10", "11")

    groups = {line.group: line.answers for line in found().group_agreement[EvaluationScope.ALL]}

    assert groups == {ALL: 2, ("suite", "Facts"): 2, ("tag", "law"): 1}


def test_verdicts_on_single_criteria_are_counted_as_work_only(people):
    test = make_test(criteria=[{"text": "Is polite."}])
    (result,) = answers(1, tests=[test])
    key = result.revision.criteria.exclude(key="").get().key
    for person in people:
        say(result, person, "UNMET", criterion=key)

    read = found()

    assert read.pairs[EvaluationScope.ALL] == []
    assert [one.evaluations for one in read.work] == [1, 1]


def test_a_later_blind_verdict_from_a_queue_is_held_against_the_earlier(people):
    results = answers()
    for result, first, second in zip(results, "110", "100", strict=True):
        say(result, people[0], first)
        say(result, people[0], second, **BLIND)
    say(results[0], people[1], "1")
    say(results[0], people[1], "0")  # changed with open eyes: no review

    (line,) = found().self_agreement

    assert (line.who, line.n, line.same.passed) == (people[0].pk, 3, 2)


def test_the_scale_of_the_test_decides_what_passes(people):
    options = [{"label": str(n), "value": n / 4, "description": ""} for n in range(5)]
    scale = {"options": options, "threshold": 0.75, "rule": "inclusive"}
    tests = [make_test(template=make_template(scale=scale)) for _ in range(3)]
    both_say(answers(3, tests=tests), people, "431", "240")

    (pair,) = found().pairs[EvaluationScope.ALL]

    assert (pair.n, pair.same.passed) == (3, 2)
    assert pair.graded.n == 3


# The page -----------------------------------------------------------------------------------------


def test_the_page_tells_blind_reviews_apart(people):
    results = answers(6)
    both_say(results[:5], people, "11010", "11000", **BLIND)
    both_say(results[5:], people, "1", "1")

    document = page()

    (blind,) = cells(document, "pairs_blind")
    (everything,) = cells(document, "pairs_all")
    assert (blind["first"], blind["second"]) == ("anna", "bela")
    assert (blind["same"].n, everything["same"].n) == (5, 6)
    lines = [
        (row["verdicts"], row["kind"], row["answers"]) for row in cells(document, "group_agreement")
    ]
    assert lines == [("blind", "All answers", 5), ("all", "All answers", 6)]
    assert "At least two of 2 annotators gave blind verdicts on 5 answers" in document.sentences[0]


def test_median_time_is_of_those_that_were_timed(people):
    results = answers()
    for result, seconds in zip(results, (10, 30, None), strict=True):
        say(result, people[0], "1", seconds=seconds)

    (row,) = cells(page(), "annotators")

    assert (row["annotator"], row["evaluations"], row["seconds"], row["timed"]) == (
        "anna",
        3,
        20000,
        2,
    )


def test_without_two_on_one_answer_the_page_says_what_to_do(people):
    say(answers(1)[0], people[0], "1")

    document = page()

    assert "two reviewers" in document.sentences[0]
    assert cells(document, "pairs_all") == []
    assert document.warnings == ()


def test_verdicts_that_were_not_blind_are_warned_of(people):
    both_say(answers(), people, "101", "111")
    assert "may have seen" in page().warnings[0]


def test_more_evaluations_need_no_more_queries(people):
    both_say(answers(), people, "101", "111")
    with CaptureQueriesContext(connection) as few:
        found()
    both_say(answers(6), people, "101010", "111000")
    HumanEvaluation.objects.update(seconds=5)
    with CaptureQueriesContext(connection) as many:
        found()
    assert len(many) <= len(few)
