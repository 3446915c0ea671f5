from typing import Any

from django.core.management import call_command
from django.db import migrations

TABLE = "evalhub_computed"


def create(apps: Any, schema_editor: Any) -> None:
    call_command("createcachetable", TABLE, database=schema_editor.connection.alias, verbosity=0)


def drop(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute(f"DROP TABLE {TABLE}")


class Migration(migrations.Migration):
    dependencies = [("evalhub", "0001_initial")]

    operations = [migrations.RunPython(create, drop)]
