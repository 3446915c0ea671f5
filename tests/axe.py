"""Whether a page can be read and worked by everybody, as the engine axe sees it.

It checks what a program can: names of controls, contrast, roles, order of headings. Of the rules
those of WCAG 2.2 A and AA are asked for.
"""

from typing import TYPE_CHECKING

from axe_playwright_python.base import AXE_SCRIPT

if TYPE_CHECKING:
    from playwright.sync_api import Page

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
COLOURS = ("color-contrast", "link-in-text-block")
"""The rules whose verdict another colour scheme can change."""

OPTIONS = {"resultTypes": ["violations"], "elementRef": False, "preload": False}
SETTLED = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))"
"""Until what scripts do once a page is loaded is done."""

KNOWN = (("list", "select2-selection__rendered"), ("nested-interactive", "opblock-summary-control"))
"""What libraries draw so, as a rule and a class: the list of the admin's chooser holds a button
to empty it beside its items, and Swagger UI puts a link into the button that opens an operation."""

SHOWN = 4
"""Elements that are named of each violation."""


def violations(page: "Page") -> list[str]:
    """What axe finds wrong on the page as it is now, in both themes; it is left in the light one.

    A line for each element, [] for nothing.
    """
    page.emulate_media(color_scheme="light")
    found = _violations(page, {"type": "tag", "values": RULES})
    page.emulate_media(color_scheme="dark")
    found += [f"dark: {line}" for line in _violations(page, {"type": "rule", "values": COLOURS})]
    page.emulate_media(color_scheme="light")
    return found


def _violations(page: "Page", which: dict[str, object]) -> list[str]:
    page.evaluate(SETTLED)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    run = "options => axe.run(options).then(({ violations }) => violations)"
    found = page.evaluate(run, OPTIONS | {"runOnly": which})
    return [
        f"{rule['id']}: {' '.join(map(str, node['target']))} {node['html'][:160]!r} {_why(node)}"
        for rule in found
        for node in rule["nodes"][:SHOWN]
        if not any(rule["id"] == known and part in node["html"] for known, part in KNOWN)
    ]


def _why(node: dict[str, list[dict[str, str]]]) -> str:
    return "; ".join(check["message"] for check in [*node["any"], *node["all"], *node["none"]])[
        :160
    ]
