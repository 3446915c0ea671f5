from issues.admin.drafting.generation import GenerationAdmin
from issues.admin.feedback.admin import FeedbackAdmin
from issues.admin.issue.admin import IssueAdmin
from issues.admin.library.admin import LibraryCriterionAdmin
from issues.admin.tag import ResolutionLabelAdmin, TagAdmin
from issues.admin.template import JudgeTemplateAdmin
from issues.admin.test.admin import TestAdmin
from issues.admin.test.revision import RevisionAdmin

__all__ = [
    "FeedbackAdmin",
    "GenerationAdmin",
    "IssueAdmin",
    "JudgeTemplateAdmin",
    "LibraryCriterionAdmin",
    "ResolutionLabelAdmin",
    "RevisionAdmin",
    "TagAdmin",
    "TestAdmin",
]
