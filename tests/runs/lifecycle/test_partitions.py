"""The statements of docs/scale.md that partition answers, as they stand there."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from runs.lifecycle.deletion import delete_run
from runs.lifecycle.retention import remove
from runs.models import Answer, Run
from tests.reports.judged_runs import judged

pytestmark = [pytest.mark.django_db, pytest.mark.both_engines]

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "scale.md"


def places() -> dict[int, str]:
    """The partition of each answer by its run."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT run_id, runs_answer.tableoid::regclass::text FROM runs_answer "
            "JOIN runs_result ON runs_result.id = result_id"
        )
        return dict(cursor.fetchall())


def test_answers_are_partitioned_archived_and_written_as_before():
    if connection.vendor != "postgresql":
        pytest.skip("Only PostgreSQL has partitions.")
    first, next_period = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    runs = [judged([1], [0])]
    with connection.cursor() as cursor:
        for statements in (first, next_period):
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(statements)
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            runs.append(judged([1], [0]))
    assert places() == {
        run.pk: f"runs_answer_{number}" for run, number in zip(runs, (1, 2, 3), strict=True)
    }

    long_ago = timezone.now() - timedelta(days=400)
    Run.objects.filter(pk=runs[0].pk).update(finished_at=long_ago)
    assert remove(365).answers == 2
    assert Answer.objects.filter(removed_at=None).count() == 4

    again = [
        Answer(result=result, text="Once more.") for run in runs for result in run.results.all()
    ]
    Answer.objects.bulk_create(
        again, update_conflicts=True, unique_fields=["result"], update_fields=["text"]
    )
    assert Answer.objects.filter(text="Once more.").count() == 6
    delete_run(runs[1])
    assert set(places()) == {runs[0].pk, runs[2].pk}
