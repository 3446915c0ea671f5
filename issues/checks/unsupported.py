"""Checks that run foreign code or reach the network: kept and shown, never run and never scored."""

from typing import Any

from pydantic import Field

from issues.checks.check import Arguments, Check, CheckError, Finding, family
from issues.checks.subject import Material

REASON = "This check cannot run here: it runs foreign code or reaches the network."

check = family("Cannot run here", reason=REASON)


class Script(Arguments):
    source: str = Field(title="Source", description="JavaScript.")


class Request(Arguments):
    source: Any = Field(title="Source", description="What it was given, as JSON.")


@check("JavaScript", Script)
def js(arguments: Script, material: Material) -> Finding:
    """JavaScript that decides. It is kept as it came and never run."""
    raise CheckError(REASON)


@check("Call of a service", Request)
def call(arguments: Request, material: Material) -> Finding:
    """A service on the network that decides. It is kept as it came and never called."""
    raise CheckError(REASON)


@check("Fact check", Request)
def factcheck(arguments: Request, material: Material) -> Finding:
    """A search on the network that decides. It is kept as it came and never made."""
    raise CheckError(REASON)


CHECKS: tuple[Check, ...] = (js, call, factcheck)
