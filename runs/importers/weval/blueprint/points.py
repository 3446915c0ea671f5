"""Points of a rubric, from the items of `should` and `should_not`. Pure."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from evalhub.values.strict_json import excerpt
from issues.checks import problems_of
from runs.importers.weval.blueprint.functions import (
    CANNOT_RUN,
    WrongArgument,
    needs_argument,
    read_function,
)
from runs.importers.weval.blueprint.records import Point
from runs.importers.weval.blueprint.section_reader import Log, Section, as_fields, line_of, plain
from runs.importers.weval.blueprint.yaml_reader import Fields, Items, YamlError, documents

WEIGHT = ("weight", "multiplier")
TEXT = ("point", "text")
ARGUMENT = ("arg", "fnArgs")
QUOTED = re.compile(r"\$(?P<name>\w+)\s*:(?P<argument>.*)", re.DOTALL)
UNREADABLE = "js"
"""Check that keeps the text of a quoted function that cannot be read; it is never scored."""
MAX_REFERENCES = 20
"""Maximum depth of definitions that refer to each other."""


class PointReader:
    """Reader of the points of a prompt; records each problem with its line."""

    def __init__(self, definitions: Fields, log: Log, prompt: str) -> None:
        self.definitions = definitions
        self.log = log
        self.prompt = prompt

    def block(self, items: Items, polarity: str) -> Iterator[Point]:
        """Return all points of a block. A nested list is one alternative."""
        alternative = 0
        for number, item in enumerate(items):
            line = line_of(items, number)
            if not isinstance(item, list):
                yield from self._points(item, line, polarity, None)
                continue
            if not item:
                self.log.note(line, self.prompt, "an empty alternative is ignored.")
            points: list[Point] = []
            for place, inner in enumerate(item):
                at = line_of(item, place) if isinstance(item, Items) else line
                if isinstance(inner, list):
                    self._problem(at, f"an alternative cannot contain a list: {excerpt(inner)}.")
                else:
                    points += self._points(inner, at, polarity, alternative + 1)
            alternative += bool(points)
            yield from points

    def _points(
        self, item: Any, line: int | None, polarity: str, alternative: int | None
    ) -> Iterator[Point]:
        """Return the point of an item; None if it is wrong."""
        point = self._point(item, line, 0)
        if point is not None and point.mandatory and alternative is not None:
            self._problem(line, "a point of an alternative cannot be mandatory.")
        elif point is not None:
            yield replace(point, polarity=polarity, alternative=alternative)

    def _point(self, item: Any, line: int | None, depth: int) -> Point | None:
        if isinstance(item, str):
            return self._text(item, line)
        if not isinstance(item, dict):
            expected = "expected a point, that is text or an object"
            return self._problem(line, f"{expected}, not {excerpt(item)}.")
        section = Section(as_fields(item), self.log, self.prompt)
        functions = [key for key in item if key.startswith("$")]
        if len(functions) > 1:
            names = ", ".join(functions)
            message = f"a point has several functions: {names}; make one point of each."
            return self._problem(line, message)
        if functions == ["$ref"]:
            return self._reference(section, line, depth)
        if functions or section.given("fn"):
            return self._function(section, functions[0] if functions else "fn")
        return self._without_function(section, line)

    # Text ----------------------------------------------------------------------------------------

    def _text(self, text: str, line: int | None) -> Point | None:
        text = text.strip()
        if not text:
            return self._problem(line, "a point is empty.")
        if not text.startswith("$"):
            return Point(text)
        if QUOTED.fullmatch(text):
            return self._quoted(text, line)
        return self._called(text[1:], None, Point(), line, has_argument=False)

    def _quoted(self, text: str, line: int | None) -> Point:
        """Return the function that was written as text; unscored if it cannot be read."""
        trial = Log(self.log.file)
        point = None
        try:
            item = _without_quotes(text, line)
            point = PointReader(self.definitions, trial, self.prompt)._point(item, line, 0)
            reasons = [problem.message for problem in trial.problems]
        except YamlError as error:
            reasons = [error.fault.message]
        shown = text.splitlines()[0]
        if point is None or reasons:
            message = f"a quoted function cannot be read and is not scored: {shown}"
            self.log.warn(line, self.prompt, " ".join([f"{message}:", *reasons]))
            return Point(check=UNREADABLE, arguments={"source": text})
        self.log.warn(line, self.prompt, f"a quoted function is read as a function: {shown}")
        for note in trial.notes:
            self.log.note(line, self.prompt, note.message)
        return point

    def _without_function(self, section: Section, line: int | None) -> Point | None:
        """Return the point of an object without a function."""
        if len(section.fields) == 1:
            ((key, value),) = section.fields.items()
            if key not in TEXT and key.strip() and isinstance(value, str):
                return Point(key.strip(), citation=value.strip())
        text = section.text(*TEXT).strip()
        if not text:
            expected = "a point needs text, a function, or one text with its citation"
            return self._problem(line, f"{expected}, not {excerpt(section.fields)}.")
        return self._finished(section, Point(text))

    def _finished(self, section: Section, point: Point) -> Point:
        """Return the point with the fields beside its text or function."""
        point = replace(
            point,
            weight=section.weight(*WEIGHT),
            citation=_as_text(section.references("citation", "reference")),
            mandatory=section.flag("mandatory") or False,
        )
        for name in section.rest():
            section.note(name, f"the field {excerpt(name)} of a point is unknown and ignored.")
        return point

    # Functions -----------------------------------------------------------------------------------

    def _function(self, section: Section, key: str) -> Point | None:
        """Return the function and argument of `$name: argument`, or of `fn` and its argument."""
        line = section.line(key)
        if section.given(*TEXT):
            return self._problem(line, "a point has either text or a function, not both.")
        if key == "fn":
            name, argument_key = section.text("fn").strip(), section.given(*ARGUMENT)
            has_argument = any(section.fields.get(key) is not None for key in ARGUMENT)
            argument = section.fields.get(argument_key)
        else:
            section.given(key)
            name, argument = key[1:], section.fields[key]
            has_argument = argument is not None
        point = self._finished(section, Point(section.text("label").strip()))
        return self._called(name, plain(argument), point, line, has_argument=has_argument)

    def _called(
        self, name: str, argument: Any, point: Point, line: int | None, *, has_argument: bool
    ) -> Point | None:
        if not has_argument and needs_argument(name):
            return self._problem(line, f"${name} needs an argument.")
        try:
            call = read_function(name, argument)
        except WrongArgument as error:
            return self._problem(line, f"${name}: {error}")
        if call is None:
            return self._problem(line, f"there is no function {excerpt(name)}.")
        if problems := problems_of(call.check, call.arguments):
            return self._problem(line, f"${name}: {' '.join(problems)}")
        if call.check in CANNOT_RUN:
            self.log.note(line, self.prompt, f"${name} cannot run here and is not scored.")
        return replace(point, check=call.check, arguments=call.arguments)

    # Definitions ---------------------------------------------------------------------------------

    def _reference(self, section: Section, line: int | None, depth: int) -> Point | None:
        """Return the point defined under this name; fields beside the name take precedence."""
        name = section.text("$ref").strip()
        if name not in self.definitions:
            known = ", ".join(self.definitions) or "none at all"
            return self._problem(line, f"{excerpt(name)} is not defined; use {known}.")
        if depth >= MAX_REFERENCES:
            return self._problem(line, f"the definition {excerpt(name)} refers to itself.")
        definition = self.definitions[name]
        if isinstance(definition, str):
            point = self._called("js", definition, Point(), line, has_argument=True)
        else:
            point = self._point(definition, line, depth + 1)
        beside = self._finished(section, Point())
        if point is None:
            return None
        weighed = section.given(*WEIGHT)
        return replace(
            point,
            weight=beside.weight if weighed else point.weight,
            citation=beside.citation or point.citation,
            mandatory=beside.mandatory or point.mandatory,
        )

    def _problem(self, line: int | None, message: str) -> Point | None:
        """Record a problem; there is no point then."""
        self.log.problem(line, self.prompt, message)
        return None


def _without_quotes(text: str, line: int | None) -> Fields:
    """Return `$name: argument` as an object.

    If YAML cannot read an argument in quotes (a pattern with an unknown escape, say), the argument
    is the text between the quotes.

    Raises:
        YamlError: The argument is not YAML.
    """
    match = QUOTED.fullmatch(text)
    assert match is not None
    name, written = f"${match['name']}", match["argument"].strip()
    try:
        found, faults = documents(written)
        if faults:
            raise YamlError(line, faults[0].message)
        if len(found) > 1:
            raise YamlError(line, "holds several documents.")
        argument = found[0] if found else None
    except YamlError:
        if len(written) < 2 or written[0] != written[-1] or written[0] not in "\"'":
            raise
        argument = written[1:-1]
    fields = Fields({name: argument})
    fields.line = line
    return fields


def _as_text(references: list[dict[str, Any]]) -> str:
    texts = (" ".join(filter(None, (ref.get("title"), ref.get("url")))) for ref in references)
    return "; ".join(texts)
