"""Built-in roles and their rights, applied by a signal after every migrate; who has a right.

A right is written as `app.codename`; `app.*` and `app.view_*` are patterns.
"""

from fnmatch import fnmatch
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from evalhub.access.models import User

FLOOR_RIGHTS = ("evalhub.view_languagemodel", "evalhub.view_notification", "evalhub.view_image")
READ = (
    *("issues.view_*", "runs.view_*", "reports.view_*", "workbench.view_workbench", *FLOOR_RIGHTS),
    *(f"{app}.view_*" for app in settings.EVALHUB_OPEN_APPS),
)
OPEN_APPS = tuple(f"{app}.*" for app in settings.EVALHUB_OPEN_APPS)
VIEWER = (*READ, "runs.export_results")
ANNOTATOR = (
    *VIEWER,
    "issues.read_sealed_test",
    "issues.try_test",
    "issues.draft_tests",
    "evalhub.add_image",
    "issues.add_feedback",
    "issues.change_feedback",
    "issues.add_issue",
    "issues.change_issue",
    "issues.add_test",
    "issues.change_test",
    "issues.add_criterion",
    "issues.change_criterion",
    "issues.delete_criterion",
    "issues.add_comment",
    "issues.add_testcomment",
    "issues.add_source",
    "issues.change_source",
    "issues.delete_source",
    "issues.add_tag",
    "issues.add_librarycriterion",
    "issues.change_librarycriterion",
    "runs.add_humanevaluation",
    "runs.add_example",
    "runs.delete_example",
    "review.view_*",
    "review.review_results",
    "tuning.view_*",
    "pairwise.add_pairevaluation",
    "trials.add_claimlabel",
    "workbench.*_workbench",
)
ADJUDICATOR = (*ANNOTATOR, "runs.adjudicate", "review.send_back")
MAINTAINER = (
    *ADJUDICATOR,
    "issues.*",
    "runs.add_*",
    "runs.change_*",
    "runs.delete_jury",
    "runs.delete_launch",
    "runs.delete_suite",
    "runs.control_run",
    "review.*",
    "tuning.*",
    *OPEN_APPS,
    "workbench.*",
    "reports.*",
    "evalhub.view_*",
    "evalhub.add_languagemodel",
    "evalhub.change_languagemodel",
    "evalhub.reveal_sealed",
    "evalhub.*_webhook",
)

ROLES: dict[str, tuple[str, ...]] = {
    "viewer": VIEWER,
    "model developer": VIEWER,
    "annotator": ANNOTATOR,
    "adjudicator": ADJUDICATOR,
    "maintainer": MAINTAINER,
    "admin": (
        *("evalhub.*", "issues.*", "runs.*", "review.*", "tuning.*"),
        *(*OPEN_APPS, "workbench.*", "reports.*"),
        *("auth.*", "django_q.*", "axes.*"),
    ),
}

RECORDS = {
    "issues": ("revision", "frozencriterion", "merge", "generation", "draft", "edit"),
    "runs": ("answer", "result", "resultscore", "judgment", "sight"),
    "review": ("reviewitem", "assignment", "skip", "correction"),
    "pairwise": ("pair", "pairjudgment"),
    "position_bias": ("reversedjudgment",),
    "tuning": ("labelledexample", "attemptjudgment", "publication"),
    "workbench": ("benchrow", "rowjudgment"),
    "trials": ("generationstep", "claim", "claimjudgment"),
    "evalhub": ("exposure", "notification", "delivery", "savedfilter", "call"),
    "reports": ("exchange", "grade"),
    "*": ("historical*",),
}
"""Tables that only the system writes, by app."""

NEVER = (
    *(
        f"{app}.{verb}_{table}"
        for app, tables in RECORDS.items()
        for table in tables
        for verb in ("add", "change", "delete")
    ),
    *("issues.change_comment", "issues.delete_comment"),
    *("issues.change_testcomment", "issues.delete_testcomment"),
    *("runs.change_humanevaluation", "runs.delete_humanevaluation"),
    *("tuning.delete_tuning", "tuning.delete_attempt"),
    *("pairwise.change_pairevaluation", "pairwise.delete_pairevaluation"),
    *("pairwise.change_pairwisejudgerun", "pairwise.delete_pairwisejudgerun"),
    *("trials.change_claimlabel", "trials.delete_claimlabel"),
    *("position_bias.change_reversedjudgerun", "position_bias.delete_reversedjudgerun"),
    *("reports.change_releasedecision", "reports.delete_releasedecision"),
    *("reports.add_executivesummary", "reports.change_executivesummary"),
    "evalhub.delete_languagemodel",
    *("evalhub.change_image", "evalhub.delete_image"),
)
"""Rights of no role: frozen and recorded rows stay unchanged."""


def grants(right: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a role with these patterns has the right (`app.codename`)."""
    if any(fnmatch(right, pattern) for pattern in NEVER):
        return False
    return any(fnmatch(right, pattern) for pattern in patterns)


def apply_roles(sender: Any, **kwargs: Any) -> None:
    """Give each role's group exactly its rights. Idempotent."""
    from django.contrib.auth.models import Group, Permission

    rights = list(
        Permission.objects.filter(~Q(content_type__app_label="")).select_related("content_type")
    )
    for role, patterns in ROLES.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set(
            right
            for right in rights
            if grants(f"{right.content_type.app_label}.{right.codename}", patterns)
        )


BACKEND = "django.contrib.auth.backends.ModelBackend"


def users_with(right: str) -> QuerySet[User]:
    """Return the active users with a right (`app.codename`), by name."""
    found: QuerySet[User] = User.objects.with_perm(right, backend=BACKEND)
    return found.order_by("username")
