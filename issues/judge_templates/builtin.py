"""Built-in judge templates.

Each asks for reasons before a verdict, as JSON. They differ in what a judge is shown: if many
answers are right, a reference or even the input may mislead.

Those that show retrieved documents judge only answers of applications that report some.

Those named "rubric-…" ask about one criterion. None reveals whether a criterion is a "should" or a
"should not", since a judge that knew might say what it wishes for. Values are inverted after the
consensus, so nothing is lost.
"""

from dataclasses import dataclass

from issues.rubrics.scales import FIVE_CLASSES, ONE_TO_SEVEN, Option, PassRule, Scale

_TASK = """\
You are an impartial judge. Decide whether the output of an AI model is acceptable.
"""

_INPUT = """\
## Input that the model was given
{{ input }}
{% if context %}

## Documents that the model was given
{{ context }}
{% endif %}

"""

_OUTPUT = """\
## Output to judge
{{ output }}

"""

_RETRIEVED = """\
## Retrieved documents
{{ retrieved_documents }}

"""

_GROUNDED = """\
## How to judge
- Take the output apart into its claims. A claim is grounded if the retrieved documents state it, or
  if it follows from what they state. That it is true, or that you know it, does not count.
- A claim that contradicts the documents, or that they do not support, is not grounded.
- Greetings, questions to the user and remarks about the documents themselves are no claims. Neither
  is saying that the documents do not hold the answer, if that is so.

"""

_REFERENCE = """\
{% if reference %}
## Reference answer
One good answer. The output may say the same in other words.
{{ reference }}

{% endif %}
"""

_GUIDELINES = """\
{% if guidelines %}
## Guidelines
The output must keep to all of these:
{{ guidelines }}

{% endif %}
"""

_REPLY = """\
## Scores
{{ scale }}

Length and style do not matter unless the guidelines say so. First state your reasons, then decide.
Reply with one JSON object and nothing else. It has two keys: "justification", your reasons in two
or three sentences, and then "score", which is 0 or 1.
"""

_EXAMINER = """\
You are a careful examiner. Decide how far the output of an AI model shows one criterion.

"""

_CRITERION = """\
## Criterion
{{ criterion }}

"""

_RUBRIC = """\
## The whole rubric
Judge only the criterion marked as asked. The others show what it does not have to cover.
{% for point in criteria %}
- {% if point.asked %}(asked) {% endif %}{{ point.text }}
{% endfor %}

"""

_SEEN = """\
- Only what the model wrote counts: the output, with all turns marked as generated. What anyone else
  says in the input is no part of it.
"""

_HOW = """\
- Only this criterion counts, not what else you think of the output. Meeting it may be wanted or
  unwanted: that is decided elsewhere.
- A criterion may be an order, a question, a statement or a single word: "Name a price", "Does it
  name a price?", "It should name a price" and "price" ask for the same.
- Go by the meaning, not by words in common. What the criterion says to be absent must be absent.
"""

_REPLY_BY_LABEL = """\
## Scores
{{ scale }}

First state your reasons, then decide. Reply with one JSON object and nothing else. It has two keys:
"justification", your reasons in two or three sentences, and then "score", one of the scores above.
"""


_JUDGED = {
    "answer": ("the output of an AI model", ""),
    "input": ("the input that an AI model was given", "Judge the input only, not the output.\n\n"),
    "context": (
        "the documents that an AI model was given",
        "Judge the documents only, not the output.\n\n",
    ),
}
"""How a prompt names the judged text, and what it says about the output."""


def prompt_of_question(question: str, judged_text: str) -> str:
    """Return the text of a template that answers one question by an option of its scale.

    Args:
        question: Of a library criterion.
        judged_text: What it is about: the answer, the input or the context.
    """
    named, only = _JUDGED[judged_text]
    output = _OUTPUT if judged_text == "answer" else _OUTPUT.replace("to judge", "of the model")
    return (
        f"You are an impartial judge. Answer one question about {named}.\n\n"
        f"{_INPUT}{output}{_REFERENCE}## Question\n{question}\n\n{only}"
        "Only this question counts, not what else you think of the text.\n\n"
        f"{_REPLY_BY_LABEL}"
    )


@dataclass(frozen=True)
class BuiltinTemplate:
    key: str
    name: str
    text: str
    scale: Scale


def _scale(failing: str, passing: str) -> Scale:
    return Scale((Option("0", failing, 0.0), Option("1", passing, 1.0)), 0.5, PassRule.STRICT)


def _how_to_judge(nothing: str, most: str, everything: str, *, seen: str = _SEEN) -> str:
    return f"""\
## How to judge
{seen}{_HOW}
For example:
- "Says that tickets are refunded", and the output says that they are not: {nothing}. The words are
  similar, the meaning is the opposite.
- "The bridge is 1,280 m long", and the output says "about 1,300 m": {most}. It is near.
- "Mentions a pharmacist", and the output says "or ask a pharmacist" in passing: {everything}. More
  is not asked for.

{_REPLY_BY_LABEL}"""


_SEVEN_CLOSE = """\
Judge what the text says, not how it is laid out. It must be correct, specific to this program, and
no longer than that takes.

"""

_SUMMARY = f"""\
You are a senior programmer. Decide how useful a summary of a program is to somebody who has to work
with that program.

## The program, or what it was written from
{{{{ input }}}}

## Summary to judge
{{{{ output }}}}

{_SEVEN_CLOSE}{_REPLY_BY_LABEL}"""

_EXPLANATION = f"""\
You are a senior programmer. Decide how useful an explanation of code is to somebody who has to
understand and maintain that code.

## The code, or what it was written from
{{{{ input }}}}

## Explanation to judge
{{{{ output }}}}

{_SEVEN_CLOSE}{_REPLY_BY_LABEL}"""

