r"""Numbers in texts, in the notations of the world: the only place that reads them. Pure.

What people read is read: 1,234.50 and 1.234,50, 12 345 and 12'345, 1,00,000, 9{,}500, \frac{3}{4},
2 × 10³, 3 million, ٣٫٥ and －５. A notation that leaves another number possible says so, and one
that is no single number, such as a date, has no value: nothing is guessed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import unescape
from unicodedata import category, decimal, normalize

from evalhub.values.look_alikes import CharacterMap

THIN = "\u202f"
DECIMAL = "\u066b"
"""The Arabic decimal separator, which is nothing else."""


@dataclass(frozen=True)
class Number:
    """A number in a text.

    Attributes:
        text: As written, with plain digits and signs.
        value: As people read it; None if that is not certain.
        others: What else it may mean.
        is_open: It may also be any other number, as 2√3 is.
    """

    text: str
    value: float | None
    others: frozenset[float] = frozenset()
    is_open: bool = False


def last_reading(text: str, decimal_sign: str = "") -> Number | None:
    """Return the last number in a text with all that it may mean; None without one.

    Args:
        decimal_sign: "." or ",": how the text writes one half. With "", 1,234 and 1.234 are read
            as the text writes other numbers, or else as in English.
    """
    text, last, earlier, end = _plain(text), None, None, 0
    while found := _NUMBER.search(text, end):
        earlier, last, after = last, found, _AFTER.match(text, found.end())
        end = after.end() if after else found.end()
    if last is None:
        return None
    sign = decimal_sign or _usual_sign(text)
    number = replace(_read(last["run"], sign, bool(decimal_sign)), text=text[last.start() : end])
    if _WITHIN.search(text, max(0, last.start() - 20), last.start()):
        number = replace(number, value=None, is_open=True)
    if after := _AFTER.match(text, last.end()):
        number = _with_more(number, {key: part for key, part in after.groupdict().items() if part})
    if earlier and _CITATION.match(text, last.start() - 1):
        meant = _read(earlier["run"], sign, bool(decimal_sign)).value
        if meant is not None:
            number = replace(number, others=number.others | {meant})
    return _signed(number, last["sign"] or "")


# Plain text --------------------------------------------------------------------------------------

_POWERS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d\u2796", "-"),
    **dict.fromkeys("\u2018\u2019\u02bc\u2032\uff07\u066c", "'"),
    **dict.fromkeys("\u2044\u2215\uff0f", "/"),
    **dict.fromkeys("\u2219\u22c5\u2022", "·"),
    **dict.fromkeys("\xa0\u2006\u2007\u2008\u2009\u200a", THIN),
    **dict(zip("\uff0c\uff0e\uff1a\uff0b\uff05\ufe6a\u066a", ",.:+%%%", strict=True)),
}


def _plain_sign(character: str) -> str:
    kind = category(character)
    if kind == "Nd":
        return str(decimal(character))
    return "" if kind == "Cf" else _SIGNS.get(character, character)


_PLAIN = CharacterMap(_plain_sign)
_LATEX = {"times": "×", "cdot": "·", "pm": "±", "%": "%", "$": "$", "pi": "π", "!": ""}
Rewriting = tuple[tuple[str, Callable[[re.Match[str]], str]], ...]
_REWRITTEN: Rewriting = (
    (r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda m: "^" + m[0].translate(_POWERS)),
    (r"(?<=\d)[\xbc-\xbe\u2150-\u215e]", lambda m: " " + normalize("NFKC", m[0])),
    (r"[\xbc-\xbe\u2150-\u215e]", lambda m: normalize("NFKC", m[0])),
)
_SPELLED: Rewriting = (
    (r"\\(times|cdot|pm|pi)(?![A-Za-z])|\\([%$!])", lambda m: _LATEX[m[1] or m[2]]),
    (r"(?<=\d)\{?(?:\\[,;: ]|\\thinspace(?![a-z]) ?|~)\}?(?=\d)", lambda m: THIN),
    (r"(?<=\d)\{([.,])\}(?=\d)", lambda m: m[1]),
    (
        r"(\d?)\\[cdt]?frac\s*(?:\{\s*([^{}]*?)\s*\}|(\d))\s*(?:\{\s*([^{}]*?)\s*\}|(\d))",
        lambda m: f"{m[1]}{m[1] and ' '}{m[2] or m[3]}/{m[4] or m[5]}",
    ),
    (r"\^\s*\{\s*([-+]?\d+)\s*\}|<sup>([-+]?\d+)</sup>", lambda m: f"^{m[1] or m[2]}"),
    (r"(?<=\d)\*\*(?=-?\d)", lambda m: "^"),
    (r"(?<!\w)_+(?=[-+$€£¥₹]?\d)", lambda m: ""),
    # Citations, if they touch a text: [1], [^1] and 【4:0†source】.
    (r"(?<=[\w.,;:!?)*%°$€])(?:\[\^?\d{1,3}\]|【[^】]{0,60}】)+", lambda m: ""),
    # A minus apart from its number, but neither a difference nor the dash of a list.
    (r"(?<=[=≈])(\s*)-\s+(?=[\d$€£¥₹])", lambda m: f"{m[1]}-"),
    (r"(?<![^\s(\[{=:$])[—―](?=[\d$€£¥₹])", lambda m: "-"),
    (
        r"(?i)(?<!\d)(?<!\d\s)\b(?:minus|negative|moins|menos|meno)\s+(?=[$€£¥₹]?\s?\d)",
        lambda m: "-",
    ),
)


def _plain(text: str) -> str:
    """Write digits, signs, LaTeX and HTML in one way."""
    text = unescape(text)
    for pattern, write in _REWRITTEN:
        text = re.sub(pattern, write, text)
    text = text.translate(_PLAIN)
    for pattern, write in _SPELLED:
        text = re.sub(pattern, write, text)
    return text


# Notations ---------------------------------------------------------------------------------------

# Other letters may touch a number: not all languages put spaces between words.
_LETTER = "A-Za-z\xaa\xb5\xba\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0370-\u03ff\u0400-\u04ff"
_CURRENCY = r"(?:[A-Z]{0,3}[$€£¥₹₩₽฿₺₴]|USD|EUR|GBP|CHF|INR|Rs\.?)"
_NUMBER = re.compile(
    rf"""
    (?<![{_LETTER}\d^])(?<!\^[-+])(?<!\d[.,:'/(])(?<!\w_)(?<![_^]\{{)
    (?P<sign>[-+±]?)(?:{_CURRENCY}\s?)?
    (?P<run>
        \d{{4}}-\d\d?-\d\d?(?!\d)
        | \d+[ {THIN}]\d{{1,3}}/\d{{1,3}}(?![\d/])
        | \d{{1,3}}(?:{THIN}\d{{2,3}})*{THIN}\d{{3}}(?!\d)(?:[.,{DECIMAL}]\d+)?
        | \d{{1,3}}(?:[ ]\d{{3}})+(?!\d)(?:[.,{DECIMAL}]\d+)?
        | \d+(?:[.,'{DECIMAL}_:]\d+)*
        | (?<!\.)\.\d+
        | (?<![\w)\]}},]),\d+
    )
    """,
    re.VERBOSE,
)
_TIMES = {
    **dict.fromkeys(("thousand", "tausend", "mille", "mil"), 1e3),
    **dict.fromkeys(("lakh", "lakhs", "lac"), 1e5),
    **dict.fromkeys(("million", "millions", "millionen", "millones", "milhões", "mio", "mln"), 1e6),
    **dict.fromkeys(("crore", "crores"), 1e7),
    **dict.fromkeys(("milliarde", "milliarden", "milliard", "milliards", "mrd", "mld"), 1e9),
    **dict.fromkeys(("billion", "billions"), 1e9),
    **dict.fromkeys(("trillion", "trillions"), 1e12),
    **{"тыс": 1e3, "тысяч": 1e3, "тысячи": 1e3, "млн": 1e6, "миллион": 1e6, "миллиона": 1e6},
    **{"миллионов": 1e6, "млрд": 1e9, "लाख": 1e5, "करोड़": 1e7, "千": 1e3, "천": 1e3},
    **{"万": 1e4, "萬": 1e4, "만": 1e4, "億": 1e8, "亿": 1e8, "억": 1e8},
}
_SHORT = {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "B": 1e9}
_WORDS = "|".join(sorted(_TIMES, key=len, reverse=True))
_PERCENT = r"%|‰|(?i:per\s?cent|prozent|pour\s?cent|por\s?ciento|per\s?cento)"
_AFTER = re.compile(
    rf"""
    (?:[eE](?P<exponent>[-+]?\d{{1,4}})(?![\w]))?
    (?:\s?(?:[×x*·]|times)\s?10\s?\^\s?(?P<ten>[-+]?\d{{1,4}}))?
    (?:\s?\^\s?(?P<power>[-+]?\d{{1,4}}))?
    (?:\s?/\s?(?P<under>\d+(?:[./]\d+)*))?
    (?:\s?(?:(?i:(?P<times>{_WORDS}))|(?P<short>k|K|M|bn|B))(?![{_LETTER}\d]))?
    (?:\s?±\s?[\d.,]*\d)?
    (?:\s?\\?(?P<share>{_PERCENT}))?
    (?P<open>\s?(?:π|√|\\sqrt))?
    """,
    re.VERBOSE,
)
_WITHIN = re.compile(
    r"(?:\\(?:sqrt|overline|bar|dot|ln|log|exp|sin|cos|tan)|√)\s*[{(\[]?\Z|/\Z|\d[万萬만億亿억千천]\s?\Z"
)
"""What makes a number a part of another one."""
_CITATION = re.compile(r"\[\d{1,3}\]")
"""What a number apart in brackets may be, if there is one before."""
_COMMA = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3})+,|\d+,(?=\d(?:\d|\d{3,})?(?![\d.,])))\d")
_POINT = re.compile(r"(?<![\d.,])(?:\d{1,3}(?:,\d{3})+\.|\d+\.(?=\d(?:\d|\d{3,})?(?![\d.,])))\d")


def _usual_sign(text: str) -> str:
    """Return the decimal sign of a text by its numbers that leave no choice."""
    return "," if _COMMA.search(text) and not _POINT.search(text) else "."


def _read(run: str, sign: str, is_stated: bool) -> Number:
    """Read digits and what stands between them.

    Args:
        sign: The decimal sign where a notation leaves the choice.
        is_stated: It is certain.
    """
    if "/" in run:  # as 1 1/2
        whole, over, under = map(float, re.split("[ /\u202f]", run))
        part = over / under if under else None
        return Number(run, None if part is None else whole + part, frozenset({whole, part or 0.0}))
    if run[0] == ",":
        return _unread(run, float(f"0.{run[1:]}"))
    separators = set(run) - set("0123456789")
    if not separators:
        return Number(run, float(run))
    mark = DECIMAL if DECIMAL in run else max(".,", key=run.rfind)
    before, found, after = run.rpartition(mark)
    between = separators - {mark}
    if len(between) == 1 and run.count(mark) <= 1:
        (group,) = between
        digits = before if found else after
        if not _is_grouped(digits, group):
            return _unread(run)
        value = float("".join(re.findall(r"\d", digits)) + (f".{after}" if found else ""))
        apart = {float(run.rpartition(" ")[2].replace(",", "."))} if group == " " else set()
        return Number(run, value, frozenset(apart))
    if between or run.count(mark) > 1:
        is_whole = not between and mark in ".," and _is_grouped(run, mark)
        return Number(run, float(run.replace(mark, ""))) if is_whole else _unread(run)
    fraction, whole_number = float(f"{before or 0}.{after}"), float(before + after)
    if mark == DECIMAL or len(after) != 3 or not 1 <= len(before) <= 3 or before[0] == "0":
        return Number(run, fraction)
    value, other = (fraction, whole_number) if mark == sign else (whole_number, fraction)
    return Number(run, value, frozenset() if is_stated else frozenset({other}))


def _is_grouped(digits: str, sign: str) -> bool:
    """Return True for groups of three, or the two and three of India."""
    sign = re.escape(sign)
    in_threes, indian = rf"\d{{1,3}}(?:{sign}\d{{3}})+", rf"\d{{1,2}}(?:{sign}\d\d)+{sign}\d{{3}}"
    return re.fullmatch(f"{in_threes}|{indian}", digits) is not None


def _unread(run: str, *others: float) -> Number:
    """Return what is no single number, such as a date: each of its parts may be meant."""
    return Number(run, None, frozenset({*map(float, re.findall(r"\d+", run)), *others}))


def _with_more(number: Number, after: dict[str, str]) -> Number:
    """Add what follows the digits: powers, fractions, words for thousands, percent."""
    value, others = number.value, set(number.others)
    if "under" in after:
        parts = [float(part) for part in re.findall(r"\d+", after["under"])]
        others |= {*parts, *({value} if value is not None else ())}
        is_fraction = value is not None and after["under"].isdecimal() and parts[0] > 0
        value = value / parts[0] if value is not None and is_fraction else None
    if value is not None:
        if "power" in after:
            others.add(value)
            value = _power(value, int(after["power"]))
        factor = _power(10, int(after.get("exponent", 0)) + int(after.get("ten", 0)))
        factor *= _TIMES.get(after.get("times", "").lower(), 1)
        others = {other * factor for other in others} | ({value} if "times" in after else set())
        value *= factor
        if "short" in after:
            others.add(value * _SHORT[after["short"]])
        if "share" in after:
            others.add(value / (1000 if after["share"] == "‰" else 100))
    is_open = number.is_open or "open" in after
    value = None if is_open else value
    return replace(number, value=value, others=frozenset(others), is_open=is_open)


def _power(base: float, exponent: int) -> float:
    try:
        return float(base**exponent)
    except (OverflowError, ZeroDivisionError):
        return float("inf")


def _signed(number: Number, sign: str) -> Number:
    if sign == "±":
        known = {*number.others, *([] if number.value is None else [number.value])}
        return replace(number, value=None, others=frozenset({*known, *(-one for one in known)}))
    if sign != "-":
        return number
    value = None if number.value is None else -number.value
    return replace(number, value=value, others=frozenset(-other for other in number.others))
