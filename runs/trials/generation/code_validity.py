"""Parsing of programs, in a process of limited time and memory. No program is ever run.

Python is parsed by Python, C, C++ and Java by their tree-sitter grammars. There is no well-kept
package for COBOL, PL/1 and many others: their programs are not checked, which says nothing.
"""

import json
import subprocess
import sys
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 15
"""Elapsed time, of which a parser may compute for a third (`parse_child.CPU_S`)."""

MAX_CHARACTERS = 1_000_000
_CHILD = Path(__file__).with_name("parse_child.py")

_NAMES = {
    "python": "python",
    "python3": "python",
    "c": "c",
    "c++": "cpp",
    "cpp": "cpp",
    "java": "java",
}

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
    command = [sys.executable, "-I", str(_CHILD), parser]
    try:
        done = subprocess.run(
            command,
            input=text.encode("utf-8", "replace"),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return CodeCheck(Parsed.NOT_CHECKED, f"Parsing took longer than {TIMEOUT_S} s.")
    if done.returncode:
        return CodeCheck(Parsed.NOT_CHECKED, "The parser ran out of time or memory, or crashed.")
    problem = json.loads(done.stdout)
    if problem is None:
        return CodeCheck(Parsed.VALID)
    return CodeCheck(Parsed.CORRUPTED, f"{language} cannot be parsed, {problem}.")