_SIMILARITY = f"""\
You compare two texts about programs, or two programs. Decide how far they mean the same.

## What to compare
{{{{ input }}}}

## First text
{{{{ reference }}}}

## Second text
{{{{ output }}}}

## How to judge
- Only the behaviour of the program counts. Names of variables, the programming language and other
  details of an implementation do not, nor does which text comes first.
- Related programs are not the same: two ways of sorting differ, although both sort.

{_REPLY_BY_LABEL}"""


def _one_to_seven(passed_from: int, *descriptions: str) -> Scale:
    """Return a scale whose options from this label on pass."""
    options = [Option(str(n), text, (n - 1) / 6) for n, text in enumerate(descriptions, 1)]
    return Scale(tuple(options), (passed_from - 1) / 6, PassRule.INCLUSIVE)


_FIVE = ("UNMET", "MOSTLY_MET", "FULLY_MET")

BUILTIN = (
    BuiltinTemplate(
        "input-output-reference-guidelines",
        "Input, output, reference and guidelines",
        f"{_TASK}\n{_INPUT}{_OUTPUT}{_REFERENCE}{_GUIDELINES}{_REPLY}",
        _scale(
            "The output breaks a guideline, contradicts the reference answer, or does not do what "
            "the input asks for.",
            "The output keeps to every guideline, agrees with the reference answer, and does what "
            "the input asks for.",
        ),
    ),
    BuiltinTemplate(
        "output-reference-guidelines",
        "Output, reference and guidelines",
        f"{_TASK}\n{_OUTPUT}{_REFERENCE}{_GUIDELINES}{_REPLY}",
        _scale(
            "The output breaks a guideline or contradicts the reference answer.",
            "The output keeps to every guideline and agrees with the reference answer.",
        ),
    ),
    BuiltinTemplate(
        "input-output-guidelines",
        "Input, output and guidelines",
        f"{_TASK}\n{_INPUT}{_OUTPUT}{_GUIDELINES}{_REPLY}",
        _scale(
            "The output breaks a guideline or does not do what the input asks for.",
            "The output keeps to every guideline and does what the input asks for.",
        ),
    ),
    BuiltinTemplate(
        "grounded-in-retrieved-documents",
        "Groundedness: input, output and retrieved documents",
        f"{_TASK}\n{_INPUT}{_RETRIEVED}{_OUTPUT}{_GUIDELINES}{_GROUNDED}{_REPLY}",
        _scale(
            "The output makes a claim that the retrieved documents do not support, or breaks a "
            "guideline.",
            "The retrieved documents support every claim of the output, and it keeps to every "
            "guideline.",
        ),
    ),
    BuiltinTemplate(
        "rubric-standard",
        "One criterion: output",
        f"{_EXAMINER}{_OUTPUT}{_CRITERION}{_how_to_judge(*_FIVE, seen='')}",
        FIVE_CLASSES,
    ),
    BuiltinTemplate(
        "rubric-prompt-aware",
        "One criterion: input and output",
        f"{_EXAMINER}{_INPUT}{_OUTPUT}{_CRITERION}{_how_to_judge(*_FIVE)}",
        FIVE_CLASSES,
    ),
    BuiltinTemplate(
        "rubric-holistic",
        "One criterion: input, output and whole rubric",
        f"{_EXAMINER}{_INPUT}{_OUTPUT}{_RUBRIC}{_CRITERION}{_how_to_judge(*_FIVE)}",
        FIVE_CLASSES,
    ),
    BuiltinTemplate(
        "rubric-retrieved-documents",
        "One criterion: input, output and retrieved documents",
        f"{_EXAMINER}{_INPUT}{_RETRIEVED}{_OUTPUT}{_CRITERION}{_how_to_judge(*_FIVE)}",
        FIVE_CLASSES,
    ),
    BuiltinTemplate(
        "rubric-one-to-seven",
        "One criterion: input and output, from 1 to 7",
        f"{_EXAMINER}{_INPUT}{_OUTPUT}{_CRITERION}{_how_to_judge('1', '6', '7')}",
        ONE_TO_SEVEN,
    ),
    BuiltinTemplate(
        "summary-usefulness",
        "Usefulness of a summary, from 1 to 7",
        _SUMMARY,
        _one_to_seven(
            5,
            "There is no summary.",
            "It is about something else, or repeats what it should sum up.",
            "It touches the program, but much of it is made up.",
            "Some of it is right, yet nobody could work with it.",
            "It is right in the main: the least that is of use.",
            "It is good; something small is missing.",
            "It is correct, specific and concise throughout.",
        ),
    ),
    BuiltinTemplate(
        "code-explanation",
        "Usefulness of an explanation of code, from 1 to 7",
        _EXPLANATION,
        _one_to_seven(
            4,
            "There is no explanation, or it only repeats the code.",
            "It stays so general, or invents so much, that it explains nothing.",
            "It is wrong in part and would mislead a programmer.",
            "It leaves out much, but shows an experienced programmer how the program is built.",
            "It gives many useful details, some of which are not right.",
            "Little is missing: a beginner could maintain the program with it.",
            "A beginner understands all of the program from it.",
        ),
    ),
    BuiltinTemplate(
        "similarity",
        "Similarity of two texts, from 1 to 7",
        _SIMILARITY,
        _one_to_seven(
            4,
            "Unrelated programs.",
            "Programs of one field, and nothing more.",
            "Related programs that do different things.",
            "The same program, though the texts differ a good deal in what they say of it.",
            "The same program, with a step or condition that only one of them has.",
            "The same program; they differ in details only.",
            "They say the same throughout.",
        ),
    ),
)
