"""Prompt for the analyst: the instruction, the figures, and the tests.

Texts of tests and answers are untrusted. They stand in fences that they cannot break out of, and
whatever in them looks like one of our ids or tags is changed until it no longer does.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from issues.judge_templates.fences import OPENING, Fenced
from reports.summaries.dimensions import BANDS, DIMENSIONS, MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.figure_table import ALL_TESTS, Measure
from reports.summaries.key import Key
from reports.summaries.mask import MASKS
from reports.summaries.parse import KINDS
from reports.summaries.reduce import cut
from reports.summaries.reply_form import grades_form, list_of, object_of
from reports.summaries.source_data import Case, Group, Overview

Clean = Callable[[str], str]

_IMITATED_TAG = re.compile(r"<(?=\s*/?\s*ref)", re.IGNORECASE)
_IMITATED_ID = re.compile(r"(?<![^\W_])(MK|MD|S|T|P|G)_(?=\d)", re.IGNORECASE)
_IMITATED_PLACE = re.compile(r"\{(?=\s*c\s*\d)", re.IGNORECASE)

LAYOUT = (
    "Suite All tests Tag Test model passed scored pass_rate mean_score errors unscored "
    "Looked for no answer none yet BEGIN END INPUT OUTPUT REFERENCE"
)
"""Words around texts and figures: a name equal to one of them cannot be withheld."""


def dimensions() -> tuple[Dimension, ...]:
    """Return the dimensions to grade: all."""
    return DIMENSIONS


def harmless(text: str) -> str:
    """Return untrusted text without anything that looks like our tags, ids or places of claims."""
    return _IMITATED_PLACE.sub("(", _IMITATED_ID.sub(r"\1-", _IMITATED_TAG.sub("\u2039", text)))


# The instruction ---------------------------------------------------------------------------------

TASK = """\
You are an analyst. Language models answered the same tests, and judges scored their answers. You
took no part in it. Tell a person who has to choose between these models what the figures alone do
not show: where each is strong and weak, how they differ, and what they have in common.

Names are withheld. A developer is called MK_ and a number, a model MD_ and a number, a system
prompt S_, a temperature T_, a test P_, a group of tests G_. The numbers mean nothing. {masks}
stand where a text named somebody. Judge by the answers alone; do not guess who is who.

Grade every model in every one of these dimensions, over all its system prompts and temperatures:
{dimensions}

Grades go from {least} to {most}; halves are allowed.
{bands}
Give null where the tests give no ground for a grade. The judges' scores say whether answers were
right; a grade is your own reading of the answers.

Reply with one JSON object and nothing else, in this form:
{form}

findings: what matters most, one to four of them. strengths and weaknesses: what a model does well
or badly, and where that shows. patterns: what several answers have in common. topics: subjects of
the tests in one to three words, one to eight of them. Write of each as many as there is something
to say, the most important first, each in one or two sentences.

A text holds no figure. Write no digit, number word, percentage, fraction, ratio or rank into it,
and nothing like "better", "ahead" or "all": any of these in a text is shown as
unsupported. A figure is a claim instead. It names a cell of the tables below, {{c1}} is its place
in the text, and the name of the model with the figure from that cell is written there, as in
"MD_6127 (72.5 % of 40 passed)". So do not name the model beside it again.
- model: as in the row, with sys and temp if it has them; group: the id of the table
- measure: {measures}
- value: the figure as that cell has it, rates in percent; it is compared with the cell
- difference: the pass_rate of the model in the group minus the pass_rate of other_model in
  other_group, in points, below zero if it is less; null there means the same model or group.
  Whatever calls one model better than another needs it.
