"""Verdicts in the API: judges, criteria, agreement and fingerprints."""

import pytest

from evalhub.statistics.agreement.alpha_bands import Band
from issues.models import JudgeTemplate
from runs.models import Approach, Judge
from tests.api import client_of, problems_in
from tests.factories import first_result, make_jury, make_model, make_run, make_test
from tests.reports.judged_runs import finish
from tests.runs.judged_runs import judged_run
from tests.runs.rubric_runs import jury_of, rubric_run

pytestmark = pytest.mark.django_db

POLITE = {"text": "Is polite.", "weight": 2.0, "mandatory": True}
RUDE = {"text": "Swears.", "polarity": "should_not"}
SHORT = {"text": "Is short.", "check_name": "word_count", "arguments": {"most": 9}}


def detail(run, role="viewer"):
    """Return the run's result from the API."""
    return client_of(role).get(f"/api/v1/results/{first_result(run).pk}/").json()


def verdict(run, role="viewer"):
    return detail(run, role)["verdict"]


def criterion(run, role="viewer"):
    (found,) = verdict(run, role)["criteria"]
    return found


# Criteria ----------------------------------------------------------------------------------------


def test_each_criterion_has_consensus_score_and_weight():
    votes = {"Is polite.": [1, 0.5, None], "Swears.": [0.25, 0.25, 0.25], "Is short.": [1]}
    votes |= {"Is right.": [1, 1, 0], "Is kind.": [1, None, None]}
    criteria = [POLITE, RUDE, SHORT, {"text": "Is right."}, {"text": "Is kind."}]
    polite, rude, short, right, kind = verdict(rubric_run(criteria, votes))["criteria"]

    assert (polite["text"], polite["weight"], polite["mandatory"]) == ("Is polite.", 2.0, True)
    assert (polite["value"], polite["score"]) == (0.75, 0.75)
    # What is not wanted is the better the less it is shown.
    assert (rude["polarity"], rude["value"], rude["score"]) == ("should_not", 0.25, 0.75)
    assert (short["check"], short["value"]) == ("word_count", 1.0)
    # √(2/9) of 1, 1, 0, that of the population; it is split above three tenths.
    assert right["deviation"] == pytest.approx(0.4714, abs=1e-4)
    assert (right["is_split"], right["split"]) == (True, [2, 1])
    assert (kind["deviation"], kind["is_split"], kind["value"]) == (None, False, 1.0)


def test_a_check_has_no_deviation_and_no_judge():
    found = criterion(rubric_run([SHORT], {"Is short.": [None]}))

    (judgment,) = found["judgments"]
    assert (found["value"], found["score"], found["deviation"]) == (None, None, None)
    assert (judgment["judge"], judgment["approach"], judgment["failure"]) == (
        None,
        "",
        "check_error",
    )


def test_a_criterion_is_overridden_and_its_verdict_withdrawn():
    run = rubric_run([POLITE, RUDE], {"Is polite.": [1], "Swears.": [1]})
    client = client_of("annotator")
    rude = verdict(run)["criteria"][1]["key"]
    url = "/api/v1/human-evaluations/"
    body = {"result": first_result(run).pk, "option": "UNMET", "justification": "It quotes."}

    refused = client.post(url, body | {"criterion": "nothing"})
    made = client.post(url, body | {"criterion": rude})
    overridden = detail(run)
    client.post(f"{url}{made.json()['id']}/withdraw/")

    assert refused.status_code == 400
    assert "nothing" in problems_in(refused)["criterion"][0]
    assert (made.status_code, made.json()["criterion"]) == (201, rude)
    assert (overridden["score"], overridden["is_overridden"]) == (1.0, True)
    found = overridden["verdict"]["criteria"][1]
    assert (found["value"], found["human_value"], found["score"]) == (1.0, 0.0, 1.0)
    # Two thirds: of weights 2 and 1 the fault has the latter.
    assert detail(run)["score"] == pytest.approx(2 / 3)


def test_a_test_without_a_rubric_has_one_criterion():
    found = criterion(judged_run(votes=(1, 1, 0)))

    assert (found["key"], found["text"], found["split"]) == ("", "", [2, 1])
    assert [row["option"] for row in found["judgments"]] == ["1", "1", "0"]


# Judgments ---------------------------------------------------------------------------------------


def test_every_judgment_has_judge_approach_template_and_reason():
    spare = make_model(name="spare")
    backup = Judge.objects.given(spare, approach=Approach.PROMPT_AWARE)
    votes = {"Is polite.": [1, None, 0.5], "Swears.": [0, None, 0.5]}
    run = rubric_run([POLITE, RUDE], votes, jury=jury_of(2, backup=backup))

    found = verdict(run)
    polite, rude = found["criteria"]
    first, failed, stand_in = polite["judgments"]

    wording = JudgeTemplate.objects.get(family="rubric-prompt-aware")
    assert (first["approach"], first["template"]) == ("prompt_aware", wording.pk)
    assert (first["option"], first["value"]) == ("FULLY_MET", 1.0)
    assert first["justification"].startswith("Because of 1")
    assert (failed["state"], failed["value"], failed["failure"]) == ("failed", None, "unreadable")
    assert [row["is_backup"] for row in (first, failed, stand_in)] == [False, False, True]
    # Judges without values are listed outside the consensus.
    assert found["consensus"].endswith("backup prompt-aware (spare)")
    assert [(one["asked"], one["answered"], one["is_backup"]) for one in found["judges"]] == [
        (2, 2, False),
        (2, 0, False),
        (2, 2, True),
    ]
    assert len(found["consensus"].split(", ")) == 2
    client = client_of("viewer")
    rows = client.get(f"/api/v1/judgments/?criterion={rude['key']}").json()["results"]
    assert [row["value"] for row in rows] == [0.5, None, 0]
    rows = client.get("/api/v1/judgments/?is_backup=true").json()["results"]
    assert [row["value"] for row in rows] == [0.5, 0.5]


