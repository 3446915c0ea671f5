import pytest
from django.urls import reverse

from runs.laboratory.pairwise.models import PairwiseJudgeRun
from tests.api import client_of
from tests.factories import make_model, make_user
from tests.runs.laboratory.pairwise.rows import answered_runs

pytestmark = pytest.mark.django_db


def post(client, name, body=None, *args):
    return client.post(reverse(name, args=args), body or {}, content_type="application/json")


def test_a_script_starts_and_controls_a_pairwise_judge_run():
    runs = answered_runs("x", "y", tests=2)
    script = client_of(make_user("maintainer"))
    body = {"runs": [run.pk for run in runs], "language_model": make_model().pk, "ties": False}
    made = post(script, "api-pairwise-run-list", body)

    assert made.status_code == 201
    assert made.json()["judgments"]["pending"] == 4
    assert made.json()["ties"] is False
    pk = made.json()["id"]
    assert post(script, "api-pairwise-run-cancel", None, pk).json()["state"] == "cancelled"
    assert post(script, "api-pairwise-run-resume", None, pk).json()["state"] == "live"
    assert post(script, "api-pairwise-run-retry-errors", None, pk).status_code == 409
    judgments = script.get(reverse("api-pair-judgment-list") + f"?judge_run={pk}").json()
    assert {(row["order"], row["choice"]) for row in judgments["results"]} == {(0, ""), (1, "")}


def test_a_refusal_lists_its_problems():
    runs = answered_runs("x", tests=1)
    script = client_of(make_user("maintainer"))
    body = {"runs": [runs[0].pk], "language_model": make_model().pk}
    refused = post(script, "api-pairwise-run-list", body)
    assert refused.status_code >= 400
    assert "Choose 2 to 8 runs, not 1." in refused.content.decode()
    assert not PairwiseJudgeRun.objects.exists()


def test_a_script_gives_and_withdraws_its_choice(subtests):
    runs = answered_runs("x", "y", tests=1)
    results = [run.results.get().pk for run in runs]
    script, other = client_of(make_user("annotator")), client_of(make_user("annotator"))
    for better, choice in ((results[0], "first"), (results[1], "second"), (None, "tie")):
        with subtests.test(choice):
            body = {"results": results[::-1], "better": better}
            made = post(script, "api-pair-evaluation-list", body)
            assert made.status_code == 201
            assert (made.json()["choice"], made.json()["order"]) == (choice, 1)
            withdraw, pk = "api-pair-evaluation-withdraw", made.json()["id"]
            assert post(other, withdraw, None, pk).status_code == 403
            assert post(script, withdraw, None, pk).json()["choice"] == ""
            assert post(script, withdraw, None, pk).status_code == 409
    refused = post(script, "api-pair-evaluation-list", {"results": results, "better": 987})
    assert refused.status_code == 400
    assert "987 is neither" in refused.content.decode()
