"""Tests of a tested path: an issue, and a test of each idea whose texts can be compared."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from evalhub.history import save_signed
from evalhub.models import User
from evalhub.refusals import Refused
from issues.models import (
    Author,
    Issue,
    IssueState,
    JudgeTemplate,
    Origin,
    TemplateState,
    Test,
    TestState,
)
from runs.laboratory.trials.generation.graph import Chain, Node, chain_of, kinds_from
from runs.laboratory.trials.generation.prompts import artifact_messages, with_article
from runs.laboratory.trials.models import Artifact, GenerationPath, Idea
from runs.models import Suite

TEMPLATE = "similarity"
"""Family of the template by which the end of a path is compared with its reference."""


@dataclass(frozen=True)
class Comparison:
    """Texts of an idea along a path: before the first tested edge, and to compare its end with."""

    idea: Idea
    asked: Artifact
    reference: Artifact


def tested_from(chain: Chain) -> int:
    """Return the place of the first text that the tested model writes."""
    return next(place for place, node in enumerate(chain) if node.is_tested)


def comparisons_of(path: GenerationPath) -> list[Comparison]:
    """Return the ideas that the path can be tested on, from reference artifacts.

    The end of the path is compared with the earlier text of its kind on the path, else with the
    text that a trusted model wrote on the same path, else on another one, else with the
    description.
    """
    chain = chain_of(path.steps)
    rows = Artifact.objects.reference().usable().filter(benchmark=path.benchmark_id)
    by_idea: dict[Idea, dict[tuple[int | None, Node], Artifact]] = {}
    for one in rows.filter(idea__isnull=False).select_related("idea__topic").order_by("pk"):
        assert one.idea is not None
        by_idea.setdefault(one.idea, {})[one.parent_id, Node(one.kind)] = one
    found = []
    for idea, artifacts in by_idea.items():
        along = along_of([Node(node.kind) for node in chain], artifacts)
        place = tested_from(chain)
        reference = _reference(chain, along, artifacts)
        if len(along) >= place and reference is not None:
            found.append(Comparison(idea, along[place - 1], reference))
    return found


def along_of(
    nodes: Sequence[Node], artifacts: Mapping[tuple[int | None, Node], Artifact]
) -> list[Artifact]:
    """Return the artifacts along a path, as far as there are any."""
    found: list[Artifact] = []
    for node in nodes:
        one = artifacts.get((found[-1].pk if found else None, node))
        if one is None:
            break
        found.append(one)
    return found


def _reference(
    chain: Chain,
    along: Sequence[Artifact],
    artifacts: Mapping[tuple[int | None, Node], Artifact],
) -> Artifact | None:
    end, trusted = chain[-1].kind, along[: tested_from(chain)]
    if own := [one for one in trusted if one.kind == end]:
        return own[0]
    if len(along) == len(chain):
        return along[-1]
    others = [one for one in artifacts.values() if one.kind == end]
    return others[0] if others else next(iter(trusted), None)


@transaction.atomic
def tests_of_paths(
    paths: Sequence[GenerationPath], *, by: User | None
) -> dict[GenerationPath, dict[int, Test]]:
    """Return the test of each idea by path and the idea's id; make or update what is missing.

    Each path is an issue of its own; the tests of all paths are one suite. A path is left out
    where no idea can be tested on it.

    Raises:
        Refused: No idea can be tested on any path, or the template is not published.
    """
    found = {path: comparisons_of(path) for path in paths}
    if not any(found.values()):
        named = ", ".join(map(str, paths))
        raise Refused([f"{named}: no idea has a text to compare its end with."])
    template = JudgeTemplate.objects.filter(family=TEMPLATE, state=TemplateState.PUBLISHED).first()
    if template is None:
        raise Refused([f"No version of the judge template {TEMPLATE!r} is published."])
    tests = {}
    for path, compared in found.items():
        if compared:
            issue = _issue(path, by)
            tests[path] = {one.idea.pk: _test(one, path, issue, template, by) for one in compared}
    suite, _ = Suite.objects.get_or_create(name=suite_name(paths))
    suite.tests.set([test for mine in tests.values() for test in mine.values()])
    return tests


def suite_name(paths: Sequence[GenerationPath]) -> str:
    """Return the name of the suite of these paths, the same for the same ones in any order."""
    numbers = " ".join(str(pk) for pk in sorted(path.pk for path in paths))
    return f"{paths[0].benchmark} {numbers}: {_named(paths)}"[:150]


def replay_label(paths: Sequence[GenerationPath]) -> str:
    return f"{paths[0].benchmark}: {_named(paths)}"[:150]


def _named(paths: Sequence[GenerationPath]) -> str:
    return str(paths[0]) if len(paths) == 1 else f"{len(paths)} paths"


def generic_statement(path: GenerationPath) -> str:
    """Return what may be passed on to developers instead of the texts."""
    chain, kinds = chain_of(path.steps), kinds_from(path.benchmark.kinds)
    place = tested_from(chain)
    before, after = (with_article(kinds[node.kind]) for node in chain[place - 1 : place + 1])
    return (
        f"Given {before}, the model writes {after} that does not say the same: steps are missing, "
        "added or changed."
    )


def _source_id(path: GenerationPath, idea: int) -> str:
    return f"trials-path-{path.pk}-idea-{idea}"


def idea_of(source_id: str) -> int | None:
    """Return the idea that a test was made of, by the test's source id; None: of none."""
    found = re.fullmatch(r"trials-path-\d+-idea-(\d+)", source_id)
    return int(found[1]) if found else None


def _issue(path: GenerationPath, by: User | None) -> Issue:
    source = f"trials-path-{path.pk}"
    known: Issue | None = Issue.objects.filter(source_id=source).first()
    if known is not None:
        return known
    benchmark = path.benchmark
    issue = Issue(
        title=f"{benchmark}: {path}"[:200],
        description=f"Replay of the path {path} of the benchmark {benchmark}.",
        generic_statement=generic_statement(path),
        state=IssueState.APPROVED,
        author=by,
        source_id=source,
    )
    save_signed(issue, by, "Made from a path of a benchmark")
    issue.sources.create(value=f"Benchmark {benchmark}")
    return issue


def _test(
    one: Comparison, path: GenerationPath, issue: Issue, template: JudgeTemplate, by: User | None
) -> Test:
    kinds = kinds_from(path.benchmark.kinds)
    chain = chain_of(path.steps)
    target = kinds[chain[tested_from(chain)].kind]
    source = _source_id(path, one.idea.pk)
    test = Test.objects.filter(source_id=source).first() or Test(issue=issue, source_id=source)
    content = {
        "messages": artifact_messages(kinds[one.asked.kind], target, one.asked.text),
        "reference": one.reference.text,
        "reference_by": Author.MODEL if one.reference.language_model_id else Author.HUMAN,
        "guidelines": "It means the same as the reference, details of implementation aside.",
        "template": template,
        "sealed": path.benchmark.sealed,
    }
    changed = [name for name, value in content.items() if getattr(test, name) != value]
    if test.pk and not changed:
        return test
    for name, value in content.items():
        setattr(test, name, value)
    test.state, test.origin = TestState.APPROVED, Origin.GENERATED
    test.author = test.author or by
    test.note = f"Idea {one.idea.pk} of the benchmark {path.benchmark}."
    return save_signed(test, by, "Made from a path of a benchmark")