def test_samples_are_listed_and_count_as_one_judge():
    run = rubric_run([POLITE], {"Is polite.": [[1, 1, 0], [0.5]]})

    found = criterion(run)

    assert [(row["sample"], row["value"]) for row in found["judgments"]] == [
        *((0, 1.0), (1, 1.0), (2, 0.0)),
        (0, 0.5),
    ]
    # Two thirds of the one judge, and one half of the other.
    assert found["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)


# Judges and agreement ----------------------------------------------------------------------------


def test_the_consensus_names_judges_in_the_order_of_the_jury():
    one, two = make_model(name="model a"), make_model(name="model b")
    jury = make_jury(one, approaches=("standard",))
    jury.judges.add(Judge.objects.given(two, approach="holistic"))
    run = rubric_run([POLITE], {"Is polite.": [1, 0]}, jury=jury)

    assert verdict(run)["consensus"] == "standard (model a), holistic (model b)"


def test_agreement_has_band_units_and_coverage():
    texts = [f"Point {n}." for n in range(5)]
    votes = {text: [n % 2, n % 2] for n, text in enumerate(texts)}
    run = rubric_run([{"text": text} for text in texts], votes)

    found = verdict(run)

    assert (found["alpha"], found["band"], found["units"]) == (1.0, Band.NOT_ENOUGH_DATA, 5)
    assert found["alpha_low"] < 0.8
    assert found["alpha_high"] == 1
    assert (found["comparisons_made"], found["comparisons_expected"]) == (5, 5)
    assert (found["answered"], found["expected"]) == (10, 10)
    assert found["jury_fingerprint"] == run.judge_runs.get().jury_fingerprint
    assert found["suite_fingerprint"] == run.suite_fingerprint
    url = f"/api/v1/judge-runs/{run.judge_runs.get().pk}/"
    assert client_of("viewer").get(url).json()["agreement"] is None  # It is not completed.
    finish(run)
    assert client_of("viewer").get(url).json()["agreement"] == {
        "alpha": 1.0,
        "interval": None,  # of one result
        "band": "not enough data to say",
        "units": 5,
        "comparisons_made": 5,
        "comparisons_expected": 5,
    }


def test_with_too_little_data_or_without_variation_there_is_no_alpha():
    texts = [f"Point {n}." for n in range(5)]
    for votes, band in (
        ({"Is polite.": [1, 0]}, Band.NOT_ENOUGH_DATA),
        ({text: [1, 1] for text in texts}, Band.NO_VARIATION),
    ):
        found = verdict(rubric_run([{"text": text} for text in votes], votes))
        assert (found["alpha"], found["band"]) == (None, band)


def test_a_judge_run_has_the_settings_of_its_judges():
    backup = Judge.objects.given(make_model(name="spare"))
    jury = make_jury(make_model(), backup=backup)
    jury.judges.set([Judge.objects.given(make_model(), approach="holistic", samples=3)])
    judge_run = make_run(jury=jury).judge_runs.get()

    shown = client_of("viewer").get(f"/api/v1/judge-runs/{judge_run.pk}/").json()

    (judge,) = shown["judges"]
    holistic = JudgeTemplate.objects.get(family="rubric-holistic")
    assert (judge["approach"], judge["samples"]) == ("holistic", 3)
    assert (judge["template"], judge["rubric_template"]) == (None, holistic.pk)
    assert shown["backup"]["name"] == "spare"


# What may be read, and what it takes -------------------------------------------------------------


def test_of_a_sealed_test_a_viewer_gets_figures_and_no_text():
    test = make_test(sealed=True, criteria=[POLITE])
    run = rubric_run([], {"Is polite.": [1, None]}, tests=(test,))

    found = criterion(run)
    for_reader = criterion(run, "annotator")

    assert (found["value"], found["text"]) == (1.0, "")
    assert "Is polite." in for_reader["text"]
    assert for_reader["judgments"][0]["justification"].startswith("Because of 1")
    assert for_reader["judgments"][1]["failure_message"] != ""
    for judgment in found["judgments"]:
        assert (judgment["justification"], judgment["failure_message"]) == ("", "")


def test_an_unjudged_result_lists_its_judges():
    found = verdict(make_run(make_test(criteria=[POLITE]), jury=jury_of(2)))

    assert (found["consensus"], found["criteria"][0]["value"]) == ("", None)
    assert [(one["asked"], one["answered"]) for one in found["judges"]] == [(0, 0), (0, 0)]


def test_queries_do_not_grow_with_the_rubric(django_assert_max_num_queries):
    texts = [f"Point {n}." for n in range(12)]
    run = rubric_run([{"text": text} for text in texts], {key: [1, 0, 1] for key in texts})
    client = client_of("viewer")

    with django_assert_max_num_queries(17):
        response = client.get(f"/api/v1/results/{first_result(run).pk}/")

    found = response.json()["verdict"]["criteria"]
    assert sum(len(one["judgments"]) for one in found) == 36
    (row,) = client.get(f"/api/v1/results/?run={run.pk}").json()["results"]
    assert "verdict" not in row  # A list has none.
    assert row["similarity"] is None
