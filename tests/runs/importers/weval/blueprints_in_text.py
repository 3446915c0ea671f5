"""Reading blueprints that stand in the test as text."""

from textwrap import dedent

from runs.importers.weval.blueprint.format import read_blueprint
from runs.importers.weval.blueprint.records import Blueprint, Point, Prompt, Reading, Source


def read(text: str, file: str = "sample.yml") -> Reading:
    return read_blueprint(Source(file, file.partition(".")[0], dedent(text)))


def blueprint_of(text: str) -> Blueprint:
    reading = read(text)
    assert reading.problems == []
    assert reading.blueprint is not None
    return reading.blueprint


def prompts_of(text: str) -> list[Prompt]:
    return list(blueprint_of(text).prompts)


def points_of(rubric: str, header: str = "title: T") -> list[Point]:
    """The points of one prompt, whose rubric is written as YAML."""
    (prompt,) = prompts_of(_with_rubric(rubric, header))
    return list(prompt.points)


def problems_of(text: str) -> list[str]:
    """Each as file:line: prompt: text."""
    reading = read(text)
    assert reading.blueprint is None
    return [str(problem) for problem in reading.problems]


def rubric_problems(rubric: str, header: str = "title: T") -> list[str]:
    return problems_of(_with_rubric(rubric, header))


def rubric_notes(rubric: str, header: str = "title: T") -> list[str]:
    return notes_of(_with_rubric(rubric, header))


def rubric_warnings(rubric: str, header: str = "title: T") -> list[str]:
    return warnings_of(_with_rubric(rubric, header))


def warnings_of(text: str) -> list[str]:
    reading = read(text)
    assert reading.problems == []
    return [str(warning) for warning in reading.warnings]


def notes_of(text: str) -> list[str]:
    reading = read(text)
    assert reading.problems == []
    return [str(note) for note in reading.notes]


def _with_rubric(rubric: str, header: str) -> str:
    indented = "\n".join(f"  {line}" for line in dedent(rubric).strip().splitlines())
    return f"{dedent(header).strip()}\n---\n- id: p\n  prompt: Hello?\n{indented}\n"
