"""The page that imports a file of another system, in a real browser."""

import pytest

from runs.models import Suite
from tests.browser import overflow_px, shoot, show
from tests.factories import make_user
from tests.runs.importers.formats import files_of_peers as peers

pytestmark = pytest.mark.browser

ROWS = "q;right;lang\n2 + 2?;4;en\nWie viel ist 3 + 3?;6;de\n"


def test_a_table_is_mapped_and_a_configuration_is_previewed_before_they_are_saved(
    page, live_server, log_in, tmp_path
):
    table, config = tmp_path / "sums.csv", tmp_path / "promptfooconfig.yaml"
    table.write_text(ROWS)
    config.write_text(peers.PROMPTFOO)
    log_in(make_user("superuser"))
    page.goto(f"{live_server.url}/admin/runs/suite/")
    page.get_by_role("link", name="Import", exact=True).click()
    shoot(page, "import form")

    page.locator("input[type=file]").set_input_files(table)
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_text("Choose the column of the prompt").wait_for()
    for column, field in (("q", "prompt"), ("right", "reference"), ("lang", "tags")):
        page.get_by_label(f"Column {column} import as").select_option(field)
    page.get_by_role("button", name="Update preview").click()
    page.get_by_role("cell", name="Wie viel ist 3 + 3?").wait_for()
    assert Suite.objects.count() == 0
    show(page, width=390)
    assert overflow_px(page) == 0
    shoot(page, "import mapping")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Imported: 2 tests made.").wait_for()

    page.goto(f"{live_server.url}/admin/runs/suite/import-file/")
    page.locator("input[type=file]").set_input_files(config)
    page.get_by_role("button", name="Preview", exact=True).click()
    page.get_by_text("No equal for the assertion “similar”").wait_for()
    shoot(page, "import notes")
    assert list(Suite.objects.values_list("name", flat=True)) == ["sums"]
