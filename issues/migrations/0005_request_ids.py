from django.db import migrations, models

import evalhub.logs


class Migration(migrations.Migration):
    dependencies = [
        ("issues", "0004_builtin_criteria"),
    ]

    operations = [
        migrations.AddField(
            model_name="generation",
            name="request_id",
            field=models.CharField(
                blank=True,
                default=evalhub.logs.request_id,
                editable=False,
                help_text="Of the web request that started it; the workers log it.",
                max_length=64,
            ),
        ),
    ]