Refer to models and tests elsewhere by a tag, with the attributes you need: {ref}."""


def instruction(key: Key) -> str:
    """Return the task and the reply format, independent of the answers."""
    names = " and ".join(f'"{mask}"' for mask in MASKS.values())
    lines = "\n".join(f"- {one.key}: {one.asks}" for one in DIMENSIONS)
    bands = "\n".join(f"- {band.low} to {band.high}, {band.title}: {band.says}" for band in BANDS)
    variant = key.variants[0]
    ids = f'developer="{variant.developer}" model="{variant.model}"'
    ids += f' sys="{variant.system}"' if variant.system else ""
    ids += f' temp="{variant.temperature}"' if variant.temperature else ""
    return TASK.format(
        masks=names,
        dimensions=lines,
        bands=bands,
        least=MIN_GRADE,
        most=MAX_GRADE,
        form=_example(key),
        measures=", ".join(Measure),
        ref=f'<ref {ids} />, or <ref prompt="P_1" /> for a test',
    )


def _example(key: Key) -> str:
    variant = key.variants[0]
    claim = {
        "id": "c1",
        "model": variant.label,
        "group": ALL_TESTS,
        "measure": str(Measure.PASS_RATE),
        "value": 50.0,
        "other_model": None,
        "other_group": None,
    }
    grade = {
        "model": variant.model,
        "dimension": DIMENSIONS[0].key,
        "reasoning": "one sentence without figures",
        "score": 5,
    }
    text = {"text": "{c1} guesses where dates are asked.", "claims": [claim]}
    lines = [f'"findings": [{json.dumps(text)}]', *(f'"{name}": []' for name in KINDS[1:])]
    lines += ['"topics": ["a subject"]', f'"grades": [{json.dumps(grade)}]']
    return "{" + ",\n ".join(lines) + "}"


def schema(key: Key) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    text, absent = {"type": "string"}, {"type": ["string", "null"]}
    claim = object_of(
        id=text,
        model=text,
        group={"type": "string", "enum": list(key.groups) or [ALL_TESTS]},
        measure={"type": "string", "enum": list(Measure)},
        value={"type": "number"},
        other_model=absent,
        other_group=absent,
    )
    statements = list_of(object_of(text=text, claims=list_of(claim)))
    return object_of(
        **dict.fromkeys(KINDS, statements),
        topics=list_of(text),
        grades=list_of(grades_form(key, DIMENSIONS)),
    )


# The figures -------------------------------------------------------------------------------------


def overview_text(overview: Overview, clean: Clean) -> str:
    """Return the figures over all tests and by tag as tables, each with the id of its group."""
    tables = [_table(group, overview, clean) for group in overview.groups]
    return "\n\n".join([f"Suite: {_line(overview.suite, clean)}", *tables])


def _table(group: Group, overview: Overview, clean: Clean) -> str:
    title = group.title if group.id == ALL_TESTS else _line(f"Tag {group.title}", clean)
    columns = "model | passed | scored | pass_rate | mean_score | errors | unscored"
    lines = [f"{group.id}: {title}", columns]
    for variant, cell in zip(overview.variants, group.cells, strict=True):
        rate = "-" if cell.share is None else f"{cell.share:.1%}"
        lines.append(
            f"{variant.label} | {cell.passed} | {cell.scored} | {rate} | "
            f"{_score(cell.score)} | {cell.errors} | {cell.unscored}"
        )
    return "\n".join(lines)


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


def _line(text: str, clean: Clean) -> str:
    return clean(" ".join(text.split()))


# The tests ---------------------------------------------------------------------------------------


def case_text(case: Case, name: str, *, limit: int | None, nonce: str, clean: Clean) -> str:
    """Return a test with its answers.

    Args:
        name: The test's id.
        limit: Characters to which each text is cut; None: none is.
        clean: Makes a text of others anonymous and harmless.
    """

    def fenced(name: str, text: str) -> str:
        return Fenced(cut(clean(text), limit), name=name, nonce=nonce).block()

    # Tags, issue and criteria may be imported, so they are as untrusted as answers.
    about = [_line(", ".join([*case.tags, case.issue]), clean)]
    if case.looked_for:
        points = (f"- {cut(_line(point, clean), limit)}" for point in case.looked_for)
        about += ["Looked for:", *points]
    context = Fenced("\n".join(about), name="context", nonce=nonce).block()
    parts = [f"Test {name}", context, fenced("input", case.prompt)]
    if case.reference:
        parts.append(fenced("reference", case.reference))
    for one in case.answers:
        head = (
            f"{one.variant.label}: passed {one.passed} of {one.scored}, score {_score(one.score)}"
        )
        parts.append(f"{head}; no answer ({one.failure})" if one.failure else head)
        if not one.failure:
            parts.append(fenced("output", one.text))
    return "\n".join(parts) + "\n"


def messages(key: Key, head: str, cases: Sequence[str], nonce: str) -> list[dict[str, str]]:
    """Return the message to send: instruction, figures, tests, and the closing request.

    Args:
        head: Result of `overview_text`.
        cases: Results of `case_text`.
    """
    models = "\n".join(sorted({f"- {one.developer}/{one.model}" for one in key.variants}))
    request = f"Grade these models, {len(DIMENSIONS)} grades each:\n{models}"
    parts = [instruction(key), OPENING.format(nonce=nonce), head, *cases, request]
    return [{"role": "user", "content": "\n\n".join(parts)}]
