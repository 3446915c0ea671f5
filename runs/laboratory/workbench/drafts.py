"""Synthetic drafts that become rows of a workbench."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from issues.drafting.conflicts import is_same_model
from issues.drafting.settings import DraftingSettings
from issues.models import Draft, Generation, Test
from issues.rubrics.scales import from_json
from runs.laboratory.workbench.judges import setup_of
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.laboratory.workbench.rows import add_rows, keys_of


@dataclass(frozen=True)
class BenchDestination:
    """A workbench as the place that accepted drafts go to."""

    bench: Workbench
    parameter = "workbench"

    def __str__(self) -> str:
        return f"workbench “{self.bench}”"

    @property
    def pk(self) -> int:
        return int(self.bench.pk)

    @property
    def test(self) -> Test | None:
        test: Test | None = self.bench.test
        return test

    def get_absolute_url(self) -> str:
        return self.bench.get_absolute_url()

    @property
    def initial(self) -> Mapping[str, Any]:
        """Ask for a draft of each option of its prompt, about its first criterion."""
        bench = self.bench
        asked = [content["text"] for content in bench.criteria if not content.get("check")]
        text = asked[0] if asked else bench.guidelines
        options = [
            {
                "label": option.label,
                "description": option.description,
                "value": option.value,
                "quantity": 1,
            }
            for option in from_json(bench.scale).options
        ]
        name = (asked[0] if asked else bench.name)[:120]
        return {"criterion": name, "description": text, "options": options, "borderline": 1}

    def conflicts(self, generator: LanguageModel) -> Iterator[str]:
        ids = {each.judge.endpoint.language_model_id for each in setup_of(self.bench).judges}
        judges = LanguageModel.objects.filter(pk__in=ids)
        if any(is_same_model(generator, judge) for judge in judges):
            yield f"{generator} judges in this workbench: it would judge what it wrote."

    def started(self, generation: Generation) -> None:
        self.bench.generations.add(generation)

    def take(self, draft: Draft, expected: str, *, by: User) -> None:
        self._check(by)
        sealed = list(draft.generation.sources.filter(sealed=True)[:2])
        if len(sealed) > 1:
            raise Refused(["This draft comes from several sealed tests. A row can belong to one."])
        common = {"messages": draft.messages, "context": draft.context, "draft": draft}
        common |= {"test": sealed[0] if sealed else None}
        add_rows(self.bench, [{**common, **each} for each in _answers(self.bench, draft, expected)])

    def give_back(self, draft: Draft, *, by: User) -> None:
        self._check(by)
        rows = BenchRow.objects.filter(draft=draft, workbench=self.bench)
        used = [row for row in rows if row.version or row.example_id or row.judgments.exists()]
        if used:
            raise Refused(
                [
                    f"Row {used[0].place} was changed or judged since. So accepting {draft} cannot "
                    "be undone."
                ]
            )
        rows.delete()

    def _check(self, by: User) -> None:
        if not self.bench.may_be_edited_by(by):
            raise Refused([f"You may not change the {self}."])


def _answers(bench: Workbench, draft: Draft, expected: str) -> list[dict[str, Any]]:
    """Return answer, intention and expectation of each row: a pair makes two."""
    chosen = DraftingSettings.model_validate(draft.generation.settings)
    if draft.is_pair:
        meant = [chosen.best.label, chosen.worst.label]
        texts = [draft.answer, draft.second_answer]
        meant = meant if draft.winner == "first" else meant[::-1]
        return [
            {"answer": text, "intended": label} for text, label in zip(texts, meant, strict=True)
        ]
    row: dict[str, Any] = {"answer": draft.answer, "intended": draft.meant}
    key = _key(bench, chosen)
    is_known = expected in {option.label for option in from_json(bench.scale).options}
    return [{**row, "expected": {key: expected} if is_known and key is not None else {}}]


def _key(bench: Workbench, chosen: DraftingSettings) -> str | None:
    """Return the key of the criterion that the drafts are about; None if that is not clear."""
    same = [content["key"] for content in bench.criteria if content["text"] == chosen.description]
    keys = same or keys_of(bench)
    return keys[0] if len(keys) == 1 else None


def found(pk: int, user: User) -> BenchDestination | None:
    bench = Workbench.objects.seen_by(user).filter(pk=pk).first()
    return BenchDestination(bench) if bench and bench.may_be_edited_by(user) else None


def of(generation: Generation) -> BenchDestination | None:
    bench = Workbench.objects.filter(generations=generation).first()
    return BenchDestination(bench) if bench else None
