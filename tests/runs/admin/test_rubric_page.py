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


def test_each_criterion_is_a_row_with_all_that_is_known_of_it(client, annotator, subtests):
    criteria = [
        (point(POLITE, weight=3, citation="House style, 4", mandatory=True), [1, 1, 0]),
        (point("Names four.", alternative=2), [1, 1, 0.75]),
        (point(RUDE, polarity=Polarity.SHOULD_NOT), [0.75, 0.75, 0.75]),
        (point(check_name="contains", arguments={"text": "four"}), [1]),
        (point(check_name="js", arguments={"source": "1"}), [None]),
        (point(check_name="matches", arguments={"pattern": "a"}), [None]),
    ]
    said = [
        # Values 1, 1, 0: mean 2/3, variance 2/9, deviation 0.471.
        "should Is polite.|weight 3|mandatory|House style, 4|50% of the score"
        "|judges split, deviation 0.47|split 2 : 1|Because of 1 in Is polite.",
        "alternative 2 (any one suffices)",
        "should not Is rude.|shown 0.75|score 0.25",
        "automatic check|text &quot;four&quot;|shown 1.00|Because of 1",
        "cannot run here|shown — score —|not in the score: no value",
        "check error|shown — score —|not in the score: no value",
    ]
    votes = {one["text"] or one["check_name"]: given for one, given in criteria}
    page = shown(client, result_of([one for one, _ in criteria], votes))

    for number, parts in enumerate(said, 1):
        with subtests.test(parts):
            assert [part for part in parts.split("|") if part not in row(page, number)] == []
            assert ("judges split" in row(page, number)) is (number == 1)
    opened = [" open" in part.split(">")[0] for part in page.split("<details")[1:]]
    assert opened.count(True) == 3  # where judges are split, and of checks without a value


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


def test_an_answer_in_the_language_of_its_check_is_marked_so(client, annotator):
    check = point(check_name="language", arguments={"language": "de"})
    for found, lang in ((1, ' lang="de"'), (0, "")):
        page = shown(client, result_of([check], {"language": [found]}))
        marked = f'<div class="eh-prose" dir="auto"{lang} data-formatted>'
        assert marked in page.split('id="answer"')[1]


def test_judges_asked_are_pending_and_others_are_left_out(client, annotator):
    approaches = (Approach.TEMPLATE, Approach.HOLISTIC)
    jury = make_jury(make_model(name="judge"), approaches=approaches)
    run = make_run(make_test(criteria=[point(POLITE)]), make_test(), jury=jury)
    by_rubric, whole = run.results.order_by("pk")

    page = shown(client, by_rubric)
    assert "judge (holistic) not judged yet" in row(page)
    assert row(page).count("not judged yet") == 2  # of the criterion, and the judge asked
    assert "Judges evaluate each criterion once there is a response." in judges(page)
    assert "not enough data to say" not in page
    assert "not in the score" not in row(page)
    page = shown(client, whole)
    assert page.count("not judged yet") == 2  # in the head, and the one vote
    assert "(holistic)" not in page


# Score breakdown ---------------------------------------------------------------------------------


def breakdown(page):
    return text_of(page.split('id="score_breakdown"')[1].split("</section>")[0])


def test_the_alternative_that_counts_and_what_is_mandatory_are_named(client, annotator):
    criteria = [point("One.", alternative=1), point("Two.", alternative=2)]
    votes = {"One.": [0.25], "Two.": [0.75], POLITE: [0]}
    page = shown(client, result_of([*criteria, point(POLITE, mandatory=True)], votes))

    counting = "number 2 scores best and counts as one criterion of weight 1: 0.75 (1: 0.25)."
    assert counting in breakdown(page)
    assert "another alternative counts" in row(page, 1)
    assert "Criterion 3 is mandatory but not met: the score is 0." in breakdown(page)


