from django.db import migrations, models


def count_again(apps, schema_editor):
    """Let workers count the runs again, with their judgments."""
    apps.get_model("runs", "RunTally").objects.update(version=None)


class Migration(migrations.Migration):
    dependencies = [("runs", "0005_baselines")]

    operations = [
        migrations.AddField(
            model_name="runtally",
            name="expected",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="runtally",
            name="answered",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunPython(count_again, migrations.RunPython.noop),
    ]
