from reports.models.capability import Capability, CapabilityWeight, WeightKind, WeightOrigin
from reports.models.decided_cluster import ClusterAct, DecidedCluster
from reports.models.dismissed_proposal import DismissedProposal
from reports.models.release_decision import ReleaseDecision
from reports.models.schedule import ReportSchedule, Snapshot
from reports.models.summary import Exchange, ExecutiveSummary, Grade

__all__ = [
    "Capability",
    "CapabilityWeight",
    "ClusterAct",
    "DecidedCluster",
    "DismissedProposal",
    "Exchange",
    "ExecutiveSummary",
    "Grade",
    "ReleaseDecision",
    "ReportSchedule",
    "Snapshot",
    "WeightKind",
    "WeightOrigin",
]
