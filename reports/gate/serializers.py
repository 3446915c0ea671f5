"""Request and result of the gate, for the API and its schema."""

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evalhub.api.fields import JSONObject, PlainSerializer
from reports.gate.exit_codes import ExitCode
from reports.gate.rule import TITLES, Verdict
from reports.limits import MAX_GATE_WAIT_S
from runs.suites.gate_policy import GatePolicy


@extend_schema_field(GatePolicy)  # type: ignore[arg-type]
class PolicyField(JSONObject):
    """Rules of a gate."""


class GateSerializer(PlainSerializer):
    """The question to a gate.

    `run` and `against` are ids or labels; without `against` the run is compared with the baseline
    of its suite, else with the previous run of the same model, system prompt and parameters.
    `policy` overrides single rules of the suite; null turns a rule off. `wait`: seconds.
    """

    run = serializers.CharField(max_length=150)
    against = serializers.CharField(max_length=150, required=False, allow_blank=True, default="")
    policy = PolicyField(required=False, default=dict)
    wait = serializers.IntegerField(min_value=0, max_value=MAX_GATE_WAIT_S, default=0)


class GateRemedySerializer(PlainSerializer):
    """The request that makes a decision possible. POST `body` to `path`; "" if no request helps.

    `url` is the page that does the same, after asking.
    """

    text = serializers.CharField()
    path = serializers.CharField()
    body = serializers.DictField()
    url = serializers.CharField(allow_blank=True)


class GateRuleSerializer(PlainSerializer):
    """A rule with its figures; null is not measured.

    `value`, `limit` and the bounds of the 95 % `interval` are in `unit`; `p` is two-sided;
    `method` names how the interval or p was made.
    """

    rule = serializers.ChoiceField(list(TITLES.items()))
    title = serializers.CharField()
    verdict = serializers.ChoiceField([(verdict.value, verdict.label) for verdict in Verdict])
    sentence = serializers.CharField()
    n = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    limit = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    interval = serializers.ListField(
        child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True
    )
    p = serializers.FloatField(allow_null=True)
    method = serializers.CharField()
    remedy = GateRemedySerializer(allow_null=True)


class GateFlipSerializer(PlainSerializer):
    """A test that flipped. `change` is that of the share of its repeats that passed.

    `prompt` is what it asks, without texts of sealed tests and of those after the first 200.
    """

    became = serializers.ChoiceField(["worse", "better"])
    test = serializers.IntegerField()
    prompt = serializers.CharField(allow_blank=True)
    issue = serializers.CharField()
    change = serializers.FloatField()


class GateResultSerializer(PlainSerializer):
    """The decision of a gate. `exit` is 0: all rules hold, 1: one does not, 2: cannot tell.

    `detectable` is the loss that these tests show in 80 %, a share; `detectable_note` is its basis.
    """

    exit = serializers.ChoiceField([(code.value, code.name.lower()) for code in ExitCode])
    verdict = serializers.ChoiceField([(code.name.lower(), code.name.lower()) for code in ExitCode])
    reason = serializers.CharField()
    is_running = serializers.BooleanField()
    run = serializers.IntegerField()
    against = serializers.IntegerField(allow_null=True)
    policy = PolicyField()
    rules = GateRuleSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
    detectable = serializers.FloatField(allow_null=True)
    detectable_note = serializers.CharField()
    flips = GateFlipSerializer(many=True)
