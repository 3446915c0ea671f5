"""Pass thresholds that turn a value on a scale into pass or fail. Pure."""

from typing import NamedTuple

from issues.rubrics.scales import Scale, passes
from issues.rubrics.scoring import WHOLE_TEST, inverted


class PassLine(NamedTuple):
    """A pass threshold and its rule. `is_inverted`: a high value is bad."""

    threshold: float
    rule: str
    is_inverted: bool = False

    def passed(self, value: float | None) -> bool | None:
        """Return whether the value passes; None where there is no value."""
        found = inverted(value) if self.is_inverted else value
        return passes(found, self.threshold, self.rule)


class Frozen(NamedTuple):
    """A criterion and the whole test's pass threshold, as the result's revision froze them."""

    key: str
    is_inverted: bool
    threshold: float
    rule: str


def pass_line_of(frozen: Frozen, used: Scale, draft: Scale) -> PassLine:
    """Return the threshold for values on the scale `draft`.

    A test that used its template's threshold uses the draft's; a test with its own keeps it.
    A criterion always uses the scale's.

    Args:
        used: Scale of the version in use, under which the test was frozen.
    """
    if frozen.key != WHOLE_TEST:
        return PassLine(draft.threshold, draft.rule, frozen.is_inverted)
    if (frozen.threshold, frozen.rule) == (used.threshold, used.rule):
        return PassLine(draft.threshold, draft.rule)
    return PassLine(frozen.threshold, frozen.rule)
