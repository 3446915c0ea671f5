"""A scripted model that writes benchmarks: programs, and summaries that name each step."""

import json
import re

from runs.laboratory.trials.benchmarks.new_benchmarks import NewTopic, new_benchmark
from tests.provider import prompt

PAPER_TOPICS = ("SQL problems", "String work", "Financial applications", "Logic puzzles")
CLUSTERS = ("Sorting", "Graph traversal")
WORDS = (
    *("amber", "birch", "copper", "dune", "ember", "falcon", "granite", "harbor", "indigo"),
    *("juniper", "kelp", "lagoon", "maple", "nectar", "onyx", "pepper", "quartz", "river"),
)
BEGIN, END = "[BEGIN INPUT", "[END INPUT"


def given(request):
    """The text that is to be turned into another one."""
    return prompt(request).split(BEGIN)[-1].split("\n", 1)[-1].split(END)[0].strip()


def write(request, *, corrupted=(), dropped_step=(), instance=""):
    """Write what is asked for.

    `corrupted` are (idea, language) whose program does not parse; a summary of an idea in
    `dropped_step` leaves its last step out. Ideas are named by the topic's first word and a word.
    """
    text = prompt(request)
    if "small programs on this topic" in text:
        return _ideas(text, instance)
    if "Complete the list" in text:
        return json.dumps(
            {f"topic {n}": f"Category {WORDS[n]}" for n in range(1, _wanted(text) + 1)}
        )
    if "The idea: " in text:
        name = re.search(r"The idea: Write a program that does (.*)\.", text)[1]
        return f"{name}. Steps: 1. open {name}. 2. turn {name}. 3. close {name}."
    source = given(request)
    name = re.search(r"open (.*?)\.", source)[1]
    if language := re.search(r"(?:in|to) (Python|Java|C\+\+|COBOL|PL/1)\.", text):
        return _program(language[1], source, (name, language[1]) in corrupted)
    steps = re.findall(r"(?:open|turn|close) [^.;]*", source)
    kept = steps[:-1] if name in dropped_step else steps
    return "Summary. " + " ".join(f"{step}." for step in kept)


def _ideas(text, instance):
    topic = re.search(r"on this topic: (\w+)", text)[1]
    n = int(re.search(r"Propose (\d+)", text)[1])
    fields: dict[str, str] = {}
    for place in range(1, n + 1):
        name = " ".join(filter(None, [topic, instance, WORDS[place - 1]]))
        fields |= {f"name {place}": name, f"idea {place}": f"Write a program that does {name}."}
    return json.dumps(fields)


def _wanted(text):
    return int(re.search(r"name (\d+) more categories", text)[1])


def _program(language, source, is_corrupted):
    steps = re.findall(r"(?:open|turn|close) [^.;]*", source)
    if language == "Python":
        body = "\n".join(f"print('{step}.')" for step in steps)
        return f"```python\n{body}{'(' if is_corrupted else ''}\n```"
    body = "\n".join(f'    System.out.println("{step}.");' for step in steps)
    lines = f"class Main {{\n  public static void main(String[] a) {{\n{body}\n  }}\n}}"
    broken = lines.replace("class Main {", "class {{{") if is_corrupted else lines
    return f"```\n{broken}\n```"


def paper_benchmark(**fields):
    """The benchmark of the paper's experiment, on three languages."""
    topics = [NewTopic(title) for title in PAPER_TOPICS]
    topics += [NewTopic(title, is_cluster=True) for title in CLUSTERS]
    languages = ("cobol", "java", "python")
    paths = [f"description > {language} > summary" for language in languages]
    return new_benchmark(fields.pop("name", "Paper"), topics, paths, by=None, **fields)
