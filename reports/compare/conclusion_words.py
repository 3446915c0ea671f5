"""How a conclusion is said: the only place, for pages, mails, notifications and the gate. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10

from evalhub.display.formatting import counted, few, listed, p_value, points
from evalhub.statistics.changes.conclusion import Basis, Conclusion, Word
from evalhub.statistics.changes.lost_issues import LostIssue, LostIssues
from reports.compare.rule import Tally

WORDS: Mapping[Basis, Mapping[Word, str]] = {
    Basis.JUDGES: {
        Word.WORSE: "judges rate it worse",
        Word.BETTER: "judges rate it better",
        Word.MIXED: "mixed: judges rate it better on the whole, and issues were lost",
        Word.SAME: "no outcome changed",
        Word.CANNOT_TELL: "cannot tell",
        Word.NOTHING: "nothing to compare",
    },
    Basis.PEOPLE: {
        Word.WORSE: "worse",
        Word.BETTER: "better",
        Word.MIXED: "mixed: better on the whole, and issues were lost",
        Word.SAME: "no outcome changed",
        Word.CANNOT_TELL: "cannot tell",
        Word.NOTHING: "nothing to compare",
    },
}
"""Each conclusion by its basis: a plain word only where people's readings carry it."""

ACROSS: Mapping[Basis, Mapping[Word, str]] = {
    Basis.JUDGES: {
        Word.WORSE: "judges rate it lower",
        Word.BETTER: "judges rate it higher",
        Word.MIXED: "mixed: judges rate it higher on the whole, and issues lower",
    },
    Basis.PEOPLE: {
        Word.WORSE: "lower",
        Word.BETTER: "higher",
        Word.MIXED: "mixed: higher on the whole, and issues lower",
    },
}
"""The same of two models: one of them became neither worse nor better."""

OF_MODELS: Mapping[Basis, Mapping[Word, str]] = {
    Basis.JUDGES: {
        Word.WORSE: "judges rate {names} worse",
        Word.MIXED: "mixed: judges rate {names} better on the whole, and issues were lost",
        Word.BETTER: "judges rate {names} better",
        Word.CANNOT_TELL: "cannot tell about {names}",
        Word.SAME: "no outcome of {names} changed",
        Word.NOTHING: "nothing to compare of {names}",
    },
    Basis.PEOPLE: {
        Word.WORSE: "{names} {be} worse",
        Word.MIXED: "mixed: {names} {be} better on the whole, and issues were lost",
        Word.BETTER: "{names} {be} better",
        Word.CANNOT_TELL: "cannot tell about {names}",
        Word.SAME: "no outcome of {names} changed",
        Word.NOTHING: "nothing to compare of {names}",
    },
}
"""The same of models that are named, losses first."""

IN_PICTURE: dict[Word, str] = {
    Word.WORSE: "worse",
    Word.BETTER: "better",
    Word.MIXED: "mixed",
    Word.SAME: "same outcomes",
    Word.CANNOT_TELL: "cannot tell",
}
"""The shortest words, beside a picture that says whose verdicts it rests on."""

ACROSS_IN_PICTURE = IN_PICTURE | {Word.WORSE: "lower", Word.BETTER: "higher"}

NAMED = 4
"""Issues that a sentence names."""

RESTS_ON: Mapping[Basis, str] = {
    Basis.JUDGES: "By judges alone: no verdict of a person counts in a comparison.",
    Basis.PEOPLE: "By people’s readings, which judges’ verdicts make more precise.",
}
"""What a conclusion rests on, as a sentence."""

FALSE_WORSE = 0.032
"""Largest share of unchanged pairs that are called worse (`dev.py bench validity change`)."""

RARELY = 10_000
"""Chances below one in so many are not told apart."""


def said(found: Conclusion, *, across: bool = False) -> str:
    """Return the conclusion in a few words; `across` two models, of which none changed."""
    words = WORDS[found.basis]
    return (ACROSS[found.basis] if across else words).get(found.word, words[found.word])


def said_of(names: Sequence[str], word: Word, basis: Basis, *, most: int | None = None) -> str:
    """Return a conclusion on these models; above `most`, the others are counted."""
    some = few(names, most=most) if most and len(names) > most else listed(names)
    return OF_MODELS[basis][word].format(names=some, be="is" if len(names) == 1 else "are")


def headline(found: Conclusion | None, tally: Tally, *, across: str = "") -> str:
    """Return the conclusion with its counts; None: not computed yet.

    Args:
        across: Two models, such as "clover against aurora"; "" for a model against itself.
    """
    if across:
        text = headline(found, tally)
        if found:
            text = text.replace(said(found).capitalize(), said(found, across=True), 1)
        return f"{across}: {text[0].lower()}{text[1:]}"
    counts = f"lost {tally.worse:,}, won {tally.better:,} of the same {counted(tally.n, 'test')}"
    if found is None:
        return f"{counts.capitalize()}."
    word = said(found).capitalize()
    if found.word == Word.NOTHING:
        return f"{word}: no test is scored in both runs."
    if found.word == Word.SAME:
        return f"{word} in {counted(tally.n, 'test')}.{excluded(found)}"
    return f"{word}: {counts}.{excluded(found) if found.word == Word.CANNOT_TELL else ''}"


