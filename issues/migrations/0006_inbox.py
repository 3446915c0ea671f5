from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("issues", "0005_full_text")]
    operations = [
        migrations.AddIndex(
            model_name="feedback",
            index=models.Index(fields=["state", "id"], name="issues_feedback_inbox"),
        ),
        migrations.AddConstraint(
            model_name="feedback",
            constraint=models.CheckConstraint(
                name="issues_feedback_duplicate_stated",
                condition=models.Q(duplicate_of=None) | models.Q(state="duplicate"),
                violation_error_message="Only a duplicate has an original.",
            ),
        ),
    ]
