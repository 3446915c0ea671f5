from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_removed_texts")]

    operations = [
        migrations.AddField(
            model_name="judgerun",
            name="active_since",
            field=models.DateTimeField(
                blank=True, help_text="When it was set as active after it began.", null=True
            ),
        ),
    ]
