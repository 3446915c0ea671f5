"""All report pages, in the order of the menu."""

from reports.pages.annotators import ANNOTATORS
from reports.pages.calibration import CALIBRATION
from reports.pages.capabilities import CAPABILITIES
from reports.pages.compare import COMPARE
from reports.pages.drift import DRIFT
from reports.pages.heatmap import HEATMAP
from reports.pages.individual import INDIVIDUAL
from reports.pages.issue import ISSUE
from reports.pages.judges import JUDGES
from reports.pages.leaderboard import LEADERBOARD
from reports.pages.shell import Page
from reports.pages.trend import TREND
from reports.pages.trust import TRUST
from reports.pages.underperforming import UNDERPERFORMING

PAGES: tuple[Page, ...] = (
    TREND,
    HEATMAP,
    INDIVIDUAL,
    COMPARE,
    UNDERPERFORMING,
    ISSUE,
    DRIFT,
    LEADERBOARD,
    CAPABILITIES,
    JUDGES,
    CALIBRATION,
    TRUST,
    ANNOTATORS,
)


def page_of(key: str) -> Page:
    """The page of this key.

    Raises:
        LookupError: There is none.
    """
    found = [page for page in PAGES if page.key == key]
    if not found:
        raise LookupError(f"There is no report page {key!r}.")
    return found[0]
