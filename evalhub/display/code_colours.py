"""Source code as HTML with classes for what its words are; the colours are the pages'. Pure."""

import re
from collections.abc import Mapping
from html import escape

from pygments.lexers import get_lexer_by_name
from pygments.token import Token, _TokenType

CLASSES: Mapping[_TokenType, str] = {
    Token.Comment: "eh-code-comment",
    Token.Keyword: "eh-code-keyword",
    Token.Operator.Word: "eh-code-keyword",
    Token.Literal.String: "eh-code-string",
    Token.Literal.Number: "eh-code-number",
    Token.Name.Function: "eh-code-name",
    Token.Name.Class: "eh-code-name",
    Token.Name.Tag: "eh-code-name",
    Token.Name.Attribute: "eh-code-name",
    Token.Name.Decorator: "eh-code-name",
}

# Lexers that were tried with texts made to take long; a lexer of another language might hang.
LANGUAGES = {
    *("bash", "c", "c++", "cpp", "css", "diff", "go", "html", "java"),
    *("javascript", "js", "json", "kotlin", "php", "py", "python", "python3", "r", "ruby", "rust"),
    *("sh", "shell", "sql", "swift", "toml", "ts", "typescript", "xml", "yaml", "yml"),
}
# Time grows with the square of the length, and of runs of blank lines.
_MAX_CHARACTERS = 4_000
_LONG_GAP = re.compile(r"\s{200}")


def coloured(code: str, language: str) -> str:
    """Return `code` as HTML, in plain where the language is unknown or the text long."""
    language = language.lower()
    if language not in LANGUAGES or len(code) > _MAX_CHARACTERS or _LONG_GAP.search(code):
        return escape(code)
    lexer = get_lexer_by_name(language)
    # Not get_tokens, which would change line ends.
    return "".join(_span(kind, text) for _, kind, text in lexer.get_tokens_unprocessed(code))


def _span(kind: _TokenType, text: str) -> str:
    while kind is not Token and kind not in CLASSES and kind.parent is not None:
        kind = kind.parent
    name = CLASSES.get(kind)
    return f'<span class="{name}">{escape(text)}</span>' if name else escape(text)
