"""The rules of a suite's gate in its form."""

import pytest

from runs.models import Suite
from tests.factories import make_user

pytestmark = pytest.mark.django_db
ADD = "/admin/runs/suite/add/"
RULES = {
    "gate_conclusion": "on",
    "gate_against_reference": "on",
    "gate_level": "0.05",
    "gate_blind_spot_points": "20",
    "gate_max_worsening_points": "",
    "gate_max_net_loss_points": "",
    "gate_failing_severity": "",
    "gate_min_pass_rate": "",
    "gate_max_p90_latency_ms": "",
    "gate_max_mean_cost_usd": "",
}


@pytest.fixture
def maintainer(client):
    client.force_login(make_user("maintainer"))
    return client


def save(client, **rules):
    sent = {"name": "Nightly", "defaults": "{}", **RULES, **rules}
    return client.post(ADD, {name: value for name, value in sent.items() if value is not None})


def test_the_form_starts_with_the_default_rule(maintainer):
    page = maintainer.get(ADD).content.decode()

    assert "Worse than the baseline" in page
    save(maintainer)
    assert Suite.objects.get().gate == {}


def test_rules_are_saved_in_their_units(maintainer):
    save(
        maintainer,
        gate_max_net_loss_points="2.5",
        gate_failing_severity="high",
        gate_min_pass_rate="82.5",
        gate_max_p90_latency_ms="4000",
        gate_max_mean_cost_usd="0.02",
    )

    assert Suite.objects.get().gate == {
        "max_net_loss_points": 2.5,
        "failing_severity": "high",
        "min_pass_rate": 0.825,
        "max_p90_latency_ms": 4000,
        "max_mean_cost_usd": 0.02,
    }


def test_saved_rules_are_what_the_form_shows_and_saves_again(maintainer):
    gate = {"conclusion": False, "max_net_loss_points": 0.0, "min_pass_rate": 0.57}
    suite = Suite.objects.create(name="Nightly", gate=gate)
    form = maintainer.get(f"/admin/runs/suite/{suite.pk}/change/").context["adminform"].form
    shown = {name: form[name].value() for name in RULES}
    sent = {name: value for name, value in shown.items() if value not in (None, "")}
    if not shown["gate_conclusion"]:
        del sent["gate_conclusion"]

    assert shown["gate_min_pass_rate"] == 57
    maintainer.post(
        f"/admin/runs/suite/{suite.pk}/change/", {"name": "Nightly", "defaults": "{}", **sent}
    )
    suite.refresh_from_db()
    assert suite.gate == gate


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"gate_conclusion": None}, "Turn on at least one rule"),
        ({"gate_min_pass_rate": "120"}, "less than or equal to 100"),
        ({"gate_level": "0"}, "greater than or equal to 0.0001"),
        ({"gate_failing_severity": "grave"}, "grave"),
    ],
)
def test_wrong_rules_are_refused(maintainer, rules, words):
    assert words in save(maintainer, **rules).content.decode()
    assert not Suite.objects.exists()


def test_those_who_may_not_edit_read_the_rules_in_words(client):
    suite = Suite.objects.create(name="Nightly", gate={"min_pass_rate": 0.9})
    client.force_login(make_user("viewer"))
    page = client.get(f"/admin/runs/suite/{suite.pk}/change/").content.decode()

    assert "less than 90% of its results pass" in page
