"""Import of a blueprint: an issue with its tests, and a suite; all of it or nothing.

What is as it was imported before stays as people have left it. Where the blueprint has changed,
it decides.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.db import transaction

from evalhub.display.formatting import few
from evalhub.history import save_signed, sign
from evalhub.models import LanguageModel, User
from evalhub.values.digest import digest
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import Issue, IssueState, Source, SourceKind, Tag, Test, TestState
from runs.importers.grafite.importer import templates
from runs.importers.weval import test_rows
from runs.importers.weval.blueprint.model_names import Collections, named, spellings
from runs.importers.weval.blueprint.prompts import NOTHING
from runs.importers.weval.blueprint.records import Blueprint, Prompt
from runs.importers.weval.test_rows import GONE, IMPORTED, REASON, source_id
from runs.models import Judge, Jury, Suite

MAX_TITLE, MAX_NAME, MAX_SOURCE = 200, 150, 500


class Counts(NamedTuple):
    """Numbers of tests that are new, changed, unchanged, and no longer in the file."""

    new: int = 0
    changed: int = 0
    same: int = 0
    gone: int = 0


@dataclass(frozen=True)
class Loaded:
    """Result of an import. `is_changed` is False if everything was already here."""

    suite: Suite
    counts: Counts
    criteria: int
    is_changed: bool
    notes: list[str]


def import_blueprint(
    blueprint: Blueprint,
    collections: Collections,
    *,
    by: User | None = None,
    approve: bool = False,
    dry_run: bool = False,
) -> Loaded:
    """Create or update the issue, tests and suite of a blueprint.

    Args:
        approve: Its issue and tests arrive approved, not in review.
        dry_run: Do everything, and then undo it.
    """
    with transaction.atomic():
        load_builtin_templates()
        loaded = _Import(blueprint, collections, by, approve).run()
        transaction.set_rollback(dry_run)
    return loaded


class _Import:
    def __init__(
        self, blueprint: Blueprint, collections: Collections, by: User | None, approve: bool
    ) -> None:
        self.blueprint = blueprint
        self.by = by
        self.approve = approve
        self.names = named(blueprint.models, collections)
        found = linked(self.names.models)
        self.models = list(dict.fromkeys(model.pk for model in found.values() if model))
        self.unknown = [name for name, model in found.items() if model is None]
        self.notes: list[str] = []
        self.is_changed = False

    def run(self) -> Loaded:
        source = source_id(self.blueprint.id)
        suite = Suite.objects.filter(source_id=source).first()
        issue = Issue.objects.filter(source_id=source).first()
        jury = self._jury()
        header = self._digest(jury)
        is_other = suite is None or issue is None or suite.extras.get("digest") != header
        suite, issue = suite or Suite(source_id=source), issue or Issue(source_id=source)
        if is_other:
            self._save_issue(issue)
            self._save_suite(suite, jury, header)
        counts = self._load_tests(issue, suite)
        if self.approve:
            self._approve(issue)
        self.is_changed |= is_other or any(counts._replace(same=0))
        if self.names.unknown:
            names = few(self.names.unknown)
            self.notes.append(f"there is no collection of models {names} beside it.")
        if self.unknown:
            self.notes.append(f"these models do not exist here: {few(self.unknown)}.")
        points = sum(len(prompt.points) for prompt in self.blueprint.prompts)
        return Loaded(suite, counts, points, self.is_changed, self.notes)

    def _digest(self, jury: Jury | None) -> str:
        header = {k: v for k, v in asdict(self.blueprint).items() if k != "prompts"}
        return digest([header, self.names.models, self.models, jury and jury.name])

    # The issue and the suite ---------------------------------------------------------------------

    def _save_issue(self, issue: Issue) -> None:
        blueprint = self.blueprint
        if issue.pk is None:
            issue.author, issue.state = self.by, IssueState.IN_REVIEW
        issue.title = blueprint.title[:MAX_TITLE]
        issue.description = blueprint.description
        save_signed(issue, self.by, REASON)
        issue.tags.set(map(_tag, blueprint.tags))
        known = set(issue.sources.values_list("value", flat=True))
        Source.objects.bulk_create(
            Source(issue=issue, kind=kind, value=value)
            for kind, value in self._sources()
            if value not in known
        )

    def _sources(self) -> Iterable[tuple[str, str]]:
        yield SourceKind.GENERAL, f"Weval blueprint {self.blueprint.id}"[:MAX_SOURCE]
        for reference in self.blueprint.extras.get("references", []):
            title, url = reference.get("title", ""), reference.get("url", "")
            if url.startswith(("https://", "http://")) and len(url) <= MAX_SOURCE:
                yield SourceKind.URL, url
            else:
                yield SourceKind.GENERAL, " ".join(filter(None, (title, url)))[:MAX_SOURCE]

    def _save_suite(self, suite: Suite, jury: Jury | None, header: str) -> None:
        blueprint = self.blueprint
        suite.name = _free_name(blueprint, suite)
        suite.description = blueprint.description
        suite.defaults = self._defaults(suite, jury)
        suite.extras = {
            "digest": header,
            "title": blueprint.title,
            "name": suite.name,
            "models": list(blueprint.models),
            "names": self.names.models,
            "linked": self.models,
            "judges": [list(judge) for judge in blueprint.judges],
            "jury": jury.pk if jury else None,
            "tools": list(blueprint.tools),
            "fields": blueprint.extras,
        }
        save_signed(suite, self.by, REASON)
        suite.tags.set(map(_tag, blueprint.tags))

    def _defaults(self, suite: Suite, jury: Jury | None) -> dict[str, Any]:
        """Set launch defaults; keep those that users set besides."""
        blueprint = self.blueprint
        imported = {
            "models": self.models,
            "system_prompts": [system or "" for system in blueprint.systems],
            "temperatures": list(blueprint.temperatures),
            "jury": jury.pk if jury else None,
        }
        others = {key: value for key, value in suite.defaults.items() if key not in imported}
        return {**others, **{key: value for key, value in imported.items() if value}}

    def _jury(self) -> Jury | None:
        """Return the jury that the blueprint configures, if all its models exist here."""
        judges = self.blueprint.judges
        models = linked([judge.model for judge in judges])
        missing = [judge.model for judge in judges if models[judge.model] is None]
        if missing:
            self.notes.append(
                f"no jury is created, for these judges are not models here: {few(missing)}."
            )
        if not judges or missing:
            return None
        members = [
            Judge.objects.given(model, approach=judge.approach)
            for judge in judges
            if (model := models[judge.model])
        ]
        name = f"{self.blueprint.title[: MAX_NAME - 20]} · blueprint’s judges"[:MAX_NAME]
        keys = {judge.pk for judge in members}
        for jury in Jury.objects.filter(name__startswith=name[: MAX_NAME - 5]):
            if {judge.pk for judge in jury.judges.all()} == keys and jury.backup_id is None:
                return jury
        taken = Jury.objects.filter(name__startswith=name[: MAX_NAME - 5]).count()
        jury = Jury(name=f"{name[: MAX_NAME - 5]} {taken + 1}" if taken else name)
        save_signed(jury, self.by, REASON)
        jury.judges.set(members)
        return jury

    # The tests -----------------------------------------------------------------------------------

    def _load_tests(self, issue: Issue, suite: Suite) -> Counts:
        prefix = [source_id(self.blueprint.id, prompt.id) for prompt in self.blueprint.prompts]
        known = {
            test.source_id: test
            for test in Test.objects.filter(source_id__in=prefix).prefetch_related("criteria")
        }
        by_family = templates()
        new: list[tuple[Prompt, dict[str, Any]]] = []
        changed = 0
        for name, prompt in zip(prefix, self.blueprint.prompts, strict=True):
            fields = test_rows.fields_of(prompt, self.blueprint, by_family)
            family = prompt.own.get("template", test_rows.usual_template(prompt))
            if fields["template"] is None and family != NOTHING:
                self.notes.append(f"{prompt.id}: there is no judge template {family}.")
            test = known.get(name)
            if test is None:
                new.append((prompt, fields))
            elif test.extras.get("digest") != fields["extras"]["digest"] or GONE in test.extras:
                self._change(test, prompt, fields)
                changed += 1
        state = TestState.APPROVED if self.approve else TestState.IN_REVIEW
        made = test_rows.add(new, self.blueprint, issue, state=state, by=self.by)
        gone = self._deactivate(issue, suite, set(prefix))
        have = set(suite.tests.values_list("pk", flat=True))
        missing = [test for test in [*known.values(), *made] if test.pk not in have]
        if missing:
            sign(suite, self.by, REASON)
            suite.tests.add(*missing)
        return Counts(len(made), changed, len(known) - changed, gone)

    def _change(self, test: Test, prompt: Prompt, fields: dict[str, Any]) -> None:
        came_back = test.extras.get(GONE)
        if came_back or test.state == TestState.APPROVED:
            test.state = TestState.APPROVED if self.approve else TestState.IN_REVIEW
        test_rows.change(test, prompt, fields, by=self.by)

    def _deactivate(self, issue: Issue, suite: Suite, kept: set[str]) -> int:
        """Deprecate imported tests that are no longer in the blueprint."""
        made = Test.objects.filter(issue=issue, suites=suite.pk).exclude(source_id__in=kept)
        gone = [test for test in made if test.source_id.startswith(IMPORTED)]
        for test in gone:
            suite.tests.remove(test)
            if test.state != TestState.DEPRECATED:
                test_rows.deactivate(test, by=self.by)
        if gone:
            self.notes.append(
                f"{len(gone)} of its tests are no longer in it: they leave the suite and are "
                "deprecated."
            )
        return len(gone)

    def _approve(self, issue: Issue) -> None:
        """Approve tests that wait for review."""
        waiting = issue.tests.filter(state=TestState.IN_REVIEW)
        for row in [*waiting, *([issue] if issue.state == IssueState.IN_REVIEW else [])]:
            row.state = TestState.APPROVED
            save_signed(row, self.by, f"{REASON}, approved")
            self.is_changed = True


def linked(names: list[str]) -> dict[str, LanguageModel | None]:
    """Return the active model of each name: LiteLLM's name, the name or the identity."""
    active = list(LanguageModel.objects.active().order_by("pk"))
    keys: dict[str, LanguageModel] = {}
    for field in ("litellm_model", "name", "identity"):
        for model in active:
            if value := getattr(model, field):
                keys.setdefault(value.casefold(), model)
    return {name: next((keys[s] for s in spellings(name) if s in keys), None) for name in names}


def _tag(name: str) -> Tag:
    return Tag.objects.filter(name__iexact=name).first() or Tag.objects.create(name=name)


def _free_name(blueprint: Blueprint, suite: Suite) -> str:
    """Return the title, with the id if another suite has the same."""
    others = Suite.objects.exclude(pk=suite.pk)
    plain = blueprint.title[:MAX_NAME]
    if not others.filter(name=plain).exists():
        return plain
    room = MAX_NAME - len(blueprint.id) - 3
    return f"{blueprint.title[:room]} ({blueprint.id})"
