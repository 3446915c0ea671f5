import gzip

import pytest
from django.urls import reverse

from tests.api import client_of
from tests.factories import make_issue, make_user

pytestmark = pytest.mark.django_db


def test_pages_are_compressed_and_tags_of_the_api_stay_strong(client):
    client.force_login(make_user("viewer"))
    issue = make_issue(title="Adds wrongly")

    accepted = {"accept-encoding": "gzip"}
    page = client.get(reverse("admin:issues_issue_changelist"), headers=accepted)
    row = client_of("viewer").get(
        f"/api/v1/issues/{issue.pk}/", headers={"accept-encoding": "gzip"}
    )

    assert page.headers["Content-Encoding"] == "gzip"
    assert "Adds wrongly" in gzip.decompress(page.content).decode()
    assert row.headers["ETag"].startswith('"')
