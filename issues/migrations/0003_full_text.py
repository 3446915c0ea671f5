"""Indexes for PostgreSQL's full-text search. SQLite has none: there words are compared here."""

from typing import Any

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import migrations
from django.db.models.functions import Left

INDEXES = {
    "Issue": GinIndex(
        SearchVector(Left("title", 200), Left("description", 2000), config="english"),
        name="issues_issue_words",
    ),
    "Feedback": GinIndex(
        SearchVector(Left("comment", 2000), Left("prompt", 200), config="english"),
        name="issues_feedback_words",
    ),
}


def add(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for name, index in INDEXES.items():
            editor.add_index(apps.get_model("issues", name), index)


def remove(apps: Any, editor: Any) -> None:
    if editor.connection.vendor == "postgresql":
        for name, index in INDEXES.items():
            editor.remove_index(apps.get_model("issues", name), index)


class Migration(migrations.Migration):
    dependencies = [("issues", "0002_builtin_templates")]
    operations = [migrations.RunPython(add, remove, elidable=False)]
