"""Round trip: an export equals its import, whatever it contains."""

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings

from runs.importers.weval.export import export
from runs.importers.weval.importer import import_blueprint
from tests.runs.importers.weval.test_writer import blueprints

TRIED = settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.django_db
@TRIED
@given(blueprints())
def test_a_blueprint_is_exported_as_it_was_imported(blueprint):
    with transaction.atomic():
        suite = import_blueprint(blueprint, {}).suite
        exported = export(suite).blueprint
        again = import_blueprint(blueprint, {})
        transaction.set_rollback(True)

    assert exported == blueprint
    assert not again.is_changed
