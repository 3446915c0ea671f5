"""Import of a peer's file: tests with their issue and suite, runs with their scores, feedback."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction

from evalhub.history import save_signed
from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from evalhub.values.digest import digest
from issues.api.bulk import Upsert
from issues.api.feedback import FeedbackSerializer
from issues.api.serializers import TestSerializer
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.lifecycle.states import move_all
from issues.models import Issue, Origin, SourceKind, Tag, Test, TestState
from issues.triage.intake import take_in
from runs.importers.formats.records import TEXTS, Contents, PeerAnswer, PeerRun, PeerTest
from runs.importers.grafite.importer import templates
from runs.importers.weval.importer import linked
from runs.importers.weval.test_rows import BY_GUIDELINES, BY_REFERENCE, source_id
from runs.launching.answer_files import ImportedAnswer, ImportedAnswerBody
from runs.launching.imported_answers import import_answers
from runs.launching.launch_options import LaunchSpec
from runs.models import Run, Suite
from runs.suites.suite_making import add_to_suite

REASON = "Imported from a file"
GUIDELINES = "The output gives the same answer as the reference answer."
"""Of a test that has a reference answer only."""

NEEDED = {
    "tests": ("issues.add_issue", "issues.add_test", "issues.change_test", "runs.add_suite"),
    "runs": ("runs.add_run",),
    "feedback": ("issues.add_feedback",),
}
APPROVING = ("issues.approve_issue", "issues.approve_test")
MAX_FAILURES = 20


@dataclass(frozen=True)
class Options:
    """Choices of an import.

    `issue` is the one of its tests, None for a new one named as the file; `model` is what answered,
    None if the file says so; `jury` judges the answers, None leaves them their own scores.
    """

    issue: Issue | None = None
    model: LanguageModel | None = None
    jury: int | None = None
    approve: bool = False
    dry_run: bool = False
    allow_sealed_exposure: bool = False


@dataclass
class Imported:
    """Outcome of an import; `notes` name what has no equal here."""

    tests: Counter[str] = field(default_factory=Counter)
    feedback: Counter[str] = field(default_factory=Counter)
    runs: list[Run] = field(default_factory=list)
    suite: Suite | None = None
    notes: list[str] = field(default_factory=list)


def rights_for(contents: Contents) -> list[str]:
    """Return the rights that an import of these contents requires."""
    return [right for name, rights in NEEDED.items() if getattr(contents, name) for right in rights]


def import_contents(kind: str, contents: Contents, options: Options, *, by: User) -> Imported:
    """Import all of a file, or nothing.

    Args:
        kind: Name of the format, which begins the source ids.

    Raises:
        Refused: Lists every problem.
        PermissionDenied: A right is missing; the message names it.
    """
    rights = [*rights_for(contents), *(APPROVING if options.approve else ())]
    if missing := [right for right in rights if not by.has_perm(right)]:
        raise PermissionDenied(f"You need the right {' and '.join(map(repr, missing))} for this.")
    if contents.problems:
        raise Refused(contents.problems, field="")
    with transaction.atomic():
        load_builtin_templates()
        found = _Import(kind, contents, options, by).run()
        transaction.set_rollback(options.dry_run)
    return found


class _Import:
    def __init__(self, kind: str, contents: Contents, options: Options, by: User) -> None:
        self.kind, self.contents, self.options, self.by = kind, contents, options, by
        self.found = Imported(notes=contents.remarks)
        self.rows: dict[str, Test] = {}

    def run(self) -> Imported:
        if self.contents.tests:
            self._save_tests()
        for run in self.contents.runs:
            self._save_run(run)
        if self.contents.feedback:
            self._save_feedback()
        return self.found

    # Tests ---------------------------------------------------------------------------------------

    def _source(self, *parts: str) -> str:
        return source_id(self.kind, *parts).removeprefix("weval:")

    def _save_tests(self) -> None:
        name = self._source(self.contents.title)
        issue = self.options.issue or self._issue(name)
        by_family = templates()
        rows = [
            (f"test {n}", self._row(test, issue, by_family))
            for n, test in enumerate(self.contents.tests, 1)
        ]
        for tag in {tag for test in self.contents.tests for tag in test.tags}:
            if not Tag.objects.filter(name=tag).exists():
                Tag.objects.create(name=tag)
        request: Any = SimpleNamespace(user=self.by)
        upsert = Upsert(TestSerializer, {"request": request}, origin=Origin.IMPORTED)
        written = upsert.run(rows)
        self.found.tests = Counter(one.outcome for one in written)
        for test, one in zip(self.contents.tests, written, strict=True):
            self.rows[test.key] = one.row
            if one.row.extras != test.extras:
                one.row.extras = test.extras
                save_signed(one.row, self.by, REASON)
        self._approve(issue)
        self._save_suite(name, issue)

    def _issue(self, name: str) -> Issue:
        found: Issue | None = Issue.objects.filter(source_id=name).first()
        if found is not None:
            return found
        issue = Issue(title=self.contents.title[:200], source_id=name, author=self.by)
        issue.description = f"Imported as {self.contents.title}."
        save_signed(issue, self.by, REASON)
        issue.sources.create(kind=SourceKind.GENERAL, value=f"{self.kind}: {issue.title}"[:500])
        return issue

    def _row(self, test: PeerTest, issue: Issue, by_family: dict[str, Any]) -> dict[str, Any]:
        usual = GUIDELINES if test.reference and not test.criteria else ""
        family = BY_REFERENCE if test.reference else BY_GUIDELINES
        template = None if test.criteria else by_family.get(family)
        names = ("messages", "reference", "tools", "weight", "pass_threshold", "criteria")
        return {
            "source_id": self._source(self.contents.title, test.key),
            "issue": issue.pk,
            **{name: getattr(test, name) for name in names},
            **{name: test.texts.get(name, "") for name in TEXTS},
            "guidelines": test.texts.get("guidelines") or usual,
            "template": template and template.pk,
            "tags": sorted(set(test.tags)),
        }

    def _approve(self, issue: Issue) -> None:
        """Send new tests to review, or approve them; those with problems stay drafts."""
        step = "approve" if self.options.approve else "review"
        states = [TestState.DRAFT, *([TestState.IN_REVIEW] if self.options.approve else [])]
        waiting = [test for test in self.rows.values() if test.state in states]
        moved = move_all(waiting, step, by=self.by, reason=REASON)
        refused = [
            *moved.refused,
            *(move_all([issue], step, by=self.by).refused if issue.state in states else ()),
        ]
        self.found.notes += refused[:MAX_FAILURES]
        if len(refused) > MAX_FAILURES:
            self.found.notes.append(f"{len(refused) - MAX_FAILURES} more stay drafts.")

    def _save_suite(self, name: str, issue: Issue) -> None:
        suite = Suite.objects.filter(source_id=name[:200]).first()
        if suite is None:
            title = self.contents.title[:140]
            taken = Suite.objects.filter(name=title).exists()
            suite = Suite(name=f"{title} ({self.kind})" if taken else title, source_id=name[:200])
            save_signed(suite, self.by, REASON)
        add_to_suite(suite, self.rows.values(), by=self.by, reason=REASON)
        self.found.suite = suite

    # Runs ----------------------------------------------------------------------------------------

    def _save_run(self, run: PeerRun) -> None:
        name = f"{self.kind}:{digest([self.contents.title, run.label, run.model])[:40]}"
        if Run.objects.filter(source_id=name).exists():
            self.found.notes.append(f"The run {run.label} is here already: left as it is.")
            return
        drafts = [row for row in self._tests_of(run) if row.state != TestState.APPROVED]
        if drafts:
            self.found.notes.append(
                f"The run {run.label} is not imported: {len(drafts)} of its tests are not "
                "approved. Approve them, and import the file again."
            )
            return
        made = self._run(run)
        made.source_id = name
        made.save(update_fields=["source_id"])
        self.found.runs.append(made)

    def _tests_of(self, run: PeerRun) -> list[Test]:
        keys = {answer.test for answer in run.answers}
        return [self.rows[key] for key in keys]

    def _suite_of(self, run: PeerRun) -> int | None:
        """Return the suite if the run has an answer to each of its tests."""
        suite = self.found.suite
        if suite is None:
            return None
        runnable = Test.objects.runnable().filter(suites=suite).values_list("pk", flat=True)
        return suite.pk if set(runnable) <= {test.pk for test in self._tests_of(run)} else None

    def _run(self, run: PeerRun) -> Run:
        spec = LaunchSpec(
            label=run.label[:150] or self.contents.title[:150],
            models=[self._model(run.model).pk],
            system_prompts=[run.system_prompt],
            params=run.params,
            suite=self._suite_of(run),
            jury=self.options.jury,
            allow_sealed_exposure=self.options.allow_sealed_exposure,
        )
        answers = [
            ImportedAnswer(f"answer {n}", _body(answer, self.rows[answer.test].pk))
            for n, answer in enumerate(_complete(run.answers), 1)
        ]
        return import_answers(spec, answers, by=self.by)

    def _model(self, name: str) -> LanguageModel:
        if self.options.model:
            return self.options.model
        if not name:
            raise Refused(["The file does not name the model that answered: choose it."], field="")
        found = linked([name])[name] or LanguageModel.objects.filter(name=name[:100]).first()
        if found is None and not self.by.has_perm("evalhub.add_languagemodel"):
            problem = f"There is no model {name!r} here: choose the model that answered."
            raise Refused([problem], field="")
        return found or LanguageModel.objects.create(
            name=name[:100], litellm_model=name[:200], is_active=False
        )

    # Feedback ------------------------------------------------------------------------------------

    def _save_feedback(self) -> None:
        context = {"request": SimpleNamespace(user=self.by)}
        bodies = [FeedbackSerializer(data=row, context=context) for row in self.contents.feedback]
        problems = [f"trace {n}: {b.errors}" for n, b in enumerate(bodies, 1) if not b.is_valid()]
        if problems:
            raise Refused(problems[:200], field="")
        rows: dict[Any, Any] = {}
        for number, row in enumerate(body.validated_data for body in bodies):
            key = (row.get("source"), row["source_id"]) if row.get("source_id") else number
            rows.setdefault(key, row)
        received = take_in(list(rows.values()), by=self.by, reason=REASON)
        self.found.feedback = Counter(
            added=len(received.added), duplicates=len(self.contents.feedback) - len(received.added)
        )


def _complete(answers: Sequence[PeerAnswer]) -> list[PeerAnswer]:
    """Return answers, and an error for each repeat that a test lacks."""
    given = {(answer.test, answer.repeat) for answer in answers}
    repeats = max((answer.repeat for answer in answers), default=1)
    tests = dict.fromkeys(answer.test for answer in answers)
    return [
        *answers,
        *(
            PeerAnswer(test=test, repeat=n, error="The file has no answer for this repeat.")
            for test in tests
            for n in range(1, repeats + 1)
            if (test, n) not in given
        ),
    ]


def _body(answer: PeerAnswer, test: int) -> ImportedAnswerBody:
    fields = asdict(answer)
    text, cost = fields.pop("text"), fields.pop("cost_usd")
    return ImportedAnswerBody(
        **{
            **fields,
            "test": test,
            "answer": text,
            "cost_usd": None if cost is None else f"{cost:.8f}",
            "scores": [score._asdict() for score in answer.scores],
        }
    )
