"""Leaderboards: the latest conclusive run of each suite and model, each suite counting once. Pure.

If the latest launch ran several variants of a model (system prompts, temperatures), its score in
the suite is their mean. A model needs enough suites to be ranked.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from evalhub.display.formatting import counted

MIN_SUITES = 10
MIN_SUITES_OF_TOPIC = 5


class SuiteRun(NamedTuple):
    """A conclusive run of a suite.

    Attributes:
        model: Key of the model's identity.
        variant: Key of the system prompt and parameters.
        launch: The launch that started it; None: started alone.
        tests: Fingerprint of the suite's tests.
        scale: Key of the way it was judged and scored, by the jury of the name `jury`.
        own_beta: Share of similarity in the scores.
        model_id: The language model, which may not be the only one with this key.
    """

    run: int
    suite: int
    model: str
    variant: str
    launch: int | None
    tests: str
    scale: str
    jury: str = ""
    own_beta: float = 0.0
    model_id: int = 0

    @property
    def version(self) -> str:
        """Of tests and jury; only equal versions are compared."""
        return f"{self.tests} {self.scale}"


@dataclass(frozen=True)
class Latest:
    """The runs that count for one model in one suite: the newest, and its siblings of one launch.

    Siblings are other variants of the same launch and version, the newest run of each.
    """

    suite: int
    model: str
    version: str
    runs: tuple[int, ...]


def latest(took: Iterable[SuiteRun]) -> list[Latest]:
    """Select the runs that count, once for each suite and model, of these, oldest first."""
    groups: dict[tuple[int, str], list[SuiteRun]] = defaultdict(list)
    for run in took:
        groups[run.suite, run.model].append(run)
    return [_latest(groups[key]) for key in sorted(groups)]


def _latest(runs: list[SuiteRun]) -> Latest:
    newest = runs[-1]
    siblings: dict[str, SuiteRun] = {}
    for run in runs:
        is_sibling = run.launch is not None and run.launch == newest.launch
        if run is newest or (is_sibling and run.version == newest.version):
            siblings[run.variant] = run
    counted = tuple(sorted(run.run for run in siblings.values()))
    return Latest(newest.suite, newest.model, newest.version, counted)


@dataclass(frozen=True)
class Sums:
    """A run's scores, added up.

    `weight` is Σ w over results with a score, `weighted` their Σ w·s. `own_beta` is the share of
    similarity in these scores. `total` counts all results, scored or not. `mixed` of them have
    a similarity too: their weight, Σ w·s and Σ w·max(0, similarity).
    """

    n: int
    weight: float
    weighted: float
    own_beta: float = 0.0
    total: int = 0
    mixed_weight: float = 0.0
    mixed: float = 0.0
    similar: float = 0.0

    @property
    def score(self) -> float | None:
        """Σ w·s / Σ w, in [0, 1]; None without any score."""
        return self.weighted / self.weight if self.weight else None

    def at(self, beta: float) -> float | None:
        """Return the score at another weight of similarity, in [0, 1].

        The rubric's part is recovered from s = (1 - β)·rubric + β·similarity with the run's own β.

        Returns:
            None if the rubric cannot be recovered (the run's own β is 1), or if β > 0 and no
            scored result has a similarity.
        """
        if beta == self.own_beta:
            return self.score
        if self.own_beta == 1 or not self.mixed_weight:
            return None
        rubric = (self.mixed - self.own_beta * self.similar) / (1 - self.own_beta)
        score = ((1 - beta) * rubric + beta * self.similar) / self.mixed_weight
        return min(1.0, max(0.0, score))


def remixed(
    score: float, similarity: float | None, *, own_beta: float, beta: float
) -> float | None:
    """Return one result's score at another weight of similarity, as `Sums.at` does for a run."""
    if beta == own_beta:
        return score
    if own_beta == 1 or similarity is None:
        return None
    similar = max(0.0, similarity)
    rubric = (score - own_beta * similar) / (1 - own_beta)
    return min(1.0, max(0.0, (1 - beta) * rubric + beta * similar))


@dataclass(frozen=True)
class SuiteScore:
    """A model's score in one suite: the mean over its variants that have one."""

    suite: int
    version: str
    score: float
    runs: tuple[int, ...]


Scores = Mapping[str, Mapping[int, SuiteScore]]
"""Suite scores by model and suite."""


def suite_scores(found: Iterable[Latest], scores: Mapping[int, float | None]) -> Scores:
    """Return the scores of each model by suite.

    Args:
        scores: By run; missing or None without a score.
    """
    by_model: dict[str, dict[int, SuiteScore]] = defaultdict(dict)
    for one in found:
        measured = [score for run in one.runs if (score := scores.get(run)) is not None]
        if measured:
            mean = fmean(measured)
            by_model[one.model][one.suite] = SuiteScore(one.suite, one.version, mean, one.runs)
    return by_model


def by_family(scores: Scores, families: Mapping[str, str]) -> Scores:
    """Average the models of each family in each suite.

    Args:
        families: By model.
    """
    groups: dict[str, dict[int, list[SuiteScore]]] = defaultdict(lambda: defaultdict(list))
    for model, suites in scores.items():
        for suite, score in suites.items():
            groups[families[model]][suite].append(score)
    return {
        family: {
            suite: SuiteScore(
                suite=suite,
                version=" and ".join(sorted({one.version for one in members})),
                score=fmean(one.score for one in members),
                runs=tuple(sorted(run for one in members for run in one.runs)),
            )
            for suite, members in suites.items()
        }
        for family, suites in groups.items()
    }


@dataclass(frozen=True)
class RankedModel:
    """A ranked model: the mean of its suite scores, each counting once."""

    model: str
    mean: float
    suites: tuple[SuiteScore, ...]


@dataclass(frozen=True)
class Excluded:
    """A model that is not ranked, and the reason."""

    model: str
    reason: str


@dataclass(frozen=True)
class Board:
    """Ranked models, best first and equal ones by name, and excluded models.

    `shared` are the suites that all ranked models ran; None if not requested.
    """

    ranked: tuple[RankedModel, ...]
    excluded: tuple[Excluded, ...]
    shared: frozenset[int] | None = None


def board(scores: Scores, *, least: int, same_only: bool = False) -> Board:
    """Rank the models with scores in at least `least` suites.

    Args:
        same_only: Count only the suites that all of these models ran.
    """
    enough = {model: suites for model, suites in scores.items() if len(suites) >= least}
    shared = None
    if same_only:
        shared = frozenset.intersection(*map(frozenset, enough.values())) if enough else frozenset()
        enough = {
            model: {suite: score for suite, score in suites.items() if suite in shared}
            for model, suites in enough.items()
        }
    ranked = [
        RankedModel(
            model,
            fmean(one.score for one in suites.values()),
            tuple(suites[suite] for suite in sorted(suites)),
        )
        for model, suites in enough.items()
        if suites
    ]
    few = {model: len(suites) for model, suites in scores.items() if len(suites) < least}
    return Board(
        ranked=tuple(sorted(ranked, key=lambda one: (-round(one.mean, 9), one.model))),
        excluded=tuple(
            Excluded(model, needs(least, "suite", has))
            for model, has in sorted(few.items(), key=lambda one: (-one[1], one[0]))
        ),
        shared=shared,
    )


def needs(least: int, what: str, has: int) -> str:
    """Return the reason for an exclusion, such as "needs ≥ 10 suites, has 4"."""
    return f"needs ≥ {counted(least, what)}, has {has}"
