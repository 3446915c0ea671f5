"""The filters of the trend page."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import LanguageModel
from issues.models import Issue, Tag
from reports.queries.scope import Choice

RELEASE, TIME = "release", "time"


@dataclass(frozen=True)
class TrendQuery:
    """The filters of the page.

    Attributes:
        over: RELEASE, TIME, or "": by release where there are any.
        each_tag: All points have rates by tag, not only the newest.
        tests: One of `exposure.CHOICES`.
    """

    suite: Choice
    over: str
    tag: Tag | None
    issue: Issue | None
    models: Sequence[LanguageModel]
    by_family: bool
    points: int
    each_tag: bool
    tests: str = ""

    @property
    def has_subject(self) -> bool:
        """Return whether the rates are of a part of the tests."""
        return self.tag is not None or self.issue is not None
