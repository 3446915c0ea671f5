"""Requests to the models that write a benchmark, and the texts of their replies. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalhub.llm.verdicts.reasoning import answer_alone
from issues.drafting.prompts import Form, Message, Request
from issues.judge_templates.fences import OPENING, Fenced, nonce_of
from runs.laboratory.trials.generation.graph import ROOT, ArtifactKind

MAX_NAME = 120
MAX_STATEMENT = 400
MAX_TITLE = 120
SHOWN = 200
"""Earlier ideas or topics that a prompt lists, so that they are not repeated."""

FENCE = re.compile(r"```[^\n`]*\n(.*?)(?:\n?```|\Z)", re.DOTALL)

KINDS_OF_TOPIC = {
    "domain": "a domain of problems",
    "application": "a kind of application",
    "statements": "a domain of statements of programming languages",
}


class TopicFacts(NamedTuple):
    """A topic as a prompt names it; `kind` is a value of `TopicKind`."""

    title: str
    kind: str
    is_cluster: bool


def topics_request(known: Sequence[str], outside: Sequence[str], wanted: int) -> Request:
    """Ask for topics that complete a list. `outside` are examples that no topic covers."""
    form = Form({f"topic {n}": MAX_TITLE for n in range(1, wanted + 1)})
    lines = [f"- {title}" for title in known[:SHOWN]]
    examples = [f"- {example}" for example in outside]
    prompt = f"""\
A benchmark shall cover the programs that developers write. So far it has these categories:
{chr(10).join(lines) or "(none)"}

These examples fit none of them:
{chr(10).join(examples) or "(none given)"}

Complete the list: name {wanted} more categories. Each is a few words, differs from those above,
and the examples fit into the new ones.

{form.as_text()}"""
    return Request("topics", [_user(prompt)], form)


def ideas_request(
    topic: TopicFacts, known: Sequence[str], wanted: int, perturbation: Mapping[str, str]
) -> Request:
    """Ask for ideas of a topic. `known` are names that must not be repeated."""
    limits: dict[str, int] = {}
    for n in range(1, wanted + 1):
        limits |= {f"name {n}": MAX_NAME, f"idea {n}": MAX_STATEMENT}
    form = Form(limits)
    relation = (
        "The programs are closely related, such as several ways to do one thing, but no two are "
        "the same."
        if topic.is_cluster
        else "The programs differ clearly from each other."
    )
    earlier = ", ".join(known[:SHOWN])
    prompt = f"""\
Propose {wanted} small programs on this topic: {topic.title} ({KINDS_OF_TOPIC[topic.kind]}).
{relation}
{f"Do not repeat: {earlier}." if earlier else ""}
{perturbation.get("instruction", "")}
For each give a short name, and the idea in one sentence that begins with "Write a program that".
Name no programming language.

{form.as_text()}"""
    return Request("ideas", [_user(prompt)], form)


def root_messages(
    kind: ArtifactKind, statement: str, perturbation: Mapping[str, str]
) -> list[Message]:
    """Ask for the first text of a path, from an idea."""
    task = (
        "Describe a program so completely that it can be written in any programming language. "
        "Say what it takes and what it returns or prints, then list its steps with numbers. Name "
        "no language and show no code."
        if kind.key == ROOT
        else f"Write this as {with_article(kind)}."
    )
    more = perturbation.get("instruction", "")
    prompt = f"{task}\n{more}\n\nThe idea: {statement}\n\n{_only(kind)}"
    return [_user(prompt)]


def artifact_messages(source: ArtifactKind, target: ArtifactKind, text: str) -> list[Message]:
    """Ask for the next text of a path, from the one before it."""
    nonce = nonce_of({"text": text})
    prompt = f"""\
{_task(source, target)}

{OPENING.format(nonce=nonce)}
{Fenced(text, name="input", nonce=nonce).block()}

{_only(target)}"""
    return [_user(prompt)]


def _task(source: ArtifactKind, target: ArtifactKind) -> str:
    if source.is_code and target.is_code:
        return f"Translate this {source.language} program to {target.language}. Keep all it does."
    if target.is_code:
        return f"Write the program that is described here in {target.language}."
    if target.key == ROOT:
        return (
            "Describe the program so completely that it can be written in any programming "
            "language: what it takes, what it returns or prints, and its steps with numbers. "
            "Leave out all details of its implementation."
        )
    if target.key == "summary":
        return (
            "Summarise this in detail: its purpose, its inputs and outputs, and what each part "
            "does, with the important details of the implementation."
        )
    if target.key == "explanation":
        return "Explain this to a programmer who is new to it, step by step."
    return f"Write {with_article(target)} of this."


def with_article(kind: ArtifactKind) -> str:
    if kind.is_code:
        return f"a program in {kind.language}"
    return f"{'an' if kind.label[:1].lower() in 'aeiou' else 'a'} {kind.label}"


def _only(kind: ArtifactKind) -> str:
    if kind.is_code:
        return "Reply with the complete program in one code block and nothing else."
    return "Reply with the text and nothing else."


def text_of_reply(reply: str, kind: ArtifactKind) -> str:
    """Return the artifact in a reply: of a program its longest code block, if it has one."""
    text = answer_alone(reply).strip()
    if not kind.is_code:
        return text
    blocks = [found.group(1) for found in FENCE.finditer(text)]
    return max(blocks, key=len).strip("\n") if blocks else text


def _user(prompt: str) -> Message:
    return {"role": "user", "content": prompt}
