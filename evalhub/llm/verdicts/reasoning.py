"""Splitting a model's reasoning from its answer, in every published form. Pure.

The one place for it. Every reply, of a candidate or a judge, passes `split` when it is read
(`evalhub/llm/providers/openai_replies.py`); whoever looks for something in a reply (a verdict, a
label, a draft) asks `answer_alone` for what cannot be reasoning.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from evalhub.llm.verdicts.reply_syntax import BEGUN, READINGS, is_one_object, is_verdict_begun

NAMES = r"(?:\w{1,20}[:_]|ant)?(?:think|thinking|thoughts?|reasoning)\b"
OPENING = (
    rf"<{NAMES}[^<>]{{0,100}}(?<!/)>|\[THINK\]|◁think▷|<\|begin_of_thought\|>"
    r"|<\|START_THINKING\|>|<\|inner_prefix\|>|<unused94>(?:thought\b)?|<\|channel>thought\b"
)
CLOSING = (
    rf"</{NAMES}[^<>]{{0,100}}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>"
    r"|<\|END_THINKING\|>|<\|inner_suffix\|>|<unused95>|<channel\|>"
)
MARK = re.compile(rf"(?P<opening>{OPENING})|{CLOSING}", re.IGNORECASE)
"""Marks of Qwen, DeepSeek and most others, Mistral, Kimi, OpenThinker, Cohere, Apertus, Gemma."""

ANSWER = re.compile(
    r"<\|(?:begin_of_solution|START_RESPONSE)\|>(.*?)(?:<\|(?:end_of_solution|END_RESPONSE)\|>)?",
    re.DOTALL,
)
"""An answer with marks of its own, as it may follow reasoning."""

MESSAGE = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>(\w+)([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"(.*?)(?:<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
    re.DOTALL,
)
"""A message of the harmony format: its channel, recipient and text."""

OTHER_FORMS = (
    re.compile(r"\s*analysis(?=[^\sa-z])(.*?)assistantfinal(.*)", re.DOTALL),
    re.compile(r"\s*Here(?:'s| is) my thought process:(.*?)Here(?:'s| is) my response:(.*)", re.S),
    re.compile(
        r"\s*Here are my reasoning steps:(.*?)\[BEGIN FINAL RESPONSE\](.*?)"
        r"(?:\[END FINAL RESPONSE\]\s*(?:<\|end\|>)?\s*)?",
        re.DOTALL,
    ),
)
"""Reasoning and answer of gpt-oss without its special tokens, of Granite and of Apriel."""

SENTENCE = re.compile(r"\s*(?:\Z|\n|[^\sa-z.,;:!?)])")
"""What follows a closing mark that does not stand within a sentence."""

QUOTES = frozenset("\"'`“”‘’«»")


class Split(NamedTuple):
    """Not sure: marks of reasoning were left in the answer, as they may be its own words."""

    answer: str
    reasoning: str = ""
    is_sure: bool = True


class Block(NamedTuple):
    """The place of reasoning in a text, with its marks; not sure: or of the answer's own words."""

    start: int
    end: int
    is_sure: bool
    is_closed: bool = True


def split(text: str, apart: str = "") -> Split:
    """Return answer and reasoning; `apart` is reasoning that came in a field of its own.

    Reasoning for sure is a block at the beginning, closed or not, and what stands before a closing
    mark alone, as some models' templates open the block.
    """
    found = _in_another_form(text) or _by_marks(text, bool(apart))
    reasoning = apart if found.reasoning in apart else f"{apart}\n\n{found.reasoning}".strip()
    return found._replace(reasoning=reasoning)


def answer_alone(text: str) -> str:
    """Return a reply without what is or may be reasoning; "" if a block is not closed."""
    found = _in_another_form(text)
    if found and found.is_sure:
        return found.answer
    blocks = _blocks(text, has_reasoning=False)
    return "\n".join(_outside(text, blocks)) if all(one.is_closed for one in blocks) else ""


def _by_marks(text: str, has_reasoning: bool) -> Split:
    blocks = _blocks(text, has_reasoning)
    certain = [block for block in blocks if block.is_sure]
    if not certain:
        return Split(text, is_sure=not blocks)
    inside = (MARK.sub("", text[block.start : block.end]).strip() for block in certain)
    answer = "".join(_outside(text, certain)).strip()
    marked = ANSWER.fullmatch(answer)
    return Split(
        marked[1].strip() if marked else answer,
        "\n\n".join(filter(None, inside)),
        len(certain) == len(blocks),
    )


