from issues.models.comment import Comment, CommentFields, TestComment
from issues.models.criterion import Criterion, CriterionFields, Polarity
from issues.models.draft import Decision, Draft, Generation
from issues.models.edit import Edit, EditAction, EditState
from issues.models.example import TemplateExample
from issues.models.feedback import Feedback, FeedbackState, Rating
from issues.models.image_use import ImageUse
from issues.models.issue import (
    Issue,
    IssueState,
    ResolutionLabel,
    Severity,
    Source,
    SourceKind,
)
from issues.models.library import CriterionKind, JudgedText, LibraryCriterion, LibraryState, Shelf
from issues.models.merge import Merge
from issues.models.revision import FrozenCriterion, Revision
from issues.models.tag import Tag, TagKind
from issues.models.template import (
    ExampleChoice,
    JudgeTemplate,
    ReplyForm,
    TemplateState,
    TemplateVariant,
)
from issues.models.test import Author, Origin, Test, TestState

__all__ = [
    "Author",
    "Comment",
    "CommentFields",
    "Criterion",
    "CriterionFields",
    "CriterionKind",
    "Decision",
    "Draft",
    "Edit",
    "EditAction",
    "EditState",
    "ExampleChoice",
    "Feedback",
    "FeedbackState",
    "FrozenCriterion",
    "Generation",
    "ImageUse",
    "Issue",
    "IssueState",
    "JudgeTemplate",
    "JudgedText",
    "LibraryCriterion",
    "LibraryState",
    "Merge",
    "Origin",
    "Polarity",
    "Rating",
    "ReplyForm",
    "ResolutionLabel",
    "Revision",
    "Severity",
    "Shelf",
    "Source",
    "SourceKind",
    "Tag",
    "TagKind",
    "TemplateExample",
    "TemplateState",
    "TemplateVariant",
    "Test",
    "TestComment",
    "TestState",
]
