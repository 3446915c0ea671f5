from django.db import migrations

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.rubrics.library.builtin import load_builtin_criteria


def load(apps, schema_editor):
    load_builtin_templates(apps.get_model("issues", "JudgeTemplate"))
    load_builtin_criteria(
        apps.get_model("issues", "LibraryCriterion"),
        apps.get_model("issues", "HistoricalLibraryCriterion"),
    )


class Migration(migrations.Migration):
    dependencies = [("issues", "0005_image_uses")]
    operations = [migrations.RunPython(load, migrations.RunPython.noop, elidable=False)]
