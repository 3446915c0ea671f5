"""Registry of all checks, by module and in the order of their definitions."""

from issues.checks.builtin import (
    cost,
    counts,
    json_and_code,
    language,
    numbers,
    patterns,
    text,
    tools,
    unsupported,
)
from issues.checks.check import Check

CHECKS: dict[str, Check] = {
    check.name: check
    for module in (
        text,
        patterns,
        counts,
        json_and_code,
        tools,
        numbers,
        language,
        cost,
        unsupported,
    )
    for check in vars(module).values()
    if isinstance(check, Check)
}
