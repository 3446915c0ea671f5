"""Colours and badges of states and severities, in lists and on pages."""

from django.utils.safestring import SafeString

from evalhub.display import html
from issues.models import FeedbackState, IssueState, Severity, TemplateState

COLOURS: dict[str, str] = {
    IssueState.DRAFT: "primary",
    IssueState.IN_REVIEW: "warning",
    IssueState.APPROVED: "success",
    IssueState.RESOLVED: "info",
    IssueState.DEPRECATED: "",
    TemplateState.PUBLISHED: "success",
    TemplateState.RETIRED: "",
    FeedbackState.NEW: "warning",
    FeedbackState.ACCEPTED: "success",
    FeedbackState.DISMISSED: "",
    FeedbackState.DUPLICATE: "",
    Severity.LOW: "",
    Severity.MEDIUM: "info",
    Severity.HIGH: "warning",
    Severity.CRITICAL: "danger",
}
"""Labels of lists by the theme's colours; drafts and states in review are the same everywhere."""
BADGES = {"success": "passed", "warning": "unscored", "info": "error"}


def badge(state: str, label: str) -> SafeString:
    return html.badge(badge_of(state), label)


def badge_of(state: str) -> str:
    """Return the suffix of the badge's CSS class for a state."""
    return BADGES.get(COLOURS.get(state, ""), "pending")
