"""Allow-list of Jinja syntax for judge templates, with readable refusals."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from jinja2 import TemplateError, TemplateSyntaxError, nodes

VARIABLES = frozenset(
    {
        "input",
        "output",
        "reference",
        "guidelines",
        "criterion",
        "criteria",
        "context",
        "scale",
        "examples",
    }
)
LISTS = frozenset({"criteria"})
CRITERION_FIELDS = ("key", "text", "polarity", "weight", "citation", "asked")
LOOP_FIELDS = ("index", "first", "last", "length")

DEEPEST = 20

# What other systems call our variables, so that a newcomer is told the word used here.
_OTHER_NAMES = {
    "prompt": "input",
    "prompt_text": "input",
    "question": "input",
    "conversation": "input",
    "messages": "input",
    "transcript": "input",
    "answer": "output",
    "completion": "output",
    "response": "output",
    "model_response": "output",
    "model_output": "output",
    "expected": "reference",
    "ground_truth": "reference",
    "ideal": "reference",
    "guideline": "guidelines",
    "judge_guidelines": "guidelines",
    "rubric": "criteria",
    "options": "scale",
    "classes": "scale",
    "documents": "context",
    "few_shot": "examples",
    "shots": "examples",
}

_MAY = "only variables, if, for over a list, and a few filters are allowed"


def syntax_problem(error: TemplateError) -> str:
    line = error.lineno if isinstance(error, TemplateSyntaxError) else 1
    return f"line {line}: {error.message}"


def names_in(template: nodes.Template) -> set[str]:
    """Return the names that a template reads, without those of its own loops."""
    names = list(template.find_all(nodes.Name))
    own = {name.name for name in names if name.ctx == "store"} | {"loop"}
    return {name.name for name in names if name.ctx == "load"} - own


def problems_in(
    template: nodes.Template, allowed: Collection[str], *, filters: Collection[str]
) -> list[str]:
    """List everything in a template outside the allow-list, with line numbers."""
    reader = _Reader(allowed, filters)
    reader.body(template.body)
    return reader.problems


def printed_names(template: nodes.Template) -> set[str]:
    """Return the variables whose text a template prints, filtered or not."""
    printed = (child for output in template.find_all(nodes.Output) for child in output.nodes)
    return {name for node in printed if (name := _printed_text(node)) is not None}


class _Reader:
    def __init__(self, allowed: Collection[str], filters: Collection[str]) -> None:
        self.allowed = allowed
        self.filters = filters
        self.problems: list[str] = []
        self._depth = 0
        self._item: str | None = None

    def body(self, children: Iterable[nodes.Node]) -> None:
        for child in children:
            match child:
                case nodes.Output():
                    for printed in child.nodes:
                        self._printed(printed)
                case nodes.If():
                    with self._deeper(child) as fits:
                        if fits:
                            self._if(child)
                case nodes.For():
                    self._for(child)
                case _:
                    self._refuse(child)

    def _if(self, node: nodes.If) -> None:
        self._condition(node.test)
        self.body(node.body)
        self.body(node.elif_)
        self.body(node.else_)

    def _for(self, node: nodes.For) -> None:
        target = node.target
        if self._item is not None or node.recursive or not isinstance(target, nodes.Name):
            self._add_problem(node, "a loop within a loop, or over pairs, is not possible")
            return
        if target.name in VARIABLES or target.name == "loop":
            self._add_problem(node, f"the loop needs a name of its own instead of {target.name!r}")
            return
        self._list(node.iter)
        self._item = target.name
        if node.test is not None:
            self._condition(node.test)
        self.body(node.body)
        self._item = None
        self.body(node.else_)

    def _list(self, node: nodes.Node) -> None:
        if not isinstance(node, nodes.Name):
            self._refuse(node)
        elif self._known(node) and node.name not in LISTS:
            self._add_problem(
                node, f"{node.name!r} is a text: a loop needs a list ({_listed(LISTS)})"
            )

    def _printed(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.TemplateData):
            return
        name = _printed_text(node)
        if name is not None and name in {*LISTS, self._item}:
            self._add_problem(node, f"{name!r} is no text: print one of its fields, such as x.text")
        elif isinstance(node, nodes.Filter | nodes.Name | nodes.Getattr):
            self._value(node)
        else:
            self._refuse(node)

    def _condition(self, node: nodes.Node) -> None:
        with self._deeper(node) as fits:
            match node:
                case _ if not fits:
                    pass
                case nodes.Not():
                    self._condition(node.node)
                case nodes.And() | nodes.Or():
                    self._condition(node.left)
                    self._condition(node.right)
                case nodes.Compare():
                    self._comparison(node)
                case _:
                    self._value(node)

    def _comparison(self, node: nodes.Compare) -> None:
        self._value(node.expr)
        for operand in node.ops:
            if operand.op not in ("eq", "ne") or not isinstance(operand.expr, nodes.Const):
                self._add_problem(node, "compare only by == or != with a fixed text")

    def _value(self, node: nodes.Node) -> None:
        match node:
            case nodes.Name():
                self._known(node)
            case nodes.Getattr():
                self._field(node)
            case nodes.Filter():
                self._filter(node)
            case _:
                self._refuse(node)

    def _filter(self, node: nodes.Filter) -> None:
        arguments = [*node.args, *node.kwargs, node.dyn_args, node.dyn_kwargs]
        if node.name not in self.filters:
            self._add_problem(node, f"no filter {node.name!r}; there are {_listed(self.filters)}")
        elif any(arguments) or node.node is None:
            self._add_problem(node, f"the filter {node.name!r} takes no arguments")
        else:
            with self._deeper(node) as fits:
                if fits:
                    self._value(node.node)

    def _field(self, node: nodes.Getattr) -> None:
        name = node.node.name if isinstance(node.node, nodes.Name) else None
        if self._item is None or name not in (self._item, "loop"):
            self._refuse(node)
            return
        offered = LOOP_FIELDS if name == "loop" else CRITERION_FIELDS
        if node.attr not in offered:
            self._add_problem(node, f"no field {name}.{node.attr}; there are {_listed(offered)}")

    def _known(self, node: nodes.Name) -> bool:
        if node.name in self.allowed or node.name == self._item:
            return True
        if node.name in VARIABLES:
            self._add_problem(node, f"the variable {node.name!r} is not offered to this template")
        else:
            hint = _suggestion(node.name, self.allowed)
            self.problems.append(f"unknown variable {node.name!r} on line {node.lineno}{hint}")
        return False

    @contextmanager
    def _deeper(self, node: nodes.Node) -> Iterator[bool]:
        """Return True if deeper nesting is allowed; report once if not."""
        self._depth += 1
        if self._depth == DEEPEST + 1:
            self._add_problem(node, f"nested deeper than {DEEPEST} levels")
        yield self._depth <= DEEPEST
        self._depth -= 1

    def _refuse(self, node: nodes.Node) -> None:
        self._add_problem(node, f"{_called(node)} is not possible: {_MAY}")

    def _add_problem(self, node: nodes.Node, problem: str) -> None:
        self.problems.append(f"line {node.lineno or 1}: {problem}")


def _printed_text(node: nodes.Node) -> str | None:
    """Return the variable whose own text is printed; None for a field, a length, or others."""
    while isinstance(node, nodes.Filter) and node.node is not None and node.name != "length":
        node = node.node
    return node.name if isinstance(node, nodes.Name) else None


def _called(node: nodes.Node) -> str:
    names = {
        "Assign": "set",
        "AssignBlock": "set",
        "Call": "a call",
        "CallBlock": "call",
        "CondExpr": "an if within a value",
        "Const": "a fixed value",
        "FilterBlock": "filter",
        "Getattr": "reading an attribute",
        "Getitem": "an index",
        "Scope": "autoescape",
        "Test": "a test with `is`",
        "TemplateData": "a fixed text",
    }
    kind = type(node).__name__
    if isinstance(node, nodes.BinExpr | nodes.UnaryExpr | nodes.Concat):
        return "arithmetic"
    return names.get(kind, kind.lower())


def _suggestion(name: str, allowed: Collection[str]) -> str:
    words = {word: word for word in allowed}
    words |= {other: ours for other, ours in _OTHER_NAMES.items() if ours in allowed}
    near = get_close_matches(name.casefold(), words, n=1, cutoff=0.7)
    if near:
        return f"; did you mean {words[near[0]]!r}?"
    return f"; there are {_listed(allowed)}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
