from django.db import migrations

from reports.capabilities.defaults import load_defaults


def load(apps, schema_editor):
    weights = apps.get_model("reports", "CapabilityWeight")
    load_defaults(apps.get_model("reports", "Capability"), weights)


class Migration(migrations.Migration):
    dependencies = [("reports", "0001_initial")]
    operations = [migrations.RunPython(load, migrations.RunPython.noop, elidable=False)]
