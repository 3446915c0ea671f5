from django.db import migrations, models
from django.db.models.functions import Now

ROLES = [
    ("candidate", "Candidate"),
    ("judge", "Judge"),
    ("repair", "Repair"),
    ("probe", "Probe"),
    ("analyst", "Analyst"),
    ("generator", "Generator"),
    ("embedding", "Embedding"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("evalhub", "0002_judge_timeout"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="call", name="evalhub_call_role_known"),
        migrations.AlterField(
            model_name="call",
            name="role",
            field=models.CharField(choices=ROLES, max_length=10),
        ),
        migrations.AddConstraint(
            model_name="call",
            constraint=models.CheckConstraint(
                condition=models.Q(role__in=[role for role, _ in ROLES]),
                name="evalhub_call_role_known",
                violation_error_message=f"Choose one of: {', '.join(r for r, _ in ROLES)}.",
            ),
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("model_name", models.CharField(max_length=200)),
                ("dimensions", models.PositiveIntegerField()),
                ("vector", models.BinaryField()),
                ("created_at", models.DateTimeField(db_default=Now())),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("dimensions__gte", 1)),
                        name="evalhub_embedding_dimensions_positive",
                    )
                ],
            },
        ),
    ]
