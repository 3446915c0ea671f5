"""That the document about settings says what the code reads."""

from io import StringIO

from django.conf import settings
from django.core.management import call_command

from evalhub.management.commands.settings_table import row
from evalhub.settings.environment import Setting


def test_the_document_has_the_table_that_the_command_prints():
    printed = StringIO()
    call_command("settings_table", stdout=printed)
    document = (settings.BASE_DIR / "docs" / "settings.md").read_text()

    assert document.endswith("\n\n" + printed.getvalue())


def test_a_default_names_no_machine():
    setting = Setting("EVALHUB_DATA_DIR", f"{settings.BASE_DIR}/data", "A folder.")

    assert row(setting) == "| `EVALHUB_DATA_DIR` | `data` | A folder. |"
