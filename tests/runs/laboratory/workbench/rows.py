"""Workbenches for tests, and what their pages say."""

import json
from typing import Any

from django.test import Client
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.rubrics.scales import FIVE_CLASSES, as_json
from runs.laboratory.workbench.contents import (
    content_with,
    default_template,
    new_bench,
    take_template,
)
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.rows import add_rows
from tests.provider import prompt, verdict


def url(page: str, *args: Any) -> str:
    return reverse(f"admin:workbench_workbench_{page}", args=args)


def make_bench(
    user: Any, *models: Any, answers: Any = (), criteria: Any = (), **judges: Any
) -> Any:
    """A workbench with a row for each (answer, expected options by key)."""
    load_builtin_templates()
    bench = new_bench(user, name="Sums")
    bench.judges = {"models": [model.pk for model in models], **judges}
    if criteria:
        take_template(bench, default_template(on_criteria=True))
        bench.criteria = [content_with(each) for each in criteria]
        bench.scale = as_json(FIVE_CLASSES)
    bench.save()
    asked = {"messages": [{"role": "user", "content": "What is 2 + 2?"}]}
    add_rows(bench, [{**asked, "answer": text, "expected": e} for text, e in answers])
    return bench


def evaluate(
    client: Client, bench: Workbench, *rows: BenchRow, **sent: Any
) -> list[dict[str, Any]]:
    """Evaluate, and return the events."""
    response = client.post(url("evaluate", bench.pk), {"row": [row.pk for row in rows], **sent})
    assert response.status_code == 200
    lines = b"".join(response.streaming_content).splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def act(client: Client, bench: Workbench, row: BenchRow | None, name: str, **sent: Any) -> Any:
    fields = {"act": name, "row": row.pk if row else "", **sent}
    return client.post(url("row", bench.pk), fields).json()


def edit(client: Client, row: BenchRow, **texts: str) -> Any:
    row.refresh_from_db()
    return act(client, row.workbench, row, "save", version=row.version, **texts)


def answer_in(request: Any) -> str:
    """The answer that a judge's prompt shows."""
    return prompt(request).split("[BEGIN OUTPUT", 1)[-1].split("[END OUTPUT", 1)[0]


def judge_of_fours(request: Any) -> str:
    """1 if the answer says four, else 0."""
    return verdict(int("four" in answer_in(request)), "Read it.")
