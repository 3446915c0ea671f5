"""The pictures in the README show the pages of today: `python3 dev.py screenshots` takes them."""

import json
import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from reports.documents.links import run_url
from runs.models import Result
from tests.browser import show
from tests.factories import make_user
from tests.sample_data.plan import Size
from tests.sample_data.workspace import generate

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "screenshots"
HEADINGS = FOLDER / "headings.json"
TAKE = "TAKE_SCREENSHOTS"
"""The variable that makes this test take the pictures instead of comparing them."""

SIZE = Size(40, 160, 1, datetime(2026, 6, 30, 6, tzinfo=UTC))
HEIGHT = 1000
FIGURE = re.compile(r"\d[\d.]*")
"""Numbers of rows and scores, which depend on the tests that ran before."""
MAX_BYTES = 300_000
MAX_DAYS = 60
"""Days by which the newest change of a template or style may be newer than the pictures."""


def pages() -> dict[str, str]:
    """Addresses of the pictured pages by the name of the picture."""
    result = Result.objects.filter(outcome="failed").order_by("-run_id", "pk")[0]
    run = result.run
    # The newest release has another jury than the one before: nothing is concluded from both.
    runs = run.suite.runs.filter(model_name=run.model_name).order_by("pk")
    same_jury = urlencode({"runs": [runs.get(release=name).pk for name in ("1.2", "1.3")]}, True)
    return {
        "run": run_url(run),
        "compare": f"{reverse('reports:compare')}?{same_jury}",
        "result": reverse("admin:runs_result_change", args=[result.pk]),
    }


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_pictures_have_the_headings_of_the_pages(page, log_in):
    generate(SIZE, detailed=10, tell=lambda runs: None)
    log_in(make_user("superuser", username="ada"))
    found = {}
    for name, address in pages().items():
        page.goto(address)
        page.wait_for_load_state("networkidle")
        found[name] = [
            FIGURE.sub("0", text)
            for text in page.locator("#content h1, #content h2, main h2").all_inner_texts()
            if text
        ]
        if TAKE in os.environ:
            for scheme in ("light", "dark"):
                show(page, scheme=scheme)
                page.set_viewport_size({"width": 1280, "height": HEIGHT})
                page.wait_for_load_state("networkidle")
                page.screenshot(path=FOLDER / f"{name}-{scheme}.png")
            show(page)
    if TAKE in os.environ:
        HEADINGS.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")

    assert found == json.loads(HEADINGS.read_text()), "Run: python3 dev.py screenshots"


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in FOLDER.glob("*.png")}

    assert sizes
    assert {name for name, size in sizes.items() if size > MAX_BYTES} == set()


def test_pictures_are_not_much_older_than_the_pages():
    def changed(*paths: str) -> int:
        command = ["git", "log", "-1", "--format=%ct", "--", *paths]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return int(told.stdout or 0)

    newest = changed("templates", "evalhub/static")

    assert (newest - changed("docs/screenshots")) / 86400 < MAX_DAYS
