from django.db import migrations

from issues.judge_templates.lifecycle import load_builtin_templates


def load(apps, schema_editor):
    load_builtin_templates(apps.get_model("issues", "JudgeTemplate"))


class Migration(migrations.Migration):
    dependencies = [("issues", "0005_image_uses")]
    operations = [migrations.RunPython(load, migrations.RunPython.noop, elidable=False)]
