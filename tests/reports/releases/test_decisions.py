"""What people decide about a release, what users say of it, and slides that no step shows."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from issues.models import Feedback, Rating
from reports.documents.links import page_url
from reports.models import ReleaseDecision
from runs.models import Release, Run, Suite
from tests.api import client_of
from tests.factories import make_issue, make_test, make_user
from tests.reports.releases.test_page import document, released
from tests.shared_data import shared_data

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]
SHIP = {"act": "shipped", "reason": "The dates are mended in 1.2."}


@shared_data
def tests():
    """Twelve tests of one issue."""
    issue = make_issue(title="Dates")
    return [make_test(f"Q {n}?", issue=issue) for n in range(12)]


def test_a_loss_is_shipped_with_a_reason_and_the_record_stays(client, tests):
    released(tests, "1.0", [1] * 12)
    released(tests, "1.1", [0] * 12)
    release, boss = Release.objects.get(name="1.1"), make_user("maintainer", username="boss")
    url = reverse("reports:decide_release", args=[release.pk, "shipped"])
    client.force_login(make_user("viewer"))
    assert client.get(url).status_code == 403
    client.force_login(boss)

    assert "lost 12, won 0" in client.get(url).content.decode()
    assert "Say why 1.1 ships" in client.post(url, {"reason": " "}).content.decode()
    assert not ReleaseDecision.objects.exists()
    assert client.post(url, SHIP).url == page_url("releases", release="1.1")

    one = ReleaseDecision.objects.get()
    assert (one.act, one.against, one.decided_by, one.reason) == (
        *("shipped", "1.0", boss),
        SHIP["reason"],
    )
    (concluded,) = one.concluded
    assert (concluded["model"], concluded["conclusion"], concluded["basis"]) == (
        *("Tiny", "worse"),
        "judges",
    )
    for change in (one.save, one.delete, ReleaseDecision.objects.all().delete):
        with pytest.raises(ValidationError, match="stays as it was made"):
            change()
    with pytest.raises(ValidationError, match="stays as it was made"):
        ReleaseDecision.objects.update(act="held")
    page = reverse("admin:reports_releasedecision_change", args=[one.pk])
    client.force_login(make_user("superuser"))
    assert client.post(page, {"act": "held"}).status_code == 403


def test_programs_decide_and_users_reports_stand_beside(tests):
    released(tests, "1.0", [1] * 12)
    released(tests, "1.1", [0] * 12)
    api, sent = client_of("maintainer"), {"release": "1.1", **SHIP}

    assert api.post("/api/v1/release-decisions/", sent | {"reason": ""}).status_code == 400
    made = api.post("/api/v1/release-decisions/", sent).json()
    assert (made["release"], made["concluded"][0]["conclusion"]) == ("1.1", "worse")
    row = f"/api/v1/release-decisions/{made['id']}/"
    assert [api.patch(row, {}).status_code, api.delete(row).status_code] == [403, 403]
    Feedback.objects.create(model="Tiny", rating=Rating.DOWN, issue=tests[0].issue)
    Feedback.objects.create(model="another", release="1.1")
    Feedback.objects.create(model="another", rating=Rating.DOWN)

    found = document(release="1.1")

    assert "Since then users sent 2 reports on it, 1 thumbs down, in 1 issue." in found.sentences
    assert [row["decision"] for row in found.table("decisions").as_rows()] == ["Shipped"]
    assert [link.text for link in found.actions] == ["Ship…", "Hold…"]


def test_a_changed_prompt_is_compared_and_named(tests):
    released(tests, "1.0", [0] * 12)
    run = released(tests, "1.1", [1] * 12)
    Run.objects.filter(pk=run.pk).update(variant_key="other", system_prompt="Be exact.")

    (line,) = [one for one in document().sentences if one.startswith("Tiny")]

    assert line.startswith("Tiny, with a new system prompt: judges rate it better")


def test_small_losses_show_against_the_first_release_or_the_baseline_release(tests):
    for number in range(6):
        released(tests, f"1.{number}", [0] * 2 * number + [1] * (12 - 2 * number))

    found = document()

    (row,) = found.table("references").as_rows()
    assert (row["reference"], row["look"], row["conclusion"]) == ("1.0", 5, "judges rate it worse")
    assert any("since 1.0 (look 5 of 20 at 1.0)" in one for one in found.sentences)
    Suite.objects.update(baseline_release=Release.objects.get(name="1.3"))
    (row,) = document().table("references").as_rows()
    assert (row["reference"], row["look"]) == ("1.3", 2)
