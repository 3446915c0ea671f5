"""What readers get when something fails that is not their fault."""

import sqlite3

import pytest
from django.db import OperationalError
from django.urls import reverse

pytestmark = pytest.mark.django_db


def locked():
    cause = sqlite3.OperationalError("database is locked")
    cause.sqlite_errorcode = sqlite3.SQLITE_BUSY
    raise OperationalError("database is locked") from cause


def broken():
    raise OperationalError("no such column: new")


@pytest.mark.parametrize(("failure", "status"), [(locked, 503), (broken, 500)])
def test_unavailable_database_is_told_from_a_fault(admin_client, monkeypatch, failure, status):
    monkeypatch.setattr("evalhub.work.overview.running_workers", failure)
    admin_client.raise_request_exception = False

    response = admin_client.get(reverse("admin:evalhub_worker_queue"))

    assert response.status_code == status
    assert ("saved nothing" in response.content.decode()) == (status == 503)
    assert response.has_header("Retry-After") == (status == 503)


def test_errors_below_the_api_are_json(admin_client, monkeypatch):
    monkeypatch.setattr("evalhub.api.index.lists", broken)
    admin_client.raise_request_exception = False

    missing, failed = admin_client.get("/api/v1/nothing/"), admin_client.get("/api/v1/")

    assert (missing.status_code, failed.status_code) == (404, 500)
    assert "/api/v1/nothing/" in missing.json()["detail"]
    assert "logged" in failed.json()["detail"]
