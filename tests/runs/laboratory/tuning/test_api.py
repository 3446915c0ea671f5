import pytest

from runs.laboratory.tuning.models import Attempt, Tuning
from runs.laboratory.tuning.start import draft_of
from tests.api import client_of, ids, problems_in
from tests.runs.laboratory.tuning.rows import (
    AGREED,
    MIXED,
    judge_of,
    scored,
    template_of,
    tuning_of,
)

pytestmark = pytest.mark.django_db

URL = "/api/v1/tunings/"


def body_of(run, **fields):
    return {"judge": judge_of(run).pk, "template": template_of(run).pk, **fields}


def test_tuning_is_started_and_read_with_its_figures():
    script = client_of("maintainer")
    begun = script.post(URL, body_of(scored(MIXED), seed=4), format="json")
    assert begun.status_code == 201, begun.content
    read = script.get(f"{URL}{begun.json()['id']}/").json()
    assert read["seed"] == 4
    assert read["figures"]["sizes"] == {"development": 8, "held_out": 8}
    assert set(read["figures"]["in_use"]["splits"]) == {"development", "held_out"}
    assert read["figures"]["in_use"]["splits"]["held_out"]["n"] == 8
    assert ids(script.get(URL)) == [begun.json()["id"]]


def test_too_few_answers_are_a_problem():
    answer = client_of("maintainer").post(URL, body_of(scored(AGREED[:3])), format="json")
    assert answer.status_code == 400
    assert "at least 8 answers" in problems_in(answer)[""][0]


def test_attempt_starts_with_the_draft():
    script = client_of("maintainer")
    tuning = tuning_of(scored(MIXED))
    assert script.post(f"{URL}{tuning.pk}/attempts/").status_code == 409
    draft_of(tuning, by=None)
    begun = script.post(f"{URL}{tuning.pk}/attempts/")
    assert begun.status_code == 201, begun.content
    assert begun.json()["judgments"]["pending"] == len(MIXED)
    assert script.post(f"{URL}{tuning.pk}/attempts/").status_code == 400
    read = script.get(f"{URL}{tuning.pk}/").json()
    assert [one["state"] for one in read["attempts"]] == ["live"]
    assert read["figures"]["attempts"] == []


def test_annotator_reads_and_starts_nothing():
    run = scored(MIXED)
    tuning = tuning_of(run)
    draft_of(tuning, by=None)
    script = client_of("annotator")
    assert script.get(f"{URL}{tuning.pk}/").status_code == 200
    assert script.post(URL, body_of(run), format="json").status_code == 403
    assert script.post(f"{URL}{tuning.pk}/attempts/").status_code == 403
    assert (Tuning.objects.count(), Attempt.objects.count()) == (1, 0)


def test_viewer_reads_none():
    assert client_of("viewer").get(URL).status_code == 403
