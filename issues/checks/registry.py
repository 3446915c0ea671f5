"""Registry of all checks, by module and in the order of their definitions."""

from issues.checks import (
    cost,
    counts,
    language,
    numbers,
    patterns,
    structured,
    text,
    tools,
    unsupported,
)
from issues.checks.check import Check

CHECKS: dict[str, Check] = {
    check.name: check
    for module in (text, patterns, counts, structured, tools, numbers, language, cost, unsupported)
    for check in vars(module).values()
    if isinstance(check, Check)
}
