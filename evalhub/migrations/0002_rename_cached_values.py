from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("evalhub", "0001_initial")]

    operations = [migrations.RenameModel(old_name="KeptValue", new_name="CachedValue")]
