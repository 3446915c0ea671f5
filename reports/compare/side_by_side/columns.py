"""The columns of runs side by side: a run each, or a model family each."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reports.documents.document import Column
from reports.queries.names import identities
from runs.comparison.tested_rule import Tested, together
from runs.models import Run


@dataclass(frozen=True)
class CompareColumn:
    """A column of the grid, and the runs added up in it."""

    column: Column
    runs: tuple[Run, ...]

    def of(self, tested: Mapping[int, Tested]) -> Tested | None:
        """Add up a test, given by run, over these runs; None: no run has it."""
        parts = [tested[run.pk] for run in self.runs if run.pk in tested]
        return together(parts) if parts else None


def run_columns(runs: Sequence[Run]) -> list[CompareColumn]:
    """Return a column for each run, titled by model and release (and id where equal)."""
    titles = [f"{run.model_name} {run.release}".strip() for run in runs]
    return [
        CompareColumn(
            Column(
                f"run_{run.pk}",
                title if titles.count(title) == 1 else f"{title} (run {run.pk})",
                "link",
                run.label,
            ),
            (run,),
        )
        for run, title in zip(runs, titles, strict=True)
    ]


def family_columns(runs: Sequence[Run]) -> list[CompareColumn]:
    """Return a column for each family, in the order of their first runs."""
    known = identities()
    families: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        families[known[run.language_model_id].family].append(run)
    columns = []
    for number, (family, members) in enumerate(families.items(), 1):
        models = ", ".join(dict.fromkeys(run.model_name for run in members))
        column = Column(f"family_{number}", family, "link", models)
        columns.append(CompareColumn(column, tuple(members)))
    return columns
