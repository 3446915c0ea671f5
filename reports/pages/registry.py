"""All report pages, in the order of the menu."""

from reports.pages.shell import Page

PAGES: tuple[Page, ...] = ()


def page_of(key: str) -> Page:
    """The page of this key.

    Raises:
        KeyError: There is none.
    """
    return next(page for page in PAGES if page.key == key)
