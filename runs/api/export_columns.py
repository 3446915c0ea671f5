"""Columns of the exports of results, judgments and human evaluations."""

from collections.abc import Callable
from typing import Any

from evalhub.api.exports import IS_READABLE, Column
from evalhub.files import parquet
from issues.api.export_columns import plain_columns
from runs.models import Judge


def _judge_names() -> Callable[[Any], str]:
    judges = Judge.objects.select_related("language_model", "template")
    names = {judge.pk: str(judge) for judge in judges}
    return lambda pk: names.get(pk, "")


RESULTS = (
    *plain_columns("id", "run"),
    Column("run_label", "run__label"),
    Column("model", "run__model_name"),
    Column("release", "run__release"),
    Column("variant_key", "run__variant_key"),
    Column("suite", "run__suite"),
    *plain_columns("revision"),
    Column("repeat", form=lambda: lambda repeat: repeat + 1),
    *plain_columns("test"),
    Column("test_source_id", "test__source_id"),
    *plain_columns("issue"),
    Column("tags", "tag_set__names"),
    *plain_columns("origin", "weight", "state", "outcome", "is_judged", "score", "passed"),
    *plain_columns("lowest_score", "highest_score", "lowest_passed", "highest_passed"),
    *plain_columns("agreement", "similarity", "has_taken_verdicts", "is_overridden"),
    *plain_columns("is_disputed"),
    *plain_columns("input_tokens", "output_tokens", "cost_usd", "latency_ms", "error_kind"),
    *plain_columns("ending"),
    *plain_columns("error_message", withheld=""),
    *plain_columns(IS_READABLE),
    Column("answer", "answer__text", withheld=None),
    Column("turns", "answer__turns", withheld=None),
    Column("tool_calls", "answer__tool_calls", withheld=None),
    Column("finish_reason", "answer__call__finish_reason", withheld=None),
    Column("documents", "answer__documents", withheld=None),
    Column("reasoning", "answer__reasoning", withheld=None),
    Column("answered_at", "answer__created_at", withheld=None),
)

JUDGMENTS = (
    *plain_columns("id", "judge_run"),
    Column("run", "judge_run__run"),
    *plain_columns("result"),
    Column("test", "result__test"),
    Column("criterion", "criterion__key"),
    *plain_columns("judge"),
    Column("judge_name", "judge_id", parquet.TEXT, _judge_names),
    Column("approach", "judge__approach"),
    *plain_columns("template", "sample", "is_backup", "state", "option", "value"),
    *plain_columns("justification", "failure", "failure_message", "call", "taken_from"),
    *plain_columns("created_at"),
)

EVALUATIONS = (
    *plain_columns("id", "result"),
    Column("run", "result__run"),
    Column("test", "result__test"),
    Column("criterion", "criterion__key"),
    Column("annotator", "annotator__username"),
    *plain_columns("kind", "value", "option", "justification", "blind", "chosen_by"),
    *plain_columns("seconds", "created_at"),
)
