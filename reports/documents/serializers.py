"""The form of a report, for the API schema."""

from rest_framework import serializers

from evalhub.api.fields import PlainSerializer


class DocumentSerializer(PlainSerializer):
    """A report: sentences, headline numbers by name, and tables by key.

    `actions` are links to what can be done about the warnings, such as re-judging a run.

    A row of a table is an object by the names of its columns; null is not measured. A rate is
    {passed, n, total, share, interval, method}, an estimate {value, n, total, interval}, a link
    {text, url, note}. Of a run, `n` of `total` results are scored.
    """

    title = serializers.CharField()
    labels = serializers.ListField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    actions = serializers.ListField(child=serializers.JSONField())
    sentences = serializers.ListField(child=serializers.CharField())
    facts = serializers.DictField(child=serializers.JSONField())
    tables = serializers.DictField(child=serializers.JSONField())
