"""The page of a result that was judged criterion by criterion."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from issues.models import Polarity
from runs.models import Approach, HumanEvaluation, Judge, Judgment, Result
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import first_result, make_jury, make_model, make_run, make_test, make_user
from tests.runs.admin.test_result_page import evaluate_by_form, shown
from tests.runs.rubric_runs import judge_rubrics, jury_of, rubric_run

pytestmark = pytest.mark.django_db

POLITE, RUDE = "Is polite.", "Is rude."


@pytest.fixture
def annotator(client):
    person = make_user("annotator")
    client.force_login(person)
    return person


def point(text="", **fields):
    return {"text": text, **fields}


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def row(page, number=1):
    """The words of one row of the rubric."""
    rows = page.split('<li class="rn-criterion')[1:]
    return text_of("<" + rows[number - 1].split("</li>")[0])


def result_of(criteria, votes, **fields):
    return first_result(rubric_run(criteria, votes, **fields))


# Rows --------------------------------------------------------------------------------------------


def test_criteria_are_listed_in_order_with_weight_share_and_source(client, annotator):
    criteria = [
        point(POLITE, weight=3, citation="House style, 4", mandatory=True),
        point("Names four.", alternative=2),
    ]
    page = shown(client, result_of(criteria, {POLITE: [1], "Names four.": [0.75]}))

    first, second = row(page, 1), row(page, 2)
    for said in (
        "should Is polite.",
        "weight 3",
        "mandatory",
        "House style, 4",
        "75% of the score",
    ):
        assert said in first
    assert "alternative 2 (any one suffices)" in second
    assert "Because of 1 in Is polite." in first


def test_showing_what_it_should_not_scores_low(client, annotator):
    rude = point(RUDE, polarity=Polarity.SHOULD_NOT)
    page = shown(client, result_of([rude], {RUDE: [0.75]}))

    assert "should not Is rude." in row(page)
    assert "shown 0.75" in row(page)
    assert "score 0.25" in row(page)


def test_split_judges_are_expanded_with_their_deviation(client, annotator):
    # Values 1, 1, 0: mean 2/3, variance 2/9, deviation 0.471.
    criteria = [point(POLITE), point("Names four.")]
    page = shown(client, result_of(criteria, {POLITE: [1, 1, 0], "Names four.": [1, 1, 0.75]}))

    assert "judges split, deviation 0.47" in row(page, 1)
    assert "split 2 : 1" in row(page, 1)
    assert "judges split" not in row(page, 2)
    opened = [" open" in part.split(">")[0] for part in page.split("<details")[1:]]
    assert opened.count(True) == 1


def test_samples_of_a_judge_are_its_certainty(client, annotator):
    jury = make_jury()
    judge = Judge.objects.given(make_model(), approach=Approach.PROMPT_AWARE, samples=4)
    jury.judges.add(judge)
    votes = {POLITE: [[1, 1, 0.75, 1]]}
    page = shown(client, result_of([point(POLITE)], votes, jury=jury))

    assert "certainty 75%: fully 3 of 4, mostly 1 of 4" in row(page)


def test_a_backup_judge_is_shown_beside_the_failure_it_replaced(client, annotator):
    backup = Judge.objects.given(make_model(name="reserve"), approach=Approach.PROMPT_AWARE)
    votes = {POLITE: [1, None, 0.5]}
    page = shown(client, result_of([point(POLITE)], votes, jury=jury_of(2, backup=backup)))

    assert "1 missing judgment" in row(page)
    assert "Could not be parsed : No verdict was found in the reply. Not counted." in row(page)
    assert re.search(r"reserve \(prompt-aware\) about half · 0.50 backup judge", row(page))


def test_a_check_is_shown_with_its_arguments_and_outcome(client, annotator):
    check = point(check_name="contains", arguments={"text": "four"})
    page = shown(client, result_of([check], {"contains": [1]}))

    assert "automatic check" in row(page)
    assert "text &quot;four&quot;" in row(page)
    assert "shown 1.00" in row(page)
    assert "Because of 1" in row(page)


@pytest.mark.parametrize(("found", "lang"), [(1, ' lang="de"'), (0, "")])
def test_an_answer_in_the_language_of_its_check_is_marked_so(client, annotator, found, lang):
    check = point(check_name="language", arguments={"language": "de"})
    page = shown(client, result_of([check], {"language": [found]}))

    assert f'<div class="eh-prose" dir="auto"{lang} data-formatted>' in page.split('id="answer"')[1]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [("js", {"source": "1"}, "cannot run here"), ("matches", {"pattern": "a"}, "check error")],
)
def test_a_check_without_a_value_is_never_zero(client, annotator, name, arguments, said):
    criteria = [point(check_name=name, arguments=arguments), point(POLITE)]
    result = result_of(criteria, {name: [None], POLITE: [1]})
    page = shown(client, result)

    assert said in row(page)
    assert "shown — score —" in row(page)
    assert "not in the score: no value" in row(page)
    assert result.score == 1


def test_judges_asked_are_pending_and_others_are_left_out(client, annotator):
    approaches = (Approach.TEMPLATE, Approach.HOLISTIC)
    jury = make_jury(make_model(name="judge"), approaches=approaches)
    page = shown(client, first_result(make_run(make_test(criteria=[point(POLITE)]), jury=jury)))

    assert "judge (holistic) not judged yet" in row(page)
    assert row(page).count("not judged yet") == 2  # of the criterion, and the judge asked


def test_a_test_without_a_rubric_waits_only_for_those_who_judge_the_whole(client, annotator):
    approaches = (Approach.TEMPLATE, Approach.HOLISTIC)
    jury = make_jury(make_model(name="judge"), approaches=approaches)
    page = shown(client, first_result(make_run(make_test(), jury=jury)))

    assert page.count("not judged yet") == 2  # in the head, and the one vote
    assert "(holistic)" not in page


# Score breakdown ---------------------------------------------------------------------------------


def breakdown(page):
    return text_of(page.split('id="score_breakdown"')[1].split("</section>")[0])


def test_the_alternative_that_counts_is_named_with_the_others(client, annotator):
    criteria = [point("One.", alternative=1), point("Two.", alternative=2)]
    page = shown(client, result_of(criteria, {"One.": [0.25], "Two.": [0.75]}))

    counting = "number 2 scores best and counts as one criterion of weight 1: 0.75 (1: 0.25)."
    assert counting in breakdown(page)
    assert "another alternative counts" in row(page, 1)


def test_a_mandatory_criterion_that_is_not_met_is_named(client, annotator):
    criteria = [point(POLITE), point("Names four.", mandatory=True)]
    page = shown(client, result_of(criteria, {POLITE: [1], "Names four.": [0]}))

    assert "Criterion 2 is mandatory but not met: the score is 0." in breakdown(page)


def test_the_share_of_similarity_is_worked_out(client, annotator):
    run = make_run(make_test(criteria=[point(POLITE)]), jury=jury_of(1), similarity_weight=0.25)
    Result.objects.filter(run=run).update(similarity=0.8)
    judge_rubrics(run, {POLITE: [0.5]})
    result = first_result(run)

    # 0.75 · 0.5 + 0.25 · 0.8 = 0.575
    assert result.score == pytest.approx(0.575)
    assert "(0.80) makes up 25%: 0.75 · 0.5 + 0.25 · 0.8 = 0.57" in breakdown(shown(client, result))


def test_a_similarity_that_was_not_measured_leaves_no_score(client, annotator):
    result = result_of([point(POLITE)], {POLITE: [1]}, similarity_weight=0.25)

    assert "was not measured, so there is no score" in breakdown(shown(client, result))


# Agreement ---------------------------------------------------------------------------------------


def judges(page):
    return text_of(page.split('id="judges"')[1].split("</section>")[0])


def test_coverage_counts_judge_pairs_and_missing_judgments(client, annotator):
    # One of five criteria has three verdicts, so 3 pairs; four have two, so 1 pair each.
    texts = [f"Point {n}." for n in range(5)]
    votes = {text: [1, 0.75, None] for text in texts} | {texts[0]: [1, 0.75, 1]}
    page = shown(client, result_of([point(text) for text in texts], votes))

    assert "7 of 15 judge pairs" in judges(page)
    assert re.search(r"judge 2 of \d+ \(prompt-aware\) 1 of 5", judges(page))


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([[1, 1]] * 5 + [[0, 0]], "not enough data to say"),
        ([[1, 1]] * 5, "no variation"),
        ([[1, 0]] * 3, "not enough data to say"),
        ([[1, 0], [0, 1]] * 3, "unreliable"),
    ],
)
def test_agreement_is_shown_with_its_band(client, annotator, votes, said):
    texts = [f"Point {n}." for n in range(len(votes))]
    result = result_of([point(t) for t in texts], dict(zip(texts, votes, strict=True)))

    assert said in judges(shown(client, result))


def test_a_single_criterion_shows_how_its_judges_split(client, annotator):
    page = shown(client, result_of([point(POLITE)], {POLITE: [1, 1, 0]}))

    assert "Agreement 2 : 1" in judges(page)


# Human evaluations of one criterion --------------------------------------------------------------


def key_of(result, text):
    return result.revision.criteria.get(text=text).key


def test_a_person_judges_one_criterion_and_stays_on_the_result(client, annotator):
    result = result_of([point(POLITE), point("Names four.")], {POLITE: [0], "Names four.": [1]})
    key = key_of(result, POLITE)

    response = evaluate_by_form(
        client, result, criterion=key, option="FULLY_MET", justification="It says please."
    )

    assert response.url.endswith(f"/{result.pk}/change/?navigation=1#criterion-{key}")
    page = shown(client, result)
    result.refresh_from_db()
    assert result.score == 1
    assert "human verdict" in row(page, 1)
    assert "Your verdict: fully" in row(page, 1)
    assert "mean of the judges" not in row(page, 2)
    assert "Because of 0" in row(page, 1)


def test_what_an_answer_should_not_show_is_asked_in_words_with_what_it_comes_to(client, annotator):
    result = result_of([point(RUDE, polarity=Polarity.SHOULD_NOT)], {RUDE: [0]})

    asked = row(shown(client, result), 1)

    assert "How far does the answer show it? It should not: the more it shows" in asked
    assert "fully → score 0 2 mostly → score 0.25" in asked
    assert "5 not at all → score 1" in asked


def test_a_criterions_verdict_can_be_undone(client, annotator):
    result = result_of([point(POLITE)], {POLITE: [0]})
    key = key_of(result, POLITE)
    evaluate(result, HumanVerdict("FULLY_MET", "A slip.", criterion=key), by=annotator)

    evaluate_by_form(client, result, act="undo", criterion=key)

    result.refresh_from_db()
    assert (result.score, result.is_overridden) == (0, False)


def test_a_refused_verdict_on_a_criterion_loses_nothing_and_touches_no_other_form(
    client, annotator
):
    result = result_of([point(POLITE)], {POLITE: [0]})
    sent = {"criterion": key_of(result, POLITE), "option": "", "justification": "It says please."}

    page = evaluate_by_form(client, result, **sent).content.decode()

    whole, own = page.split('id="evaluation"')[1], page.split('id="evaluation"')[0]
    assert "It says please." in own
    assert "It says please." not in whole
    assert not HumanEvaluation.objects.exists()


def test_a_verdict_on_the_whole_outranks_the_rubric_and_says_so(client, annotator):
    result = result_of([point(POLITE)], {POLITE: [0]})
    evaluate(result, HumanVerdict("1", "It will do."), by=annotator)

    page = shown(client, result)

    assert "verdict on the whole answer is the score: 1." in breakdown(page)
    assert "outranks this" in row(page)


def test_differing_verdicts_on_a_criterion_are_shown(client, annotator):
    result = result_of([point(POLITE)], {POLITE: [0]})
    key = key_of(result, POLITE)
    for option in ("FULLY_MET", "UNMET"):
        evaluate(result, HumanVerdict(option, "So.", criterion=key), by=make_user("annotator"))

    assert "annotators disagree" in row(shown(client, result))


def test_a_viewer_reads_the_rubric_but_judges_nothing(client):
    result = result_of([point(POLITE)], {POLITE: [0]})
    client.force_login(make_user("viewer"))

    assert "Override this criterion" not in row(shown(client, result))


# The page of a judgment --------------------------------------------------------------------------


def judgment_page(client, result):
    judgment = Judgment.objects.get(result=result)
    return client.get(reverse("admin:runs_result_judgment", args=[result.pk, judgment.pk]))


def test_the_exact_prompt_of_a_judgment_is_a_page_of_its_own(client, annotator):
    result = result_of([point(POLITE)], {POLITE: [0.5]})

    page = judgment_page(client, result).content.decode()

    assert "Is polite." in page
    assert "about half · 0.50" in page
    assert "Because of 0.5 in Is polite." in page


def test_a_judgment_of_a_sealed_test_is_not_found_for_viewers(client):
    result = result_of([], {POLITE: [1]}, tests=(make_test(criteria=[point(POLITE)], sealed=True),))

    client.force_login(make_user("viewer"))
    assert judgment_page(client, result).status_code == 404
    client.force_login(make_user("annotator"))
    assert judgment_page(client, result).status_code == 200


def test_a_judgment_of_another_result_is_not_found(client, annotator):
    result, other = (result_of([point(POLITE)], {POLITE: [1]}) for _ in range(2))
    judgment = Judgment.objects.get(result=other)
    url = reverse("admin:runs_result_judgment", args=[result.pk, judgment.pk])

    assert client.get(url).status_code == 404


# Lists and size ----------------------------------------------------------------------------------


def test_the_list_counts_what_is_good_and_not_what_is_shown(client, annotator):
    criteria = [point(POLITE), point(RUDE, polarity=Polarity.SHOULD_NOT)]
    result_of(criteria, {POLITE: [1, 1], RUDE: [0, 1]})

    assert "3:1" in client.get(reverse("admin:runs_result_changelist")).content.decode()


def queries_of(client, result):
    with CaptureQueriesContext(
        connection,
    ) as queries:
        shown(client, result, navigation=1)
    return len(queries)


def test_forty_criteria_and_three_judges_take_as_many_queries_as_one(client, annotator):
    texts = [f"Point {n}." for n in range(40)]
    small = result_of([point(POLITE)], {POLITE: [1]})
    large = result_of([point(text) for text in texts], {text: [1, 0.5, None] for text in texts})
    for text in texts[:5]:
        evaluate(large, HumanVerdict("UNMET", "No.", criterion=key_of(large, text)), by=annotator)
    for result in (small, large):
        shown(client, result)  # records what is shown for the first time

    assert queries_of(client, large) <= queries_of(client, small)


def test_agreement_is_not_shown_before_judging(client, annotator):
    run = make_run(make_test(criteria=[point(POLITE)]), jury=jury_of(2))
    page = shown(client, first_result(run))

    assert "Judges evaluate each criterion once there is a response." in judges(page)
    assert "not enough data to say" not in page
    assert "not in the score" not in row(page)
