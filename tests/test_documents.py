"""That the documents lead somewhere: every link and picture in them is a file that there is."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
CODE = [
    path
    for name in ("evalhub", "runs", "reports", "issues")
    for path in (ROOT / name).rglob("*.py")
]
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_to_files(document):
    links = [one or other for one, other in LINK.findall(document.read_text())]
    local = [link.partition("#")[0] for link in links if "://" not in link]
    missing = [link for link in local if link and not (document.parent / link).exists()]

    assert missing == []


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_files_that_a_document_names_are_there(document):
    named = set(
        re.findall(
            r"`((?:evalhub|issues|runs|reports|templates|tests)/[\w/.]+)`",
            (ROOT / document).read_text(),
        )
    )

    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_nobody_is_told_to_install_by_the_name_of_somebody_elses_package():
    by_name = re.compile(r"install [\"'`]?evalhub\b(?!` by its name)|evalhub\[")
    told = [path.name for path in [*DOCUMENTS, *CODE] if by_name.search(path.read_text())]

    assert told == []
