"""Rows of the sample history before its runs: tests, suites, models, juries and annotators."""

import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from evalhub.models import LanguageModel, User
from issues.content.revisions import scale_of
from issues.models import FrozenCriterion, Issue, Tag, TagKind, Test
from issues.rubrics.scoring import WHOLE_TEST
from issues.sample_data import load_rows, load_sample
from runs.demo import plan as planned
from runs.demo.plan import Plan, PlannedTest
from runs.judging.jury_builder import JuryBuilder
from runs.models import Approach, Jury, Result, Suite

FILE = Path(__file__).with_name("sample") / "history.json"
SOURCE = "sample-history"
"""Source id of the suites, followed by their numbers."""


def told() -> dict[str, Any]:
    """Return what the file tells of models, dates, answers and suites."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Content:
    """Rows that are made as they are asked for. `told` is the file's content.

    `begin`: when the tests are said to have been written.
    """

    by: User
    told: dict[str, Any]
    begin: datetime

    @cached_property
    def tests(self) -> list[Test]:
        """All tests of the history, with their issues as loaded."""
        load_sample(self.by)
        load_rows(dates_sample(self.told["issue"]), self.by)
        rows = Test.objects.runnable().filter(source_id__startswith="sample:")
        for model in (Issue, Test):
            found = model.objects.filter(source_id__startswith="sample:")
            found.update(created_at=self.begin)
            model.history.filter(id__in=found.values("pk")).update(history_date=self.begin)
        return list(
            rows.select_related("issue", "template").prefetch_related("tags", "issue__tags")
        )

    @cached_property
    def plan(self) -> Plan:
        return Plan([PlannedTest(key_of(test), key_of(test.issue)) for test in self.tests])

    @cached_property
    def suites(self) -> list[Suite]:
        """The main suite with all tests, and one for each topic, tagged with it."""
        return [self._suite(number, row) for number, row in enumerate(self.told["suites"])]

    def _suite(self, number: int, row: dict[str, Any]) -> Suite:
        suite = Suite.objects.create(
            name=row["name"],
            description="Sample data: its models are invented.",
            source_id=f"{SOURCE}:{number}",
        )
        domains = set(row["domains"])
        of_domains = [
            test
            for test in self.tests
            if not domains or domains & {tag.name for tag in test.issue.tags.all()}
        ]
        suite.tests.set(of_domains)
        if row["topic"]:
            defaults = {"kind": TagKind.OTHER}
            suite.tags.add(Tag.objects.get_or_create(name=row["topic"], defaults=defaults)[0])
        return suite

    @cached_property
    def models(self) -> dict[str, LanguageModel]:
        """The models under test, by key."""
        return {key: self._model(row) for key, row in self.facts.items()}

    @cached_property
    def facts(self) -> dict[str, dict[str, Any]]:
        """Each model as the file describes it, by key."""
        return {row["key"]: row for row in self.told["models"]}

    def _model(self, row: dict[str, Any]) -> LanguageModel:
        per_input, per_output = row["usd_per_mtok"]
        return LanguageModel.objects.create(
            developer=row["developer"],
            family=row["family"],
            input_usd_per_mtok=Decimal(str(per_input)),
            output_usd_per_mtok=Decimal(str(per_output)),
            **invented(row["name"]),
        )

    @cached_property
    def juries(self) -> tuple[Jury, Jury]:
        """The jury before and after it got its third judge."""
        models = [LanguageModel.objects.create(**invented(name)) for name in self.told["judges"]]
        judges = [JuryBuilder([model], [Approach.TEMPLATE]).judges()[0] for model in models]
        first = Jury.objects.create(name="Sample: two judges")
        second = Jury.objects.create(name="Sample: three judges")
        first.judges.set(judges[:2])
        second.judges.set(judges)
        return first, second

    @cached_property
    def annotators(self) -> list[User]:
        """Annotators who cannot log in."""
        return [User.objects.create_user(name) for name in self.told["annotators"]]

    @cached_property
    def whole(self) -> dict[int, int]:
        """The criterion that stands for the whole test, by revision."""
        rows = FrozenCriterion.objects.filter(key=WHOLE_TEST, revision__test__in=self.tests)
        return dict(rows.values_list("revision_id", "pk"))

    def text(self, test: Test, is_right: bool) -> str:
        """Return an answer to the test."""
        if not is_right:
            return test.flagged_answer
        return test.reference or str(self.told["right_answers"][key_of(test)])


# Parts -------------------------------------------------------------------------------------------


def dates_sample(told: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the issue on dates with a test for each date, in the form of the sample data."""
    tests = [
        {
            "key": f"date-{number:02}",
            "messages": [{"role": "user", "content": told["prompt"].format(written)}],
            "reference": right,
            "reference_by": "human",
            "flagged_answer": wrong,
            "guidelines": told["guidelines"].format(right),
            "template": "input-output-reference-guidelines",
            "weight": 1,
            "note": "",
        }
        for number, (written, right, wrong) in enumerate(told["dates"], 1)
    ]
    fields = ("title", "description", "generic_statement", "severity")
    issue = {name: told[name] for name in fields}
    issue |= {"key": planned.DATES, "tags": [told["tag"]], "sources": [told["source"]]}
    tag = {"name": told["tag"], "kind": TagKind.DOMAIN, "parent": None}
    return {"tags": [tag], "issues": [{**issue, "tests": tests}], "feedback": []}


def invented(name: str) -> dict[str, Any]:
    """Return the fields of a model that does not exist."""
    return {
        "name": name,
        "litellm_model": f"sample/{name.partition(' ')[0]}",
        "is_scripted": True,
        "note": "Sample data: this model does not exist and cannot be called.",
    }


def key_of(row: Issue | Test) -> str:
    return row.source_id.removeprefix("sample:")


def option_of(result: Result, passes: bool) -> str:
    options = scale_of(result.revision.template).options
    return next(option.label for option in options if option.value == float(passes))


def reason_of(test: Test, passes: bool) -> str:
    if not test.reference:
        return "It keeps to the guidelines." if passes else "It breaks the first guideline."
    wanted = test.reference.splitlines()[0]
    return f"It says “{wanted}”, as the reference." if passes else f"It should say “{wanted}”."
