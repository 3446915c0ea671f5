"""All checks, by name."""

from issues.checks import (
    cost,
    counts,
    foreign,
    language,
    numbers,
    patterns,
    structured,
    texts,
    tools,
)
from issues.checks.check import Check

CHECKS: dict[str, Check] = {
    check.name: check
    for module in (texts, patterns, counts, structured, tools, numbers, language, cost, foreign)
    for check in module.CHECKS
}
