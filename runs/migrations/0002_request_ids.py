from django.db import migrations, models

import evalhub.logs


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="judgerun",
            name="request_id",
            field=models.CharField(
                blank=True,
                default=evalhub.logs.request_id,
                editable=False,
                help_text="Of the web request that started it; the workers log it.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="run",
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