def test_the_share_of_similarity_is_worked_out(client, annotator):
    run = make_run(make_test(criteria=[point(POLITE)]), jury=jury_of(1), similarity_weight=0.25)
    Result.objects.filter(run=run).update(similarity=0.8)
    judge_rubrics(run, {POLITE: [0.5]})
    result = first_result(run)

    # 0.75 · 0.5 + 0.25 · 0.8 = 0.575
    assert result.score == pytest.approx(0.575)
    assert "(0.80) makes up 25%: 0.75 · 0.5 + 0.25 · 0.8 = 0.57" in breakdown(shown(client, result))
    Result.objects.update(similarity=None)
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


def test_agreement_is_shown_with_its_band(client, annotator, subtests):
    jury = jury_of(2)
    for votes, said in (
        ([[1, 1]] * 5 + [[0, 0]], "not enough data to say"),
        ([[1, 1]] * 5, "no variation"),
        ([[1, 0]] * 3, "not enough data to say"),
        ([[1, 0], [0, 1]] * 3, "unreliable"),
        ([[1, 0]], "Agreement 1 : 1"),
    ):
        texts = [f"Point {n}." for n in range(len(votes))]
        voted = dict(zip(texts, votes, strict=True))
        with subtests.test(votes):
            page = shown(client, result_of([point(text) for text in texts], voted, jury=jury))
            assert said in judges(page)


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
    assert Result.objects.get().score == 1
    for said in ("human verdict", "Your verdict: fully", "Because of 0"):
        assert said in row(page, 1)
    assert "mean of the judges" not in row(page, 2)
    evaluate(result, HumanVerdict("UNMET", "So.", criterion=key), by=make_user("annotator"))
    assert "annotators disagree" in row(shown(client, result))
    HumanEvaluation.objects.exclude(annotator=annotator).delete()
    evaluate_by_form(client, result, act="undo", criterion=key)

    result.refresh_from_db()
    assert (result.score, result.is_overridden) == (0.5, False)
    client.force_login(make_user("viewer"))
    assert "Override this criterion" not in row(shown(client, result))


def test_what_an_answer_should_not_show_is_asked_in_words_with_what_it_comes_to(client, annotator):
    result = result_of([point(RUDE, polarity=Polarity.SHOULD_NOT)], {RUDE: [0]})

    asked = row(shown(client, result), 1)

    assert "How far does the answer show it? It should not: the more it shows" in asked
    assert "fully → score 0 2 mostly → score 0.25" in asked
    assert "5 not at all → score 1" in asked


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


# The page of a judgment --------------------------------------------------------------------------


def test_the_exact_prompt_of_a_judgment_is_a_page_of_its_own(client, annotator):
    sealed = make_test(criteria=[point(POLITE)], sealed=True)
    result, other = (result_of([], {POLITE: [0.5]}, tests=(sealed,)) for _ in range(2))

    def page(judged):
        judgment = Judgment.objects.get(result=judged)
        return client.get(reverse("admin:runs_result_judgment", args=[result.pk, judgment.pk]))

    text = page(result).content.decode()
    for said in ("Is polite.", "about half · 0.50", "Because of 0.5 in Is polite."):
        assert said in text
    assert page(other).status_code == 404
    client.force_login(make_user("viewer"))
    assert page(result).status_code == 404


# Lists and size ----------------------------------------------------------------------------------


def test_the_list_counts_what_is_good_and_not_what_is_shown(client, annotator):
    criteria = [point(POLITE), point(RUDE, polarity=Polarity.SHOULD_NOT)]
    result_of(criteria, {POLITE: [1, 1], RUDE: [0, 1]})

    assert "3:1" in client.get(reverse("admin:runs_result_changelist")).content.decode()


def queries_of(client, result):
    with CaptureQueriesContext(connection) as queries:
        shown(client, result, navigation=1)
    return len(queries)


def test_twelve_criteria_and_three_judges_take_as_many_queries_as_one(client, annotator):
    texts = [f"Point {n}." for n in range(12)]
    small = result_of([point(POLITE)], {POLITE: [1]})
    large = result_of([point(text) for text in texts], {text: [1, 0.5, None] for text in texts})
    for text in texts[:2]:
        evaluate(large, HumanVerdict("UNMET", "No.", criterion=key_of(large, text)), by=annotator)
    for result in (small, large):
        shown(client, result)  # records what is shown for the first time

    assert queries_of(client, large) <= queries_of(client, small)
