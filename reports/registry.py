"""All report pages, by topic."""

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
from reports.trend.page import TREND
from reports.underperforming.page import UNDERPERFORMING

WHICH_MODEL = "Which model"
TOPICS: tuple[tuple[str, tuple[Page, ...]], ...] = (
    ("What changed", (RELEASES, COMPARE, TREND, ACTIVITY)),
    (WHICH_MODEL, (LEADERBOARD, CAPABILITIES)),
    ("What fails", (UNDERPERFORMING, HEATMAP, ISSUE_TIMELINE)),
    ("What to trust", (JUDGE_RELIABILITY, OVERRIDES, ANNOTATORS, DRIFT)),
)
PAGES = tuple(page for _, pages in TOPICS for page in pages)


def page_of(key: str) -> Page:
    """Return the page of this key.

    Raises:
        LookupError: There is none.
    """
    found = [page for page in PAGES if page.key == key]
    if not found:
        raise LookupError(f"There is no report page {key!r}.")
    return found[0]
