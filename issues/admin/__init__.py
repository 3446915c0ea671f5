from issues.admin.feedback import FeedbackAdmin
from issues.admin.issue import IssueAdmin
from issues.admin.revision import RevisionAdmin
from issues.admin.tag import ResolutionLabelAdmin, TagAdmin
from issues.admin.template import JudgeTemplateAdmin
from issues.admin.test import TestAdmin

__all__ = [
    "FeedbackAdmin",
    "IssueAdmin",
    "JudgeTemplateAdmin",
    "ResolutionLabelAdmin",
    "RevisionAdmin",
    "TagAdmin",
    "TestAdmin",
]
