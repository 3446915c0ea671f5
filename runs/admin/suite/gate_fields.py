"""The gate of a suite as fields of its form: one input for each rule."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldBooleanSwitchWidget,
)

from issues.models.issue import Severity
from runs.suites.gate_policy import GatePolicy, PolicyRefused, read_policy

PREFIX = "gate_"
PERCENT = Decimal(100)


def described(rule: str, unit: str = "") -> dict[str, Any]:
    """Return the label, with a unit if the form has another one, and the help of a rule."""
    option = GatePolicy.model_fields[rule]
    label = f"{option.title} ({unit})" if unit else option.title
    return {"label": label, "help_text": option.description, "required": False}


def amount(rule: str, unit: str = "", **limits: Any) -> forms.DecimalField:
    """Return an input for a limit; empty: the rule is off."""
    widget = UnfoldAdminDecimalFieldWidget(attrs={"placeholder": "Off"})
    return forms.DecimalField(widget=widget, **described(rule, unit), **limits)


class GateFields(forms.Form):
    """The rules of the gate, beside the other fields of a suite."""

    gate_conclusion = forms.BooleanField(
        widget=UnfoldBooleanSwitchWidget, **described("conclusion")
    )
    gate_level = amount("level", min_value=Decimal("0.0001"), max_value=Decimal("0.5"))
    gate_against_reference = forms.BooleanField(
        widget=UnfoldBooleanSwitchWidget, **described("against_reference")
    )
    gate_blind_spot_points = amount("blind_spot_points", min_value=0, max_value=100)
    gate_max_worsening_points = amount("max_worsening_points", min_value=0, max_value=100)
    gate_max_net_loss_points = amount("max_net_loss_points", min_value=0, max_value=100)
    gate_failing_severity = forms.ChoiceField(
        choices=[
            ("", "Off"),
            *(
                (value, label if value == Severity.CRITICAL else f"{label} or worse")
                for value, label in Severity.choices
            ),
        ],
        widget=UnfoldAdminSelectWidget,
        **described("failing_severity"),
    )
    gate_min_pass_rate = amount("min_pass_rate", "%", min_value=0, max_value=100)
    gate_max_p90_latency_ms = forms.IntegerField(
        min_value=1,
        max_value=10**9,
        widget=UnfoldAdminIntegerFieldWidget(attrs={"placeholder": "Off"}),
        **described("max_p90_latency_ms"),
    )
    gate_max_mean_cost_usd = amount("max_mean_cost_usd", min_value=0, max_value=10**6)


SWITCHES = ("conclusion", "against_reference")
GATE_FIELDS = tuple(GateFields.base_fields)


def initial_of(gate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the fields for a suite's gate."""
    values = read_policy(gate).model_dump()
    if values["min_pass_rate"] is not None:
        values["min_pass_rate"] = float(round(Decimal(str(values["min_pass_rate"])) * PERCENT, 6))
    return {f"{PREFIX}{name}": value for name, value in values.items()}


def gate_of(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return a suite's gate from the form's values.

    Raises:
        ValidationError: No rule is on.
    """
    values = {
        name: float(value) if isinstance(value, Decimal) else value or None
        for name in GatePolicy.model_fields
        if (value := cleaned.get(f"{PREFIX}{name}")) is not None
    }
    values |= {name: bool(cleaned.get(f"{PREFIX}{name}")) for name in SWITCHES}
    values.setdefault("level", GatePolicy().level)
    values.setdefault("blind_spot_points", None)
    if (rate := cleaned.get(f"{PREFIX}min_pass_rate")) is not None:
        values["min_pass_rate"] = float(rate / PERCENT)
    try:
        return read_policy(values).changes()
    except PolicyRefused as refused:
        raise forms.ValidationError(refused.problems) from refused
