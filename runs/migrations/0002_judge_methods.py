from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="method",
            field=models.CharField(
                choices=[
                    ("single", "one call"),
                    ("self_critique", "self-critique"),
                    ("debate", "debate"),
                ],
                default="single",
                max_length=15,
            ),
        ),
        migrations.AddField(
            model_name="judge",
            name="role",
            field=models.TextField(
                blank=True,
                help_text="Who judges, such as “You are a nurse …”: the start of every prompt.",
                max_length=2000,
            ),
        ),
        migrations.AddConstraint(
            model_name="judge",
            constraint=models.CheckConstraint(
                condition=models.Q(("method__in", ["single", "self_critique", "debate"])),
                name="runs_judge_method_known",
                violation_error_message="Choose one of: single, self_critique, debate.",
            ),
        ),
    ]
