"""A scripted model that drafts, and settings of a batch."""

import json
import re
from collections import defaultdict
from collections.abc import Callable

from issues.drafting.settings import DraftedOption, DraftingSettings
from issues.drafting.start import Order
from tests.factories import make_issue
from tests.provider import Json, Reply, prompt, verdict

BORDERLINE = {"name": "Half", "description": "Partly polite."}
TEXTS = ("The shop opens at nine on weekdays.", "Ask somebody else, I am busy.")
MORE = (
    "Call the library before noon and ask for Ada.",
    "Trains to Delft leave every quarter of an hour.",
    "Peel the potatoes, then boil them with salt.",
)


class Writer:
    """Writes what it is asked for in the right form.

    `instead` are replies to a kind of request, taken before the right ones; `kinds` is what was
    asked, in order.
    """

    def __init__(self, **instead: list[Reply | str]):
        self.instead = instead
        self.kinds: list[str] = []
        self.answers: defaultdict[str, int] = defaultdict(int)
        self.label: Callable[[str], int | str] = lambda output: "No" if "busy" in output else "Yes"

    def __call__(self, request: Json) -> Reply | str:
        text, kind = prompt(request), kind_of(request)
        self.kinds.append(kind)
        if self.instead.get(kind):
            return self.instead[kind].pop(0)
        if kind == "label":
            block = text.split("[BEGIN OUTPUT", 1)[-1].split("[END OUTPUT", 1)[0]
            return verdict(self.label(block), "Read it.")
        names = list(request["response_format"]["json_schema"]["schema"]["properties"])
        if kind == "borderline":
            return json.dumps(BORDERLINE)
        if kind == "input":
            return json.dumps({name: f"What about {name}?" for name in names})
        return json.dumps({names[0]: self.answer(text), names[1]: "It replies."})

    def answer(self, text: str) -> str:
        target = re.findall(r"show this option of the criterion: ([^:\n]+)", text)[-1]
        n = self.answers[target]
        self.answers[target] += 1
        if n == 0 and target in ("Yes", "No"):
            return TEXTS[target == "No"]
        return MORE[n % len(MORE)] if n else f"{target} it is, said the owl to the old fox."


def kind_of(request: Json) -> str:
    text = prompt(request)
    if "could not be read" in text:
        return "repair"
    if '"score"' in text:
        return "label"
    if text.startswith("A criterion sorts"):
        return "borderline"
    return "input" if "Write the input of one" in text else "answer"


def make_settings(yes: int = 1, no: int = 1, **fields) -> DraftingSettings:
    options = [
        DraftedOption(label="Yes", description="It is polite.", value=1, quantity=yes),
        DraftedOption(label="No", description="It is rude.", value=0, quantity=no),
    ]
    defaults = {"criterion": "Polite", "description": "Is it polite?", "options": options}
    return DraftingSettings(**(defaults | fields))


def make_order(generator, judge=None, settings=None, **fields) -> Order:
    fields.setdefault("issue", None) or fields.update(issue=make_issue())
    return Order(settings or make_settings(), generator, judge, **fields)
