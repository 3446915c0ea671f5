from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("issues", "0005_request_ids"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="feedback",
            options={
                "ordering": ("-pk",),
                "permissions": [("erase_feedback", "Can erase the texts of feedback")],
                "verbose_name_plural": "feedback",
            },
        ),
        migrations.AddField(
            model_name="feedback",
            name="erased_at",
            field=models.DateTimeField(
                blank=True, editable=False, help_text="When its texts were erased.", null=True
            ),
        ),
        migrations.AddField(
            model_name="historicalfeedback",
            name="erased_at",
            field=models.DateTimeField(
                blank=True, editable=False, help_text="When its texts were erased.", null=True
            ),
        ),
    ]
