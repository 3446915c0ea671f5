"""Prompt for the analyst: the instruction, the figures, and the tests.

Texts of tests and answers are untrusted. They stand in fences that they cannot break out of, and
whatever in them looks like one of our ids or tags is changed until it no longer does.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from issues.judge_templates.fences import OPENING, Fenced
from reports.summaries.dimensions import BANDS, DIMENSIONS, MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.key import Key
from reports.summaries.mask import MASKS
from reports.summaries.parse import SECTIONS
from reports.summaries.reduce import cut
from reports.summaries.source_data import Case, Overview, Tally

Clean = Callable[[str], str]

_IMITATED_TAG = re.compile(rf"<(?=\s*/?\s*(?:ref|grade|{'|'.join(SECTIONS)}))", re.IGNORECASE)
_IMITATED_ID = re.compile(r"(?<![^\W_])(MK|MD|S|T|P)_(?=\d)", re.IGNORECASE)


LAYOUT = (
    "Suite All tests Tag Test model passed scored pass rate mean score errors unscored "
    "Looked for no answer none yet BEGIN END INPUT OUTPUT REFERENCE"
)
"""Words around texts and figures: a name equal to one of them cannot be withheld."""


def dimensions() -> tuple[Dimension, ...]:
    """Return the dimensions to grade: all."""
    return DIMENSIONS


def harmless(text: str) -> str:
    """Return untrusted text without anything that looks like our tags or ids."""
    return _IMITATED_ID.sub(r"\1-", _IMITATED_TAG.sub("\u2039", text))


# The instruction ---------------------------------------------------------------------------------

TASK = """\
You are an analyst. Language models answered the same tests, and judges scored their answers. You
took no part in it. Tell a person who has to choose between these models what the figures alone do
not show: where each is strong and weak, how they differ, and what they have in common.

Names are withheld. A developer is called MK_ and a number, a model MD_ and a number, a system
prompt S_, a temperature T_, a test P_. The numbers mean nothing. {masks} stand where a
text named somebody. Judge by the answers alone; do not guess who is who.

Grade every model in every one of these dimensions, over all its system prompts and temperatures:
{dimensions}

Grades go from {least} to {most}; halves are allowed.
{bands}
Write N/A where the tests give no ground for a grade. The judges' scores say whether answers were
right; a grade is your own reading of the answers.

Reply with the tags below and nothing else. Write of each kind as many as there is something to
say, the most important first, but one to four findings and one to eight topics.
<key_finding>What matters most, in one or two sentences.</key_finding>
<strength>What a model does well, and where that shows.</strength>
<weakness>What a model does badly, and where that shows.</weakness>
<pattern>What several answers have in common.</pattern>
<topic>a subject of the tests in one to three words</topic>
{form}
Refer to models and tests by a tag, with the attributes you need: {ref}. Use only numbers stated
below, or the difference or ratio of two of them."""


def instruction(key: Key) -> str:
    """Return the task and the reply format, independent of the answers."""
    names = " and ".join(f'"{mask}"' for mask in MASKS.values())
    lines = "\n".join(f"- {one.key}: {one.asks}" for one in DIMENSIONS)
    bands = "\n".join(f"- {band.low} to {band.high}, {band.title}: {band.says}" for band in BANDS)
    variant = key.variants[0]
    own = f'developer="{variant.developer}" model="{variant.model}"'
    ids = own + (f' sys="{variant.system}"' if variant.system else "")
    ids += f' temp="{variant.temperature}"' if variant.temperature else ""
    return TASK.format(
        masks=names,
        dimensions=lines,
        bands=bands,
        least=MIN_GRADE,
        most=MAX_GRADE,
        form=f'<grade {own} dimension="{DIMENSIONS[0].key}">\nREASONING: one sentence\n'
        f"SCORE: 5/{MAX_GRADE}\n</grade>",
        ref=f'<ref {ids} />, or <ref prompt="P_1" /> for a test',
    )


# The figures -------------------------------------------------------------------------------------


def overview_text(overview: Overview, clean: Clean) -> str:
    """Return the figures over all tests as tables."""
    parts = [f"Suite: {_line(overview.suite, clean)}\n\n{_table('All tests', overview.tallies)}"]
    parts += [_table(_line(f"Tag {tag.title}", clean), tag.tallies) for tag in overview.tags]
    return "\n\n".join(parts)


def _table(title: str, tallies: Iterable[Tally]) -> str:
    lines = [title, "model | passed | scored | pass rate | mean score | errors | unscored"]
    for tally in tallies:
        rate = "-" if tally.share is None else f"{tally.share:.1%}"
        lines.append(
            f"{tally.variant.label} | {tally.passed} | {tally.scored} | {rate} | "
            f"{_score(tally.score)} | {tally.errors} | {tally.unscored}"
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