def chance(found: Conclusion) -> str:
    """Return how sure the conclusion is, without statistics; what is missing comes first."""
    reading = found.reading
    if reading is None:
        return ""
    if found.would_say or found.may_hide_loss:
        missing_ = found.missing_old + found.missing_new
        return f"No: judgments or answers are missing behind {counted(missing_, 'test')}."
    if found.word == Word.SAME:
        return f"As far as {counted(reading.net.tests, 'test')} can tell.{excluded(found)}"
    if found.word == Word.CANNOT_TELL:
        return f"No.{excluded(found)}"
    of_these = "" if reading.net.accounts_for_issues else ", of these tests"
    return f"Yes{of_these}: by chance {_once_in(deciding_p(found))}."


def deciding_p(found: Conclusion) -> float:
    """Return the p of the conclusion, held against the level; 1 where nothing is compared.

    A loss may be one on the whole, or of issues, whose level is half of it.
    """
    whole = 1.0 if found.p is None else found.p
    issues = min(1.0, 2 * found.against_old.lost.p) if found.against_old else 1.0
    if found.word == Word.BETTER:
        return whole
    return max(whole, issues) if found.word == Word.MIXED else min(whole, issues)


def _once_in(p: float) -> str:
    times = 1 / max(p, 1e-9)
    if times > RARELY:
        return f"less than once in {RARELY:,} times"
    digits = max(0, floor(log10(times)) - 1)
    return f"about once in {round(times, -digits):,.0f} times"


def in_line(found: Conclusion, tally: Tally) -> str:
    """Return the headline as the end of a sentence."""
    text = headline(found, tally)
    return text[0].lower() + text[1:]


def family(k: int, one: str) -> str:
    """Return how often chance alone would call one of so many pairs worse; "" for a single one."""
    if k < 2:
        return ""
    often = max(2, round(1 / (k * FALSE_WORSE)))
    return f"{counted(k, one)}: by chance alone one is called worse at most every {often}th time."


def first_run(release: str, runs: int) -> str:
    """Return what is said where nothing ran before; a run without a release has ""."""
    if not release:
        return "Nothing to compare yet: the next run will be compared with this one."
    first = "First run" if runs == 1 else "First runs"
    return f"{first} of {release}. The next release will be compared with it."


def excluded(found: Conclusion) -> str:
    """Return the loss that is excluded, as a sentence; "" where nothing is."""
    interval = found.interval
    if interval is None:
        return ""
    if interval.low >= 0:
        return " Any loss is excluded."
    return f" A loss of more than {-100 * interval.low:.1f} points is excluded."


def missing(found: Conclusion, first: str, second: str) -> str:
    """Return what is missing on either side, and what it hides; "" where nothing is."""
    sides = [(found.missing_old, first), (found.missing_new, second)]
    lacking = [f"behind {counted(n, 'test')} of {name}" for n, name in sides if n]
    if not lacking:
        return ""
    text = f"Judgments or answers are missing {listed(lacking)}"
    if found.would_say:
        return f"{text}: without them {WORDS[found.basis][found.would_say]}. Retry them."
    if found.may_hide_loss:
        return f"{text}, which could hide a loss. Retry them."
    return f"{text}; the conclusion holds whatever they are."


def lost(found: Conclusion, titles: Mapping[int, str], *, in_short: bool = False) -> Iterator[str]:
    """Yield the issues that were lost for sure, together, and maybe by chance.

    Args:
        in_short: Without those that may be chance, where any were surely lost.
    """
    reading = found.against_old if found.word.is_loss else found.reading
    if reading is None:
        return
    losses: LostIssues = reading.lost
    if named := losses.found[: losses.named]:
        yield f"Lost for sure: {_named(named, titles)}."
    if together := losses.found[losses.named :]:
        is_single = len(together) == 1 and not named
        rest = "" if is_single else ": not sure one by one, sure together"
        yield f"Lost: {_named(together, titles)}{rest}."
    if losses.others and not (in_short and losses.found):
        what = "Also lost, may be chance" if losses.found else "Lost, none sure by itself"
        yield f"{what}: {_named(losses.others, titles)}."


def _named(issues: Sequence[LostIssue], titles: Mapping[int, str]) -> str:
    return few(
        [
            f"“{titles.get(one.issue, f'issue {one.issue}')}” ({one.lost:.3g} of {one.tests:,})"
            for one in issues
        ],
        most=NAMED,
    )


def how_sure(found: Conclusion) -> Iterator[str]:
    """Yield method, p and interval of the conclusion, and what they do not account for."""
    reading, interval, p = found.reading, found.interval, found.p
    if reading is None or found.against_old is None or interval is None or p is None:
        return
    net, lost_ = reading.net, found.against_old.lost
    yield RESTS_ON[found.basis]
    yield (
        f"Net change {points(net.change)} over {counted(net.tests, 'test')} of "
        f"{counted(net.issues, 'issue')} (95% {points(interval.low)} to {points(interval.high)}); "
        f"{is_p(p)} ({net.method}); "
        f"issues lost: {is_p(lost_.p)} (at most {lost_.level / 2:g} is sure)."
    )
    if net.is_sure and not net.accounts_for_issues:
        issues = counted(net.issues, "issue")
        yield f"These tests surely changed. Whether other issues would, {issues} cannot show."


def is_p(p: float) -> str:
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
