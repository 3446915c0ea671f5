"""Buttons that open the form for drafts, filled from the present page, and an issue's drafts."""

from urllib.parse import urlencode

from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from issues.models import Generation, Issue

DRAFT_TESTS = "issues.draft_tests"


def generate_url(**about: Model | str) -> str:
    """Return the form's address; see `issues.admin.drafting.prefill` for what it may be about."""
    names = {name: row.pk if isinstance(row, Model) else row for name, row in about.items()}
    return f"{reverse('admin:issues_generation_add')}?{urlencode(names)}"


def generate_button(request: HttpRequest, **about: Model | str) -> list[Button]:
    """Return the button, or nothing for users who may not have drafts written."""
    if not request.user.has_perm(DRAFT_TESTS):
        return []
    return [Button("Generate tests …", generate_url(**about), is_link=True)]


def drafts_button(request: HttpRequest, issue: Issue) -> list[Button]:
    """Return the button that opens the batches of an issue, or nothing without any."""
    batches = Generation.objects.readable_by(request.user).filter(issue=issue).count()
    if not batches or not request.user.has_perm("issues.view_generation"):
        return []
    url = f"{reverse('admin:issues_generation_changelist')}?issue__id__exact={issue.pk}"
    return [Button(f"Drafts ({batches})", url, is_link=True)]
