"""Texts and question of a claim as judges see them, with no sign of whether it is true."""

from dataclasses import dataclass

from evalhub.llm.completion import AnswerTurn
from issues.judge_templates.pairwise_prompt import PairCase
from runs.judging.prompts import JudgedAnswer
from runs.laboratory.trials.claims.claim_rule import Kind

_WHOLE = (
    "Compare the two texts as a whole: do they describe the same program, apart from details of "
    "its implementation?"
)
_QUESTIONS = {
    Kind.DESCRIBES: (
        "One of the texts describes a program to be written, the other an existing one. "
        "Are they the same program? Details of the implementation are in one of them only."
    ),
    Kind.PART: (
        "Both texts describe several programs. Compare only what they say about this one: {part}. "
        "Leave out all others, and the order in which they are called."
    ),
    Kind.CONTEXT: (
        "One of the texts describes a single program, the other several. Compare the first with "
        "what the other says about this one: {part}. Leave out all others."
    ),
    Kind.LABELLED: "Compare the two texts as a whole: do they mean the same?",
}
RANKED_BY = "Prefer the answer that reflects the described program more faithfully."


@dataclass(frozen=True)
class ClaimTexts:
    """A claim's texts in the order in which they are shown.

    Attributes:
        part: The name of the program that a claim on a part is about; "" for whole texts.
        anchor: The description by which two texts are ranked; "" otherwise.
    """

    kind: str
    first: str
    second: str
    part: str = ""
    anchor: str = ""

    @property
    def question(self) -> str:
        return _QUESTIONS.get(Kind(self.kind), _WHOLE).format(part=self.part)

    @property
    def pair(self) -> PairCase:
        """Return the request for the better of two texts, of a rank claim."""
        return PairCase(self.anchor, self.first, self.second, criterion=RANKED_BY)

    def case(self, *, has_reference: bool) -> JudgedAnswer:
        """Return the claim as a judge template shows it.

        Args:
            has_reference: The template shows a reference: the first text is there, and the input
                says what to compare. Otherwise the first text is the input.
        """
        content = {
            "messages": [
                {"role": "user", "content": self.question if has_reference else self.first}
            ],
            "reference": self.first if has_reference else "",
            "guidelines": "",
            "context": "",
            "criteria": [],
        }
        return JudgedAnswer(content, "", [AnswerTurn(text=self.second)])
