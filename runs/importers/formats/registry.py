"""The formats of peers, in the order in which a file is tried for them. Pure."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from issues.importers.records import Unreadable
from runs.importers.formats import (
    files,
    inspect_ai,
    lm_eval,
    openai_evals,
    promptfoo,
    table,
    traces,
)
from runs.importers.formats.records import Contents, Document

FORMATS: dict[str, ModuleType] = {
    module.NAME: module for module in (promptfoo, inspect_ai, lm_eval, openai_evals, traces, table)
}


def format_of(document: Document, name: str = "") -> Any:
    """Return the module of a document's format, or of the one named.

    Raises:
        Unreadable: The document is of none of them.
    """
    if name and name not in FORMATS:
        raise Unreadable(f"can be read as {', '.join(FORMATS)}, not as {name!r}.")
    for module in [FORMATS[name]] if name else FORMATS.values():
        if module.matches(document):
            return module
    titles = [module.TITLE for module in FORMATS.values()]
    wanted = FORMATS[name].TITLE if name else f"one of: {'; '.join(titles)}"
    raise Unreadable(f"is not {wanted}.")


def read(
    name: str, data: bytes, *, chosen: str = "", columns: Mapping[str, str] | None = None
) -> tuple[str, Document, Contents]:
    """Return a file's format, values and contents.

    Args:
        chosen: The format; "" finds it.
        columns: Of a table, the field of columns by name; overrides their names.

    Raises:
        Unreadable: Nothing of the file can be read.
    """
    document = files.read(name, data)
    module = format_of(document, chosen)
    if module is table:
        return module.NAME, document, table.read(document, columns)
    return module.NAME, document, module.read(document)
