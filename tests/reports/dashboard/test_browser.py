"""The first page, an issue's life and underperforming issues in a real browser."""

import pytest
from django.core.cache import caches
from django.urls import reverse

from issues.models import IssueState
from reports.dashboard.cards import cards_of
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_user
from tests.reports.issue_proposals.test_proposals import ready_issue, released
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def enter(page, log_in):
    caches["computed"].clear()
    log_in(make_user("superuser", username="boss"))
    return page


def test_cards_are_chosen_and_ordered_by_keyboard(enter, django_user_model):
    make_workspace()
    enter.goto(reverse("admin:index"))
    enter.wait_for_function("document.getElementById('report').dataset.pending === '0'")
    enter.locator("#card-releases #chart-models .main-svg").first.wait_for()
    assert enter.locator("#card-releases li").count() > 1
    assert enter.get_by_text("being computed").count() == 0
    for key in ("activity", "overrides", "judges"):
        enter.locator(f"#card-{key}").scroll_into_view_if_needed()
        enter.locator(f"#card-{key} [role=status]").wait_for(state="detached")
    assert enter.locator("#card-activity tbody tr").count() > 0
    shoot(enter, "home")
    for width in HEIGHTS:
        show(enter, width=width)
        assert overflow_px(enter) == 0
    show(enter, width=max(HEIGHTS))

    enter.get_by_role("button", name="Choose cards…").focus()
    enter.keyboard.press("Enter")
    enter.locator("#choose-overrides").focus()
    enter.keyboard.press("Space")
    enter.get_by_role("button", name="To do: move up").focus()
    enter.keyboard.press("Enter")
    enter.get_by_role("button", name="Save").press("Enter")
    enter.get_by_text("Cards saved.").wait_for()
    kept = [kind.key for kind in cards_of(django_user_model.objects.get(username="boss"))]

    assert kept[:3] == ["releases", "to_do", "tour"]
    assert "overrides" not in kept
    shown = enter.locator(".eh-home > div").evaluate_all("all => all.map(one => one.id)")
    assert shown == [f"card-{key}" for key in kept]


def test_what_an_issues_runs_propose_is_done_with_one_click(enter):
    issue, tests = ready_issue()
    released(tests, [0, 1])
    enter.goto(f"{reverse('reports:issue_timeline')}?issue={issue.pk}")
    enter.locator("#chart-runs .main-svg").first.wait_for()
    shoot(enter, "issue-proposed")
    enter.get_by_role("button", name="Resolve issue").click()
    enter.get_by_text("resolved.").first.wait_for()
    issue.refresh_from_db()

    assert issue.state == IssueState.RESOLVED
