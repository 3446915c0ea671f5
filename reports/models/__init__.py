from reports.models.capability import Capability, CapabilityWeight, WeightKind, WeightOrigin
from reports.models.recurring import Edition, RecurringReport
from reports.models.summary import Exchange, ExecutiveSummary, Grade

__all__ = [
    "Capability",
    "CapabilityWeight",
    "Edition",
    "Exchange",
    "ExecutiveSummary",
    "Grade",
    "RecurringReport",
    "WeightKind",
    "WeightOrigin",
]
