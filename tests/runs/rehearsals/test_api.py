import pytest

from runs.rehearsals.models import Attempt, Rehearsal
from runs.rehearsals.starting import draft_of
from tests.api import client_of, ids
from tests.runs.rehearsals.rows import AGREED, MIXED, decided, judge_of, rehearsal_of, template_of

pytestmark = pytest.mark.django_db

URL = "/api/v1/rehearsals/"


def body_of(run, **fields):
    return {"judge": judge_of(run).pk, "template": template_of(run).pk, **fields}


def test_rehearsal_is_begun_and_read_with_its_figures():
    script = client_of("maintainer")
    begun = script.post(URL, body_of(decided(MIXED), seed=4), format="json")
    assert begun.status_code == 201, begun.content
    read = script.get(f"{URL}{begun.json()['id']}/").json()
    assert read["seed"] == 4
    assert read["figures"]["sizes"] == {"seen": 8, "held_out": 8}
    assert set(read["figures"]["in_use"]["halves"]) == {"seen", "held_out"}
    assert read["figures"]["in_use"]["halves"]["held_out"]["n"] == 8
    assert ids(script.get(URL)) == [begun.json()["id"]]


def test_too_few_are_told_as_a_problem():
    answer = client_of("maintainer").post(URL, body_of(decided(AGREED[:3])), format="json")
    assert answer.status_code == 400
    assert "at least 8 answers" in answer.json()["problems"][0]


def test_try_begins_with_the_draft():
    script = client_of("maintainer")
    rehearsal = rehearsal_of(decided(MIXED))
    assert script.post(f"{URL}{rehearsal.pk}/tries/").status_code == 409
    draft_of(rehearsal, by=None)
    begun = script.post(f"{URL}{rehearsal.pk}/tries/")
    assert begun.status_code == 201, begun.content
    assert begun.json()["verdicts"]["pending"] == len(MIXED)
    assert script.post(f"{URL}{rehearsal.pk}/tries/").status_code == 400
    read = script.get(f"{URL}{rehearsal.pk}/").json()
    assert [one["state"] for one in read["tries"]] == ["live"]
    assert read["figures"]["tries"] == []


def test_annotator_reads_and_begins_nothing():
    run = decided(MIXED)
    rehearsal = rehearsal_of(run)
    draft_of(rehearsal, by=None)
    script = client_of("annotator")
    assert script.get(f"{URL}{rehearsal.pk}/").status_code == 200
    assert script.post(URL, body_of(run), format="json").status_code == 403
    assert script.post(f"{URL}{rehearsal.pk}/tries/").status_code == 403
    assert (Rehearsal.objects.count(), Attempt.objects.count()) == (1, 0)


def test_viewer_reads_none():
    assert client_of("viewer").get(URL).status_code == 403
