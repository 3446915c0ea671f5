import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from reports.capabilities.defaults import DEFAULTS, load_defaults
from reports.models import Capability, CapabilityWeight, WeightOrigin
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def defaults():
    load_defaults(Capability, CapabilityWeight)


def test_ledger_begins_with_the_five_of_the_methodology():
    assert [str(row) for row in Capability.objects.all()] == [default.name for default in DEFAULTS]


def test_only_weights_that_the_methodology_gives_are_its_own():
    given = CapabilityWeight.objects.filter(origin=WeightOrigin.DOCUMENT)
    assert {weight.capability.name for weight in given} == {"Helpfulness & Reasoning"}
    assert given.get(name="depth").weight == 0.75


def test_loading_again_keeps_what_people_changed():
    CapabilityWeight.objects.filter(name="depth").delete()
    load_defaults(Capability, CapabilityWeight)
    assert not CapabilityWeight.objects.filter(name="depth").exists()


def sent(capability, **changed):
    """The form of the capability as the page has it, and these fields changed."""
    weights = list(capability.weights.all())
    data = {
        "name": capability.name,
        "description": capability.description,
        "order": capability.order,
        "weights-TOTAL_FORMS": len(weights),
        "weights-INITIAL_FORMS": len(weights),
    }
    for number, weight in enumerate(weights):
        row = {"id": weight.pk, "capability": capability.pk, "kind": weight.kind}
        row |= {"name": weight.name, "weight": weight.weight}
        data |= {f"weights-{number}-{field}": value for field, value in row.items()}
    return data | changed


def test_weight_that_is_changed_becomes_the_workspaces_and_the_others_stay():
    capability = Capability.objects.get(name="Helpfulness & Reasoning")
    first = capability.weights.all()[0]
    client = Client()
    client.force_login(make_user("maintainer"))
    url = reverse("admin:reports_capability_change", args=[capability.pk])

    answer = client.post(url, sent(capability, **{"weights-0-weight": 2}))

    assert answer.status_code == 302
    first.refresh_from_db()
    assert (first.weight, first.origin) == (2, WeightOrigin.OURS)
    assert capability.weights.filter(origin=WeightOrigin.OURS).count() == 1
    assert first.history.count() == 1


def test_viewer_reads_weights_and_changes_none():
    capability = Capability.objects.all()[0]
    client = Client()
    client.force_login(make_user("viewer"))
    url = reverse("admin:reports_capability_change", args=[capability.pk])

    assert "methodology" in client.get(url).content.decode()
    assert client.post(url, sent(capability)).status_code == 403


def test_dimension_that_nobody_grades_is_refused():
    weight = CapabilityWeight(capability=Capability.objects.all()[0], kind="dimension", name="wit")
    with pytest.raises(ValidationError, match="no dimension 'wit'"):
        weight.full_clean()


@pytest.mark.both_engines
@pytest.mark.parametrize(
    "wrong",
    [{"weight": 0}, {"weight": 11}, {"kind": "mood"}, {"kind": "dimension", "name": "depth"}],
)
def test_database_refuses_weights_that_make_no_sense(wrong):
    capability = Capability.objects.get(name="Helpfulness & Reasoning")
    fields = {"kind": "topic", "name": "law", "weight": 1} | wrong
    with pytest.raises(IntegrityError), transaction.atomic():
        CapabilityWeight.objects.create(capability=capability, **fields)
