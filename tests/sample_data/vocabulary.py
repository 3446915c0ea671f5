"""The words of an invented ledger. Its makers and models do not exist, so that nobody is misled."""

from typing import NamedTuple

FAULTS = (
    "Mixes up dates in",
    "Invents a source for",
    "Skips a step of",
    "Adds up wrongly in",
    "Refuses harmless questions on",
    "Reveals private details in",
    "Answers in the wrong language on",
    "Ignores the stated limit in",
    "Contradicts itself about",
    "Flatters instead of correcting in",
    "Leaves out the warning on",
    "Breaks the asked format in",
    "Takes the customer's word for",
    "Gives an outdated rule for",
)
SUBJECTS = (
    "travel bookings",
    "tax returns",
    "medicine leaflets",
    "tenancy contracts",
    "school timetables",
    "bank transfers",
    "recipes",
    "spreadsheets",
    "job applications",
    "warranty claims",
    "weather reports",
    "train tickets",
    "insurance letters",
)
DOMAINS = ("finance", "health", "law", "education", "travel", "household", "software", "public")
PARENTS = {"finance": "regulated", "health": "regulated", "law": "regulated"}
TASKS = ("question answering", "summarising", "drafting", "calculating", "translating", "planning")
OTHERS = ("safety", "long input", "reported twice", "seasonal")

RIGHT = ("check the date first", "quote the rule", "ask for the receipt", "name both options")
WRONG = ("guess the date", "skip the rule", "promise a refund", "name one option only")


class SampleModel(NamedTuple):
    """A model that does not exist. Prices are US cents per million tokens; None: not known."""

    name: str
    developer: str
    family: str
    ability: float
    input_cents: int | None
    output_cents: int | None
    latency_ms: int


MODELS = (
    SampleModel("aurora-2-large-2026-02-10", "Northwind Labs", "Aurora", 1.5, 250, 1000, 1900),
    SampleModel("kelp-4-2026-03-05", "Blue Fjord", "Kelp", 1.25, 110, 440, 1200),
    SampleModel("kestrel-pro-preview", "Kestrel AI", "Kestrel", 1.2, 200, 800, 1500),
    SampleModel("clover-70b", "Open Meadow", "Clover", 0.9, None, None, 2600),
    SampleModel("aurora-2-mini-2026-02-10", "Northwind Labs", "Aurora", 0.6, 15, 60, 600),
    SampleModel("kelp-4-small-2026-03-05", "Blue Fjord", "Kelp", 0.45, 20, 90, 500),
    SampleModel("clover-8b", "Open Meadow", "Clover", 0.1, None, None, 700),
    SampleModel("kestrel-lite-2025-11-20", "Kestrel AI", "Kestrel", 0.3, 10, 40, 400),
)
ANALYST = "chronicler"
JUDGES = ("arbiter-a", "arbiter-b", "arbiter-c", "arbiter-d")
SYSTEM_PROMPT = "Answer briefly, and say so where you are not sure."


def issue_title(number: int) -> str:
    """A title for the issue of this number, from 0; each number has its own."""
    fault = FAULTS[number % len(FAULTS)]
    subject = SUBJECTS[number % len(SUBJECTS)]
    again = number // (len(FAULTS) * len(SUBJECTS))
    return f"{fault} {subject}" + (f", case {again + 1}" if again else "")


def prompt(test: int, subject: str, *, is_changed: bool) -> str:
    wanted = " Answer in at most two sentences." if is_changed else ""
    return f"Case {test + 1}, {subject}: a customer writes in. What should be done?{wanted}"


def answer(test: int, is_right: bool, draw: int) -> str:
    """What an invented model says to a test; `draw` is any number from 0."""
    words = RIGHT if is_right else WRONG
    first, second = words[draw % 4], words[draw // 4 % 4]
    return f"For case {test + 1} I would {first}, then {second}, and tell the customer why."
