"""Prompt for the analyst: the instruction, the figures, and the tests.

Texts of tests and answers are untrusted. They stand in fences that they cannot break out of, and
whatever in them looks like one of our ids or tags is changed until it no longer does.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from issues.judge_templates.fences import OPENING, Fenced
from reports.summaries.dimensions import BANDS, DIMENSIONS, MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.key import Key, Variant
from reports.summaries.mask import MASKS
from reports.summaries.parse import SECTIONS
from reports.summaries.reduce import cut
from reports.summaries.source_data import Case, Overview, Tally, VariantAnswer

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
    return TASK.format(
        masks=names,
        dimensions=lines,
        bands=bands,
        least=MIN_GRADE,
        most=MAX_GRADE,
        form=_form(variant.developer, variant.model, DIMENSIONS[0].key),
        ref=_reference(variant),
    )


def _form(developer: str, model: str, dimension: str) -> str:
    return (
        f'<grade developer="{developer}" model="{model}" dimension="{dimension}">\n'
        "REASONING: one sentence\n"
        f"SCORE: 5/{MAX_GRADE}\n"
        "</grade>"
    )


def _reference(variant: Variant) -> str:
    named = {
        "developer": variant.developer,
        "model": variant.model,
        "sys": variant.system,
        "temp": variant.temperature,
    }
    said = " ".join(f'{name}="{value}"' for name, value in named.items() if value)
    return f'<ref {said} />, or <ref prompt="P_1" /> for a test'


def request(key: Key) -> str:
    """Return the closing request: the models to grade."""
    models = sorted({f"- {one.developer}/{one.model}" for one in key.variants})
    return f"Grade these models, {len(DIMENSIONS)} grades each:\n" + "\n".join(models)


# The figures -------------------------------------------------------------------------------------


def overview_text(overview: Overview, clean: Clean) -> str:
    """Return the figures over all tests as tables."""
    parts = [f"Suite: {_line(overview.suite, clean)}\n\n{_table('All tests', overview.tallies)}"]
    parts += [_table(_line(f"Tag {tag.title}", clean), tag.tallies) for tag in overview.tags]
    return "\n\n".join(parts)


def _table(title: str, tallies: Iterable[Tally]) -> str:
    head = f"{title}\nmodel | passed | scored | pass rate | mean score | errors | unscored"
    return "\n".join([head, *(_row(tally) for tally in tallies)])


def _row(tally: Tally) -> str:
    cells = (
        tally.variant.label,
        str(tally.passed),
        str(tally.scored),
        "-" if tally.share is None else f"{tally.share:.1%}",
        _score(tally.score),
        str(tally.errors),
        str(tally.unscored),
    )
    return " | ".join(cells)


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
    parts = [
        f"Test {name}",
        Fenced(_about(case, limit, clean), name="context", nonce=nonce).block(),
        _fenced("input", case.asked, limit, nonce, clean),
    ]
    if case.reference:
        parts.append(_fenced("reference", case.reference, limit, nonce, clean))
    parts += [_said(said, limit, nonce, clean) for said in case.said]
    return "\n".join(parts) + "\n"


def _about(case: Case, limit: int | None, clean: Clean) -> str:
    """Return tags, issue and criteria: possibly imported, so as untrusted as answers."""
    lines = [_line(", ".join([*case.tags, case.issue]), clean)]
    if case.looked_for:
        points = (f"- {cut(_line(point, clean), limit)}" for point in case.looked_for)
        lines += ["Looked for:", *points]
    return "\n".join(lines)


def _said(said: VariantAnswer, limit: int | None, nonce: str, clean: Clean) -> str:
    counted = f"passed {said.passed} of {said.scored}, score {_score(said.score)}"
    head = f"{said.variant.label}: {counted}"
    if said.failure:
        return f"{head}; no answer ({said.failure})"
    return f"{head}\n{_fenced('output', said.text, limit, nonce, clean)}"


def _fenced(name: str, text: str, limit: int | None, nonce: str, clean: Clean) -> str:
    return Fenced(cut(clean(text), limit), name=name, nonce=nonce).block()


def messages(key: Key, head: str, cases: Sequence[str], nonce: str) -> list[dict[str, str]]:
    """Return the message to send: instruction, figures, tests, and the closing request.

    Args:
        head: Result of `overview_text`.
        cases: Results of `case_text`.
    """
    parts = [instruction(key), OPENING.format(nonce=nonce), head, *cases, request(key)]
    return [{"role": "user", "content": "\n\n".join(parts)}]
