"""The form of a report, for the API schema."""

from rest_framework import serializers

from evalhub.api.fields import PlainSerializer


class ReportLinkSerializer(PlainSerializer):
    text = serializers.CharField()
    url = serializers.CharField()
    note = serializers.CharField()


class ReportFactSerializer(PlainSerializer):
    """A headline number; `value` is a cell as in a table."""

    title = serializers.CharField()
    value = serializers.JSONField(allow_null=True)
    note = serializers.CharField()


class ReportColumnSerializer(PlainSerializer):
    name = serializers.CharField()
    title = serializers.CharField()
    form = serializers.CharField()
    note = serializers.CharField()


class ReportTableSerializer(PlainSerializer):
    """A table; each row is an object by the names of the columns."""

    title = serializers.CharField()
    note = serializers.CharField()
    columns = ReportColumnSerializer(many=True)
    rows = serializers.ListField(child=serializers.DictField())


class ReportSerializer(PlainSerializer):
    """A report: sentences, headline numbers by name, and tables by key.

    `actions` are links to what can be done about the warnings, such as re-judging a run.

    A row of a table is an object by the names of its columns; null is not measured. A rate is
    {passed, n, total, share, interval, method}, an estimate {value, n, total, interval}, a link
    {text, url, note}. Of a run, `n` of `total` results are scored.
    """

    title = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    actions = ReportLinkSerializer(many=True)
    sentences = serializers.ListField(child=serializers.CharField())
    facts = serializers.DictField(child=ReportFactSerializer())
    tables = serializers.DictField(child=ReportTableSerializer())
