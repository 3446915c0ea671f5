"""Texts are marked as exposed after a question, which cannot be undone."""

import pytest

from runs.laboratory.trials.models import Artifact
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_texts_are_marked_as_exposed_only_after_a_yes(enter):
    enter.goto(make_benchmark().get_absolute_url())
    exposed = Artifact.objects.exclude(exposed_at=None)

    enter.once("dialog", lambda dialog: dialog.dismiss())
    enter.get_by_role("button", name="Mark as exposed").click()
    assert not exposed.exists()
    enter.once("dialog", lambda dialog: dialog.accept())
    with enter.expect_navigation():
        enter.get_by_role("button", name="Mark as exposed").click()
    assert exposed.count() == Artifact.objects.count()
