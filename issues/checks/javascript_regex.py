r"""Regular expressions as they are written for JavaScript, searched within a time limit.

Authors of checks write them in that dialect: `$` is the end of the text only, `\d`, `\w` and
`\b` know ASCII alone while `\s` is any white space, and an unfinished `{` is a brace. Beyond it,
`(?i)`, `(?m)` and `(?s)` are read, since many write them. Features with which a pattern could
outrun the time limit (recursion, fuzzy matching) are refused.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Annotated

import regex
from pydantic import AfterValidator

from issues.checks.time_limit import Deadline

LONGEST = 10_000

LONGEST_WRITTEN_OUT = 20_000
"""Maximum length of a pattern with its repeats written out."""

LONGEST_RUN = 100
BREAK = "(?!(?!))"
"""Always matches. Before searching long runs of letters, `regex` prepares without a time limit for
time cubic in their length; this between them prevents it.
"""

TOKEN = re.compile(
    r"""
    (?P<escape>\\(?:[pP]\{[^}]*\}|u\{[0-9A-Fa-f]+\}|k<[^>]*>|c[A-Za-z]|.|$))
    | (?P<set>\[\^?(?:\\.|[^\]\\])*\])
    | (?P<group>\(\?(?:[:=!>]|<[=!]|P?<[^\W\d]\w*>|P=\w+\)|[ims]+\)|[ims]*(?:-[ims]+)?:|\#[^)]*\)))
    | (?P<refused>\(\?.?|\(\*)
    | (?P<times>\{[0-9]+(?:,[0-9]*)?\})
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

SPACE = r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
NO_SPACE = (
    r"\x00-\x08\x0e-\x1f!-\x9f\xa1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e"
    r"\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"
)
# Without the two letters that differ from s and k in case alone.
NO_WORD = r"\x00-/:-@\[-\^`{-\u017e\u0180-\u2129\u212b-\U0010ffff"
IN_SETS = {
    "d": "0-9",
    "D": r"\x00-/:-\U0010ffff",
    "w": "A-Za-z0-9_",
    "W": NO_WORD,
    "s": SPACE,
    "S": NO_SPACE,
    "b": r"\x08",
    "0": r"\x00",
}
WORD = "[A-Za-z0-9_]"
OUTSIDE = {
    "d": "[0-9]",
    "D": "[^0-9]",
    "w": f"(?-i:{WORD})",
    "W": "(?-i:[^A-Za-z0-9_])",
    "s": f"[{SPACE}]",
    "S": f"[^{SPACE}]",
    "b": f"(?-i:(?<={WORD})(?!{WORD})|(?<!{WORD})(?={WORD}))",
    "B": f"(?-i:(?<={WORD})(?={WORD})|(?<!{WORD})(?!{WORD}))",
    "0": r"\x00",
}
LITERAL = {"{": r"\{", "}": r"\}", "]": r"\]"}
SETS = {"[]": "(?!)", "[^]": "(?s:.)"}


def translated(pattern: str) -> str:
    """Translate a pattern for the `regex` package.

    Raises:
        ValueError: It uses an unsupported feature.
    """
    flags = "".join(re.findall(r"\(\?([ims]+)[-:)]", pattern))
    signs = {
        **LITERAL,
        "$": "$" if "m" in flags else r"\Z",
        ".": "." if "s" in flags else r"[^\n\r\u2028\u2029]",
    }
    return "".join(_broken_up(TOKEN.finditer(pattern), signs))


def _written_out(pattern: str) -> int:
    """Return the length of a pattern with repeats written out; `regex` keeps them all in memory."""
    sizes, last = [0], 0
    for token in TOKEN.finditer(pattern):
        text, kind = token.group(), token.lastgroup
        if text == "(" or (kind == "group" and not text.endswith(")")):
            sizes.append(0)
            continue
        if kind == "times":
            sizes[-1] -= last
            last *= max(1, int(re.split("[,}]", text[1:])[0][:12]))
        elif text == ")" and len(sizes) > 1:
            last = max(1, sizes.pop())
        else:
            last = 1
        sizes[-1] += last
    return sum(sizes)


def _broken_up(tokens: Iterable[re.Match[str]], signs: dict[str, str]) -> Iterator[str]:
    """Return the pieces of the translation, without long runs of letters."""
    run = 0
    for token in tokens:
        run += 1
        if run > LONGEST_RUN and _is_letter(token):
            yield BREAK
            run = 0
        yield _piece(token, signs)


def _is_letter(token: re.Match[str]) -> bool:
    """Return True if it matches one character, so that anything may precede it."""
    is_plain = token.lastgroup == "other" and token.group() not in "*+?|()^$"
    return is_plain or token.lastgroup in ("escape", "set")


def _piece(token: re.Match[str], signs: dict[str, str]) -> str:
    text, kind = token.group(), token.lastgroup
    if kind == "refused":
        raise ValueError(f"the pattern holds {text}, which is not supported.")
    if kind == "escape":
        return _escape(text, OUTSIDE)
    if kind == "set":
        return SETS.get(text) or _set(text)
    return signs.get(text, text) if kind == "other" else text


def _set(text: str) -> str:
    opening = "[^" if text.startswith("[^") else "["
    pieces = re.findall(
        r"\\(?:[pP]\{[^}]*\}|u\{[0-9A-Fa-f]+\}|c[A-Za-z]|.)|[^\\]",
        text[len(opening) : -1],
        re.DOTALL,
    )
    inner = (_escape(piece, IN_SETS) if piece[0] == "\\" else piece for piece in pieces)
    return opening + "".join(r"\[" if piece == "[" else piece for piece in inner) + "]"


def _escape(text: str, meanings: dict[str, str]) -> str:
    sign = text[1:]
    if sign.startswith("k<"):
        return f"(?P={sign[2:-1]})"
    if sign.startswith("u{"):
        return rf"\U{int(sign[2:-1], 16):08x}"
    if len(sign) == 2 and sign[0] == "c":
        return rf"\x{ord(sign[1]) % 32:02x}"
    return meanings.get(sign, text)


def literal(text: str) -> str:
    """Return a pattern of exactly this text."""
    starts = range(0, len(text), LONGEST_RUN)
    return BREAK.join(regex.escape(text[start : start + LONGEST_RUN]) for start in starts)


@lru_cache(maxsize=512)
def compiled(pattern: str, ignore_case: bool = False) -> "regex.Pattern[str]":
    """Compile a pattern.

    Raises:
        ValueError: It is invalid; the message says why.
    """
    if len(pattern) > LONGEST:
        raise ValueError(
            f"the pattern has {len(pattern):,} characters; the maximum is {LONGEST:,}."
        )
    if _written_out(pattern) > LONGEST_WRITTEN_OUT:
        raise ValueError("the pattern is nested too deeply or repeats too often.")
    try:
        return regex.compile(translated(pattern), regex.IGNORECASE if ignore_case else 0)
    except regex.error as error:
        # Positions in it are those of the translation.
        reason = str(error).partition(" at position")[0]
        raise ValueError(f"the pattern is invalid: {reason}.") from error
    except (RecursionError, MemoryError, OverflowError) as error:
        raise ValueError("the pattern is nested too deeply or repeats too often.") from error


def search(
    pattern: str, text: str, deadline: Deadline, *, ignore_case: bool = False
) -> "regex.Match[str] | None":
    """Return the first match in the text.

    Raises:
        CheckError: It took too long.
        ValueError: The pattern is invalid.
    """
    return search_compiled(compiled(pattern, ignore_case), text, deadline)


def search_compiled(
    pattern: "regex.Pattern[str]", text: str, deadline: Deadline
) -> "regex.Match[str] | None":
    try:
        # Other threads go on meanwhile.
        return pattern.search(text, timeout=deadline.left(), concurrent=True)
    except TimeoutError as error:
        raise deadline.passed() from error


def _readable(pattern: str) -> str:
    compiled(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(_readable)]
"""Type of a pattern argument."""
