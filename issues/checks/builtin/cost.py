"""Checks of an answer's time and cost. What was not measured has no value, rather than 0."""

from pydantic import Field

from issues.checks.check import Arguments, CannotTell, Finding, family, yes_or_no
from issues.checks.subject import Material

check = family("Time and cost")


class Latency(Arguments):
    ms: int = Field(ge=0, title="Milliseconds")


class Cost(Arguments):
    usd: float = Field(ge=0, allow_inf_nan=False, title="US dollars")


@check("Time at most", Latency)
def latency_at_most(arguments: Latency, material: Material) -> Finding:
    """The answer took at most this many milliseconds, all generated turns together."""
    if material.latency_ms is None:
        raise CannotTell("The time of the answer was not measured.")
    explanation = f"Took {material.latency_ms} ms; the limit is {arguments.ms} ms."
    return yes_or_no(material.latency_ms <= arguments.ms, explanation, explanation)


@check("Cost at most", Cost)
def cost_at_most(arguments: Cost, material: Material) -> Finding:
    """The answer cost at most this many US dollars, all generated turns together."""
    if material.cost_usd is None:
        raise CannotTell("The cost of the answer is unknown: its model has no price.")
    spent = round(float(material.cost_usd), 9)
    explanation = f"Cost ${spent:.6g}; the limit is ${arguments.usd:.6g}."
    return yes_or_no(spent <= round(arguments.usd, 9), explanation, explanation)
