"""All report pages, in the order of the menu."""

from reports.activity.page import ACTIVITY
from reports.annotators.page import ANNOTATORS
from reports.capabilities.page import CAPABILITIES
from reports.compare.page import COMPARE
from reports.documents.reading import Page
from reports.drift.page import DRIFT
from reports.heatmap.page import HEATMAP
from reports.issue_timeline.page import ISSUE_TIMELINE
from reports.judge_reliability.page import JUDGE_RELIABILITY
from reports.leaderboard.page import LEADERBOARD
from reports.overrides.page import OVERRIDES
from reports.releases.page import RELEASES
from reports.run_details.page import RUN_DETAILS
from reports.trend.page import TREND
from reports.underperforming.page import UNDERPERFORMING

PAGES: tuple[Page, ...] = (
    RELEASES,
    ACTIVITY,
    TREND,
    HEATMAP,
    RUN_DETAILS,
    COMPARE,
    UNDERPERFORMING,
    ISSUE_TIMELINE,
    DRIFT,
    LEADERBOARD,
    CAPABILITIES,
    JUDGE_RELIABILITY,
    OVERRIDES,
    ANNOTATORS,
)


def page_of(key: str) -> Page:
    """Return the page of this key.

    Raises:
        LookupError: There is none.
    """
    found = [page for page in PAGES if page.key == key]
    if not found:
        raise LookupError(f"There is no report page {key!r}.")
    return found[0]
