from issues.models.feedback import Feedback, FeedbackState, Rating
from issues.models.issue import (
    Comment,
    Issue,
    IssueState,
    ResolutionLabel,
    Severity,
    Source,
    SourceKind,
)
from issues.models.revision import FrozenCriterion, Revision
from issues.models.tag import Tag, TagKind
from issues.models.template import JudgeTemplate, TemplateState
from issues.models.test import Author, Origin, Test, TestState

__all__ = [
    "Author",
    "Comment",
    "Feedback",
    "FeedbackState",
    "FrozenCriterion",
    "Issue",
    "IssueState",
    "JudgeTemplate",
    "Origin",
    "Rating",
    "ResolutionLabel",
    "Revision",
    "Severity",
    "Source",
    "SourceKind",
    "Tag",
    "TagKind",
    "TemplateState",
    "Test",
    "TestState",
]