def _outside(text: str, blocks: list[Block]) -> list[str]:
    ends, starts = [0, *(block.end for block in blocks)], [block.start for block in blocks]
    return [text[end:start] for end, start in zip(ends, [*starts, len(text)], strict=True)]


def _blocks(text: str, has_reasoning: bool) -> list[Block]:
    """Find the blocks, in order. Marks that the text quotes, or that a verdict has, are text."""
    blocks: list[Block] = []
    if is_one_object(text):
        return blocks
    said, at, depth, looks, may_be_begun, has_answer = "", 0, 0, 0, False, False
    opened, closed_at = 0, 0
    for mark in MARK.finditer(text):
        if depth:
            if not mark["opening"]:
                depth, closed_at = depth - 1, mark.end()
            elif depth > 1 or text[at : mark.start()].strip():  # else it is opened twice
                depth += 1
            if depth == 0:
                blocks.append(Block(opened, closed_at, not has_answer))
                at = closed_at
            continue
        piece = text[at : mark.start()]
        may_be_begun = may_be_begun or BEGUN.search(piece) is not None
        looks += may_be_begun
        if looks > READINGS:
            return [Block(0, len(text), is_sure=False, is_closed=False)]
        if may_be_begun and is_verdict_begun(said + piece):
            continue
        said, at = f"{said}{piece}\n", mark.end()
        has_answer = has_answer or bool(piece.strip())
        if _is_quoted(text, mark):
            has_answer = True
        elif mark["opening"]:
            opened, closed_at, depth = mark.start(), 0, 1
        else:
            is_sure = not has_answer or (not (has_reasoning or blocks) and _ends(text, mark))
            blocks.append(Block(blocks[-1].end if blocks else 0, mark.end(), is_sure))
            said, may_be_begun, has_answer = "", False, has_answer and not is_sure
    if depth:
        end = len(text) if has_answer or not closed_at else closed_at
        is_sure = not (has_answer or has_reasoning)
        blocks.append(Block(opened, end, is_sure, is_closed=False))
        if end < len(text):
            blocks.append(Block(end, len(text), is_sure=False, is_closed=False))
    return blocks


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Return whether a mark is written as code or in quotes."""
    start, end = mark.span()
    if text[start - 1 : start] in QUOTES and text[end : end + 1] in QUOTES:
        return True
    if "`" not in text:
        return False
    line = text.rfind("\n", 0, start) + 1
    if text.count("`", line, start) % 2:
        return True
    return text.find("```", end) > 0 and text.count("```", 0, start) % 2 == 1


def _ends(text: str, mark: re.Match[str]) -> bool:
    """Return whether a closing mark alone stands between sentences, not within one."""
    before = text[max(0, mark.start() - 1) : mark.start()]
    is_sentence = re.fullmatch(r"[^\w\s,]|\n", before) is not None
    return is_sentence and SENTENCE.match(text, mark.end()) is not None


def _in_another_form(text: str) -> Split | None:
    """Split the messages of gpt-oss, or a form of words; None if a text has neither."""
    if messages := list(MESSAGE.finditer(text)):
        before = text[: messages[0].start()].strip()
        head, _, rest = before.rpartition("<|end|>")
        is_whole = all(one.end() == next.start() for one, next in pairwise(messages))
        if rest or not is_whole or is_one_object(text) or is_verdict_begun(head):
            return Split(text, is_sure=False)
        said = [(one[1], one[2].strip(), one[3].strip()) for one in messages]
        answer = [words for channel, to, words in said if channel != "analysis" and not to]
        calls = [one[0] for one in messages if one[1] != "analysis" and one[2].strip()]
        reasoning = [head, *(words for channel, _, words in said if channel == "analysis")]
        return Split(
            "\n\n".join([*answer, *calls]), "\n\n".join(filter(None, reasoning)), not calls
        )
    for form in OTHER_FORMS:
        if found := form.fullmatch(text):
            return Split(found[2].strip(), found[1].strip())
    return None
