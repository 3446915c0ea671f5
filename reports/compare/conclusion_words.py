"""How a conclusion is said: the only place, for pages, mails, notifications and the gate. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10

from evalhub.display.formatting import counted, few, listed, p_value, points
from evalhub.statistics.changes.conclusion import Conclusion, Reading, Word
from evalhub.statistics.changes.lost_issues import LostIssue, LostIssues
from reports.compare.rule import Tally

BY_JUDGES: Mapping[Word, str] = {
    Word.WORSE: "judges rate it worse",
    Word.BETTER: "judges rate it better",
    Word.MIXED: "mixed: judges rate it better on the whole, and issues were lost",
    Word.SAME: "no outcome changed",
    Word.CANNOT_TELL: "cannot tell",
    Word.NOTHING: "nothing to compare",
}
"""Each conclusion where only judges have spoken."""

OF_MODEL: Mapping[Word, str] = {
    Word.WORSE: "judges rate {} worse",
    Word.BETTER: "judges rate {} better",
    Word.MIXED: "mixed: judges rate {} better on the whole, and issues were lost",
    Word.SAME: "no outcome of {} changed",
    Word.CANNOT_TELL: "cannot tell of {}",
    Word.NOTHING: "nothing of {} to compare",
}
"""The same of a model that is named."""


ACROSS: Mapping[Word, str] = {
    **BY_JUDGES,
    Word.WORSE: "judges rate it lower",
    Word.BETTER: "judges rate it higher",
    Word.MIXED: "mixed: judges rate it higher on the whole, and issues lower",
}
"""The same of two models: one of them became neither worse nor better."""

IN_PICTURE: dict[Word, str] = {
    Word.WORSE: "worse",
    Word.BETTER: "better",
    Word.MIXED: "mixed",
    Word.SAME: "same outcomes",
    Word.CANNOT_TELL: "cannot tell",
}
"""The shortest words, beside a picture that says that judges conclude."""

ACROSS_IN_PICTURE = IN_PICTURE | {Word.WORSE: "lower", Word.BETTER: "higher"}

NAMED = 4
"""Issues that a sentence names."""

BY_JUDGES_ALONE = "By judges alone: no verdict of a person counts in a comparison."
"""What every conclusion rests on."""

FALSE_WORSE = 0.032
"""Largest share of unchanged pairs that are called worse (`dev.py bench validity change`)."""

RARELY = 10_000
"""Chances below one in so many are not told apart."""


def headline(found: Conclusion | None, tally: Tally, *, across: str = "") -> str:
    """Return the conclusion with its counts; None: not computed yet.

    Args:
        across: Two models, such as "clover against aurora"; "" for a model against itself.
    """
    if across:
        said = headline(found, tally)
        if found:
            was, word = (words[found.word].capitalize() for words in (BY_JUDGES, ACROSS))
            said = said.replace(was, word, 1)
        return f"{across}: {said[0].lower()}{said[1:]}"
    counts = f"lost {tally.worse:,}, won {tally.better:,} of the same {counted(tally.n, 'test')}"
    if found is None:
        return f"{counts.capitalize()}."
    word = BY_JUDGES[found.word].capitalize()
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
    return f"Yes{of_these}: by chance {_once_in(_p(found, reading))}."


def _p(found: Conclusion, reading: Reading) -> float:
    """Return the p of the conclusion: a loss may be one on the whole, or of issues."""
    whole = 1.0 if found.p is None else found.p
    issues = min(1.0, 2 * (found.against_old or reading).lost.p)
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
    said = headline(found, tally)
    return said[0].lower() + said[1:]


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
    said = f"Judgments or answers are missing {listed(lacking)}"
    if found.would_say:
        return f"{said}: without them {BY_JUDGES[found.would_say]}. Retry them."
    if found.may_hide_loss:
        return f"{said}, which could hide a loss. Retry them."
    return f"{said}; the conclusion holds whatever they are."


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
        said = "Also lost, may be chance" if losses.found else "Lost, none sure by itself"
        yield f"{said}: {_named(losses.others, titles)}."


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
    if reading is None or interval is None or p is None:
        return
    net = reading.net
    yield BY_JUDGES_ALONE
    yield (
        f"Net change {points(net.change)} over {counted(net.tests, 'test')} of "
        f"{counted(net.issues, 'issue')} (95% {points(interval.low)} to {points(interval.high)}); "
        f"{is_p(p)} ({net.method}); "
        f"issues lost: {is_p(reading.lost.p)} (at most {reading.lost.level / 2:g} is sure)."
    )
    if net.is_sure and not net.accounts_for_issues:
        issues = counted(net.issues, "issue")
        yield f"These tests surely changed. Whether other issues would, {issues} cannot show."


def is_p(p: float) -> str:
    text = p_value(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"
