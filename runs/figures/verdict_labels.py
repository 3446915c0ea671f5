"""Labels of verdicts, and untrusted texts, as pages show them."""

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from evalhub.display.hidden_signs import misleading_signs, with_hidden_signs
from evalhub.display.markup import model_markdown
from evalhub.models import CallRole
from runs.models import HumanEvaluation, Judgment

EXTENTS = {
    "UNMET": "not at all",
    "PARTIALLY_MET": "a little",
    "MODERATELY_MET": "about half",
    "MOSTLY_MET": "mostly",
    "FULLY_MET": "fully",
}
"""The five classes in words that also fit a criterion which the answer should not show."""


@dataclass(frozen=True)
class Text:
    """An untrusted text, as safe HTML, formatted and raw."""

    html: SafeString
    raw: SafeString
    misleading: int
    """Hidden signs that can make it look like another text."""

    @classmethod
    def of(cls, raw: str) -> "Text":
        # Sanitised to an allow-list of tags; escaped.
        return cls(
            html=mark_safe(model_markdown(raw)),
            raw=mark_safe(with_hidden_signs(raw)),
            misleading=misleading_signs(raw),
        )


def text_or_none(raw: str) -> Text | None:
    return Text.of(raw) if raw else None


def verdict_label(label: str, value: float | None, passed: bool | None) -> str:
    """Label a verdict on the whole: "passes (1)" where the option is a mere number."""
    if is_number(label) and passed is not None:
        return f"{'passes' if passed else 'fails'} ({label})"
    text = spelled_out(label)
    return text if value is None else f"{text or 'verdict'} · {value:.2f}"


def spelled_out(label: str) -> str:
    """Return an option's label as people read it: "mostly met" for MOSTLY_MET."""
    return label.replace("_", " ").lower() if label.isupper() and "MET" in label else label


def extent_label(label: str, value: float | None = None) -> str:
    """Label how far an answer shows a criterion: "mostly", "5 · 0.67"."""
    text = EXTENTS.get(label) or spelled_out(label)
    return text if value is None else f"{text or 'shown'} · {value:.2f}"


def evaluation_label(row: HumanEvaluation, passed: bool | None) -> str:
    """Label a human evaluation; `passed` is the verdict of one on the whole."""
    if row.criterion.key:
        return extent_label(row.option, row.value)
    return verdict_label(row.option, row.value, passed)


def is_number(label: str) -> bool:
    return label.replace(".", "", 1).isdecimal()


def repaired_by(judgment: Judgment) -> str:
    """Return the name of the repair model, if another model than the judge; else "".

    The judgment was read with its judge, and its call with the model.
    """
    call, judge = judgment.call, judgment.judge
    if call is None or judge is None or call.role != CallRole.REPAIR:
        return ""
    is_own = call.language_model_id == judge.language_model_id
    return "" if is_own else str(call.language_model)
