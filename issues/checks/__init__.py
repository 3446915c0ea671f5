"""Checks: criteria decided without a model. Pure."""

from issues.checks.check import Check, Outcome
from issues.checks.registry import CHECKS
from issues.checks.runner import Problem, located_problems_of, problems_of, run
from issues.checks.subject import Material, text_of

__all__ = [
    "CHECKS",
    "Check",
    "Material",
    "Outcome",
    "Problem",
    "located_problems_of",
    "problems_of",
    "run",
    "text_of",
]
