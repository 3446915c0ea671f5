"""Probes of load balancers."""

import pytest
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_needs_no_login_no_host_name_and_no_https(client, settings, path):
    settings.SECURE_SSL_REDIRECT = True
    response = client.get(path, headers={"host": "10.1.2.3:8000"})
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_readiness_needs_the_database(client, monkeypatch):
    def fails(recorder):
        raise OperationalError("gone")

    monkeypatch.setattr(MigrationRecorder, "applied_migrations", fails)
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200


def test_readiness_needs_this_codes_tables(client):
    MigrationRecorder.Migration.objects.create(app="runs", name="9999_later")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "runs.9999_later" in response.json()["status"]
