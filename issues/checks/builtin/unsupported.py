"""Checks that run third-party code or use the network: stored and shown, never run or scored."""

from typing import Any

from pydantic import Field

from issues.checks.check import Arguments, CheckError, Finding, family
from issues.checks.subject import Material

REASON = "This check cannot run here: it runs third-party code or uses the network."

check = family("Cannot run here", reason=REASON)


class Script(Arguments):
    source: str = Field(title="Source", description="JavaScript.")


class Request(Arguments):
    source: Any = Field(title="Source", description="Its arguments, as JSON.")


@check("JavaScript", Script)
def js(arguments: Script, material: Material) -> Finding:
    """JavaScript check. Stored as imported and never run."""
    raise CheckError(REASON)


@check("Web service", Request)
def call(arguments: Request, material: Material) -> Finding:
    """Web service check. Stored as imported and never called."""
    raise CheckError(REASON)


@check("Fact check", Request)
def factcheck(arguments: Request, material: Material) -> Finding:
    """Web search check. Stored as imported and never run."""
    raise CheckError(REASON)
