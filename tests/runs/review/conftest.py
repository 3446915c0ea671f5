"""Two reviewers."""

import pytest

from tests.factories import make_user


@pytest.fixture
def ann(db):
    return make_user("annotator", username="ann")


@pytest.fixture
def bob(db):
    return make_user("annotator", username="bob")
