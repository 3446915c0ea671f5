"""The list of exposures: who sees it, and what is taken along."""

import csv

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from evalhub.models import Exposure
from tests.factories import make_user

pytestmark = pytest.mark.django_db

REASON = "=HYPERLINK the-sealed-words"
LIST, EXPORT = (
    reverse("admin:evalhub_exposure_changelist"),
    reverse("admin:evalhub_exposure_export"),
)


@pytest.fixture
def exposures():
    user = make_user("viewer", username="vera")
    Exposure.objects.create(test=3, kind="revealed", user=user, day="2026-01-02", reason=REASON)
    Exposure.objects.create(test=4, kind="sent", endpoint="api.example.org:443", day="2026-01-03")


def exported(client, query=""):
    response = client.get(EXPORT + query)
    assert response.status_code == 200
    text = b"".join(response).decode().removeprefix("\ufeff")
    return list(csv.DictReader(text.splitlines()))


def test_maintainers_see_and_take_along_what_the_list_shows(client, exposures):
    client.force_login(make_user("maintainer"))
    page = client.get(LIST).content.decode()
    assert "api.example.org:443" in page
    assert "vera" in page
    assert [row["test"] for row in exported(client)] == ["4", "3"]
    assert [row["test"] for row in exported(client, "?test=3")] == ["3"]
    assert [row["test"] for row in exported(client, "?kind__exact=sent")] == ["4"]


def test_a_reason_is_no_formula(client, exposures):
    client.force_login(make_user("maintainer"))
    assert exported(client, "?test=3")[0]["reason"] == f"'{REASON}"


def test_reasons_are_for_those_who_may_read_sealed_tests(client, exposures):
    user = make_user("viewer")
    user.user_permissions.add(Permission.objects.get(codename="view_exposure"))
    client.force_login(user)
    assert "reason" not in exported(client)[0]
    row = Exposure.objects.get(test=3)
    page = client.get(reverse("admin:evalhub_exposure_change", args=[row.pk]))
    assert "the-sealed-words" not in page.content.decode()
