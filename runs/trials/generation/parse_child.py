"""Program of `code_validity`: parse standard input as a language, and run nothing.

It is a process of its own, since a parser can take any time and memory, or crash. It replies with
one line of JSON: null if the text parses, else the first problem.
"""

import ast
import json
import sys
from importlib import import_module

MEMORY = 512 * 2**20
CPU_S = 5

GRAMMARS = {"c": "tree_sitter_c", "cpp": "tree_sitter_cpp", "java": "tree_sitter_java"}
"""Modules with the grammar of a language."""


def main(language: str) -> None:
    """Reply with the first problem of the text."""
    _limit()
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    found = _python(text) if language == "python" else _by_grammar(text, GRAMMARS[language])
    sys.stdout.write(json.dumps(found))


def _limit() -> None:
    try:
        import resource
    except ImportError:  # on Windows; the parent's time-out remains
        return
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


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


if __name__ == "__main__":
    main(sys.argv[1])
