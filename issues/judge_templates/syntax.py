"""Allow-list of Jinja syntax for judge templates, with readable refusals. Pure."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from jinja2 import TemplateError, TemplateSyntaxError, nodes

from issues.judge_templates.fences import BLOCKS

VARIABLES = frozenset({*BLOCKS, "guidelines", "criterion", "criteria", "scale", "examples"})
LISTS = frozenset({"criteria"})
CRITERION_FIELDS = ("key", "text", "polarity", "weight", "citation", "asked")
LOOP_FIELDS = ("index", "first", "last", "length")

DEEPEST = 20

# What other systems call our variables, for suggestions.
_OTHER_NAMES = {
    "input": ("prompt", "prompt_text", "question", "conversation", "messages", "transcript"),
    "output": ("answer", "completion", "response", "model_response", "model_output"),
    "reference": ("expected", "ground_truth", "ideal"),
    "guidelines": ("guideline", "judge_guidelines"),
    "criteria": ("rubric",),
    "scale": ("options", "classes"),
    "context": ("documents",),
    "retrieved_documents": ("retrieved", "retrieved_context", "retrieval_context", "sources"),
    "examples": ("few_shot", "shots"),
}

_NODE_NAMES = {
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


def syntax_problem(error: TemplateError) -> str:
    line = error.lineno if isinstance(error, TemplateSyntaxError) else 1
    return f"line {line}: {error.message}"


def names_in(template: nodes.Template) -> set[str]:
    """Return the names that a template reads, without those of its own loops."""
    names = list(template.find_all(nodes.Name))
    own = {name.name for name in names if name.ctx == "store"} | {"loop"}
    return {name.name for name in names if name.ctx == "load"} - own


def problems_in(template: nodes.Template, *, filters: Collection[str]) -> list[str]:
    """List everything in a template outside the allow-list, with line numbers."""
    reader = _Reader(filters)
    reader.body(template.body)
    return reader.problems


def printed_names(template: nodes.Template) -> set[str]:
    """Return the variables whose text a template prints, filtered or not."""
    printed = (child for output in template.find_all(nodes.Output) for child in output.nodes)
    return {name for node in printed if (name := _printed_text(node)) is not None}


class _Reader:
    def __init__(self, filters: Collection[str]) -> None:
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
                            self._condition(child.test)
                            for branch in (child.body, child.elif_, child.else_):
                                self.body(branch)
                case nodes.For():
                    self._for(child)
                case _:
                    self._refuse(child)

    def _for(self, node: nodes.For) -> None:
        target = node.target
        if self._item is not None or node.recursive or not isinstance(target, nodes.Name):
            self._add_problem(node, "a loop within a loop, or over pairs, is not possible")
            return
        if target.name in VARIABLES or target.name == "loop":
            self._add_problem(node, f"the loop needs a name of its own instead of {target.name!r}")
            return
        if not isinstance(node.iter, nodes.Name):
            self._refuse(node.iter)
        elif self._known(node.iter) and node.iter.name not in LISTS:
            offered = _listed(LISTS)
            message = f"{node.iter.name!r} is a text: a loop needs a list ({offered})"
            self._add_problem(node.iter, message)
        self._item = target.name
        if node.test is not None:
            self._condition(node.test)
        self.body(node.body)
        self._item = None
        self.body(node.else_)

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
                    self._value(node.expr)
                    fixed = [isinstance(operand.expr, nodes.Const) for operand in node.ops]
                    if not all(fixed) or any(o.op not in ("eq", "ne") for o in node.ops):
                        self._add_problem(node, "compare only by == or != with a fixed text")
                case _:
                    self._value(node)

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
        if node.name in VARIABLES or node.name == self._item:
            return True
        words = {word: word for word in VARIABLES}
        words |= {other: ours for ours, others in _OTHER_NAMES.items() for other in others}
        near = get_close_matches(node.name.casefold(), words, n=1, cutoff=0.7)
        hint = f"did you mean {words[near[0]]!r}?" if near else f"there are {_listed(VARIABLES)}"
        self.problems.append(f"unknown variable {node.name!r} on line {node.lineno}; {hint}")
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
        kind = type(node).__name__
        if isinstance(node, nodes.BinExpr | nodes.UnaryExpr | nodes.Concat):
            called = "arithmetic"
        else:
            called = _NODE_NAMES.get(kind, kind.lower())
        allowed = "only variables, if, for over a list, and a few filters are allowed"
        self._add_problem(node, f"{called} is not possible: {allowed}")

    def _add_problem(self, node: nodes.Node, problem: str) -> None:
        self.problems.append(f"line {node.lineno or 1}: {problem}")


def _printed_text(node: nodes.Node) -> str | None:
    """Return the variable whose own text is printed; None for a field, a length, or others."""
    while isinstance(node, nodes.Filter) and node.node is not None and node.name != "length":
        node = node.node
    return node.name if isinstance(node, nodes.Name) else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
