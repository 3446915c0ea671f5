"""From a value on a scale to pass or fail, for one answer or one criterion of it. Pure."""

from typing import NamedTuple

from issues.rubrics.scales import Scale, passes
from issues.rubrics.scoring import WHOLE_TEST, inverted


class PassLine(NamedTuple):
    """Where an answer begins to pass. `is_inverted`: a high value is bad."""

    threshold: float
    rule: str
    is_inverted: bool = False

    def passed(self, value: float | None) -> bool | None:
        """None where there is no value."""
        found = inverted(value) if self.is_inverted else value
        return passes(found, self.threshold, self.rule)


class Frozen(NamedTuple):
    """What a result's revision says of it: the criterion, and the line of the test as a whole."""

    key: str
    is_inverted: bool
    threshold: float
    rule: str


def pass_line_of(frozen: Frozen, used: Scale, asked: Scale) -> PassLine:
    """The line for values on the scale `asked`.

    A test that passes by its template's own line passes by that of a draft in its place; one with
    a line of its own keeps it. A criterion goes by the scale alone.

    Args:
        used: The scale of the version in use, by which the test was frozen.
    """
    if frozen.key != WHOLE_TEST:
        return PassLine(asked.threshold, asked.rule, frozen.is_inverted)
    if (frozen.threshold, frozen.rule) == (used.threshold, used.rule):
        return PassLine(asked.threshold, asked.rule)
    return PassLine(frozen.threshold, frozen.rule)
