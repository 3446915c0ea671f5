"""A reviewer's input in the form of an item: saved as a draft, then submitted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from evalhub.storable import UNSTORABLE
from issues.rubrics.scoring import WHOLE_TEST
from runs.review.submission import (
    CORRECTION,
    NOTE,
    OPTION,
    REASON,
    SECONDS,
    ReviewSubmission,
    Verdict,
    field_of,
)

ALONE = (NOTE, CORRECTION, SECONDS)


@dataclass(frozen=True)
class FormInput:
    """The form's fields by name, without empty ones."""

    fields: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, sent: Mapping[str, Any]) -> Self:
        known = {name: UNSTORABLE.sub("", str(sent[name])) for name in sent if _is_field(name)}
        return cls({name: text for name, text in known.items() if text})

    def option(self, criterion: str = WHOLE_TEST) -> str:
        return self.fields.get(field_of(OPTION, criterion), "")

    def reason(self, criterion: str = WHOLE_TEST) -> str:
        return self.fields.get(field_of(REASON, criterion), "")

    @property
    def note(self) -> str:
        return self.fields.get(NOTE, "")

    @property
    def correction(self) -> str:
        return self.fields.get(CORRECTION, "")

    @property
    def seconds(self) -> int | None:
        """Seconds for which the page was visible; None if not sent."""
        text = self.fields.get(SECONDS, "")
        is_number = text.isascii() and text.isdecimal() and len(text) < 10
        return int(text) if is_number else None

    def submission(self) -> ReviewSubmission:
        """Return the submission, with a verdict on each point that has input."""
        given = (n for n, text in self.fields.items() if text.strip() and n not in ALONE)
        keys = list(dict.fromkeys(name.partition(":")[2] for name in given))
        verdicts = tuple(Verdict(key, self.option(key), self.reason(key).strip()) for key in keys)
        return ReviewSubmission(verdicts, self.note.strip(), self.correction.strip(), self.seconds)


def _is_field(name: str) -> bool:
    if UNSTORABLE.search(name):
        return False
    return name in ALONE or name.partition(":")[0] in (OPTION, REASON)
