"""The suite that reports open on."""

import pytest

from reports.queries.scope import newest_suite
from runs.models import Suite
from tests.factories import make_run
from tests.reports.judged_runs import finish

pytestmark = pytest.mark.django_db


def done(suite=None, release=""):
    finish(make_run(suite=suite, release=release))


def test_single_runs_do_not_displace_a_suite_with_a_history():
    history, trial = Suite.objects.create(name="history"), Suite.objects.create(name="trial")
    done(history)
    done(history)
    done(trial)
    done()

    assert newest_suite() == history


def test_a_hotfix_that_was_made_later_is_not_the_newest():
    current, old = Suite.objects.create(name="current"), Suite.objects.create(name="old")
    for suite, release in ((old, "1.2"), (current, "1.4"), (old, "1.2.1")):
        done(suite, release)
        done(suite, release)

    assert newest_suite() == current


def test_without_a_history_the_newest_run_counts():
    trial = Suite.objects.create(name="trial")
    assert newest_suite() is None
    done(trial)
    assert newest_suite() == trial
    done()
    assert newest_suite() is None
