"""Badges of states and severities, in lists and on pages."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from issues.models import FeedbackState, IssueState, Severity, TemplateState

STATE_LABELS: dict[str, str] = {
    IssueState.DRAFT: "primary",
    IssueState.IN_REVIEW: "warning",
    IssueState.APPROVED: "success",
    IssueState.RESOLVED: "info",
    IssueState.DEPRECATED: "",
}
SEVERITY_LABELS: dict[str, str] = {
    Severity.LOW: "",
    Severity.MEDIUM: "info",
    Severity.HIGH: "warning",
    Severity.CRITICAL: "danger",
}
FEEDBACK_LABELS: dict[str, str] = {
    FeedbackState.NEW: "warning",
    FeedbackState.ACCEPTED: "success",
    FeedbackState.DISMISSED: "",
    FeedbackState.DUPLICATE: "",
}
TEMPLATE_LABELS: dict[str, str] = {
    TemplateState.DRAFT: "primary",
    TemplateState.PUBLISHED: "success",
    TemplateState.RETIRED: "",
}
BADGES = {"success": "passed", "warning": "unscored", "danger": "failed", "info": "error"}


def badge(state: str, label: str) -> SafeString:
    """Return the badge of a state."""
    return format_html('<span class="eh-badge eh-badge--{}">{}</span>', badge_of(state), label)


def badge_of(state: str) -> str:
    """Return the suffix of the badge's CSS class for a state of an issue, test or template."""
    label = {**STATE_LABELS, **TEMPLATE_LABELS, **FEEDBACK_LABELS}.get(state, "")
    return BADGES.get(label, "pending")
