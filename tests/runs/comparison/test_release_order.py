"""The one order of releases, what each came from, and the rows that people edit."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError

from runs.comparison.opponent_rule import ReleasedRun, opponents
from runs.comparison.release_order_rule import Named, ReleaseOrder, arranged, in_release_order
from runs.models import Release
from tests.api import client_of
from tests.factories import make_run, make_test, make_user

START = datetime(2026, 1, 1, tzinfo=UTC)


def order(*names, **before):
    """The order of these releases; each was made a day after the one before it in `names`."""
    made = {name: START + timedelta(days=day) for day, name in enumerate(names)}
    found = (Named(one, before.get(one, ""), made[one]) for one in arranged(names))
    return ReleaseOrder(tuple(found))


def test_versions_order_themselves_and_other_names_stay_as_they_are():
    assert arranged(["1.10", "1.9", "2.0", "2.0rc1", "1.9.1"]) == [
        *("1.9", "1.9.1", "1.10", "2.0rc1", "2.0")
    ]
    assert arranged(["may", "1.0", "april"]) == ["may", "1.0", "april"]


def test_a_hotfix_came_from_its_line_and_the_releases_before_it_did_not_come_from_it():
    found = order("1.0", "1.1", "1.2", "1.3", "1.4", "1.2.1")

    assert found.predecessor("1.2.1") == "1.2"
    assert [*found.predecessors("1.4")] == ["1.3", "1.2", "1.1", "1.0"]
    # A release that came later than its successor is one none the less, and so is a first patch.
    assert order("1.0", "1.2", "1.1").predecessor("1.2") == "1.1"
    assert order("1.2.1", "1.3").predecessor("1.3") == "1.2.1"
    assert ReleaseOrder((Named("1.0", "", START), Named("b", "", START))).predecessor("b") == "1.0"


def test_a_branch_has_the_predecessor_that_a_person_set():
    places = (Named("1.0", "", START), Named("1.1", "", START), Named("2.0", "1.0", START))

    assert [*ReleaseOrder(places).predecessors("2.0")] == ["1.0"]


def run(number, release, day, variant="v", launch=None):
    return ReleasedRun(number, 1, launch, variant, 1, "f", release, START + timedelta(days=day))


def test_a_late_run_of_a_lower_release_comes_before_the_higher_ones():
    runs = [run(1, "1.2", 1), run(2, "1.3", 2), run(3, "", 3), run(4, "1.2.1", 9), run(5, "1.2", 8)]

    found = in_release_order(runs, order("1.2", "1.2.1", "1.3"))

    assert [one.run for one in found] == [1, 5, 4, 2, 3]


def test_a_run_meets_what_it_came_from_and_no_attempt_at_the_same_release_first():
    names = order("1.1", "1.2", "1.3")
    others = [run(4, "1.3", 4), run(3, "1.2", 3, "new"), run(2, "1.1", 2), run(1, "", 1)]

    assert [one.run for one in opponents(run(5, "1.3", 5), others, names)] == [3, 2, 1]
    assert [one.run for one in opponents(run(5, "", 5), others, names)] == [4, 2, 1, 3]
    siblings = [run(6, "", 1, "warm", launch=7)]
    assert not [*opponents(run(7, "", 2, "cold", launch=7), siblings, names)]


@pytest.mark.django_db
def test_a_run_makes_its_release_and_people_order_names_that_are_no_versions():
    test = make_test()
    for name in ("1.0", "1.10", "1.9", "1.9", ""):
        make_run(test, release=name)
    api = client_of(make_user("maintainer"))
    shown = api.get("/api/v1/releases/").json()["results"]
    assert [(one["name"], one["predecessor"]) for one in shown] == [
        ("1.10", "1.9"),
        ("1.9", "1.0"),
        ("1.0", ""),
    ]
    newest = f"/api/v1/releases/{shown[0]['id']}/"
    refused = [{"position": 1}, {"name": "1.11"}, {"before": "1.8"}, {"before": "1.10"}]
    assert [api.patch(newest, body).status_code for body in refused] == [400] * 4
    assert api.patch(newest, {"before": "1.0", "notes": "A branch."}).json()["predecessor"] == "1.0"

    spring = api.post("/api/v1/releases/", {"name": "spring"}).json()
    assert spring["position"] == 4
    api.patch(f"/api/v1/releases/{spring['id']}/", {"position": 2})
    names = [one.name for one in Release.objects.in_order().releases]
    assert names == ["1.0", "spring", "1.9", "1.10"]
    Release.objects.get(name="spring").delete()
    with pytest.raises(ValidationError, match="itself came from"):
        Release(name="1.0", before=Release.objects.get(name="1.10")).clean()
