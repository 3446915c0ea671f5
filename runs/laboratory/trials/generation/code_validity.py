"""Parsing of programs, in a process of limited time and memory. No program is ever run. Pure.

Python is parsed by Python, C, C++ and Java by their tree-sitter grammars. There is no well-kept
package for COBOL, PL/1 and many others: their programs are not checked, which says nothing.
"""

import ast
from enum import StrEnum
from importlib import import_module
from typing import NamedTuple

from evalhub.work.processes.limited_process import LimitReached, call_limited
from runs.limits import CODE_MEMORY_BYTES, CODE_TIMEOUT_S

MAX_CHARACTERS = 1_000_000

_NAMES = {
    "python": "python",
    "python3": "python",
    "c": "c",
    "c++": "cpp",
    "cpp": "cpp",
    "java": "java",
}

_GRAMMARS = {"c": "tree_sitter_c", "cpp": "tree_sitter_cpp", "java": "tree_sitter_java"}
"""Modules with the grammar of a language."""

LANGUAGES = ("C", "C++", "Java", "Python")
"""Languages with a parser."""


class Parsed(StrEnum):
    VALID = "valid"
    CORRUPTED = "corrupted"
    NOT_CHECKED = "not_checked"


class CodeCheck(NamedTuple):
    """The outcome, and the reason unless it is valid."""

    outcome: Parsed
    reason: str = ""


def check_code(text: str, language: str) -> CodeCheck:
    """Parse a program of this language, named in any case, such as "C++"."""
    if not text.strip():
        return CodeCheck(Parsed.CORRUPTED, "It is empty.")
    parser = _NAMES.get(language.strip().lower())
    if parser is None:
        return CodeCheck(Parsed.NOT_CHECKED, f"There is no parser for {language or 'texts'} here.")
    if len(text) > MAX_CHARACTERS:
        reason = f"It has {len(text):,} characters, more than {MAX_CHARACTERS:,}."
        return CodeCheck(Parsed.NOT_CHECKED, reason)
    data = text.encode("utf-8", "replace")
    try:
        problem = call_limited(
            f"{__name__}:parse", data, parser, seconds=CODE_TIMEOUT_S, memory=CODE_MEMORY_BYTES
        )
    except LimitReached as error:
        return CodeCheck(Parsed.NOT_CHECKED, f"Parsing it {error}.")
    if problem is None:
        return CodeCheck(Parsed.VALID)
    return CodeCheck(Parsed.CORRUPTED, f"{language} cannot be parsed, {problem}.")


def parse(data: bytes, language: str) -> str | None:
    """Return the first problem of a program; None: there is none."""
    text = data.decode("utf-8", "replace")
    return _python(text) if language == "python" else _by_grammar(text, _GRAMMARS[language])


def _python(text: str) -> str | None:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        return f"{line}{getattr(error, 'msg', error)}"
    return None


def _by_grammar(text: str, module: str) -> str | None:
    from tree_sitter import Language, Parser

    tree = Parser(Language(import_module(module).language())).parse(text.encode())
    if not tree.root_node.has_error:
        return None
    cursor = tree.walk()
    while True:  # down to the first node that is an error itself
        node = cursor.node
        if node is None or node.is_error or node.is_missing:
            break
        bad = next((child for child in node.children if child.has_error or child.is_missing), None)
        if bad is None:
            break
        cursor.reset(bad)
    if node is None:
        return "syntax error"
    what = f"{node.type!r} is missing" if node.is_missing else "syntax error"
    return f"line {node.start_point[0] + 1}: {what}"
