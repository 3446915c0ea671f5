from reports.models.capability import Capability, CapabilityWeight, WeightKind, WeightOrigin
from reports.models.schedule import ReportSchedule, Snapshot
from reports.models.summary import Exchange, ExecutiveSummary, Grade

__all__ = [
    "Capability",
    "CapabilityWeight",
    "Exchange",
    "ExecutiveSummary",
    "Grade",
    "ReportSchedule",
    "Snapshot",
    "WeightKind",
    "WeightOrigin",
]
