"""Verdicts in both orders, by judge: numbers only, without texts of tests."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from evalhub.models import ItemState
from evalhub.statistics.judges.position_bias import OrderedVerdict
from issues.models import JudgeTemplate
from runs.laboratory.pairwise.models import PairChoice, PairJudgment
from runs.laboratory.position_bias.models import ReversedJudgment

PAIR_PLACES = {PairChoice.FIRST: 0.0, PairChoice.TIE: 0.5, PairChoice.SECOND: 1.0}


def verdicts_on_options(judge_runs: Collection[int]) -> dict[int, list[OrderedVerdict]]:
    """Return the verdicts of these judge runs with the options in both orders, by judge.

    A verdict that was given again more than once counts with its newest reversed one. Three
    queries at most.
    """
    rows = ReversedJudgment.objects.filter(
        judge_run__judge_run__in=judge_runs, state=ItemState.DONE
    ).order_by("-pk")
    asked = [f"judgment__{name}" for name in ("judge", "template", "option", "result__test")]
    read = list(rows.values_list("judgment", *asked, "judgment__result__issue", "option"))
    places = option_places({row[2] for row in read})
    found: dict[int, list[OrderedVerdict]] = defaultdict(list)
    seen: set[int] = set()
    for judgment, judge, template, given, test, issue, turned in read:
        known = places.get(template, {})
        if judgment not in seen and given in known and turned in known:
            seen.add(judgment)
            found[judge].append(OrderedVerdict(test, issue, known[given], known[turned]))
    return dict(found)


def option_places(templates: Collection[int]) -> dict[int, dict[str, float]]:
    """Return the place of each option of these templates, 0 for the first to 1 for the last."""
    rows = JudgeTemplate.objects.filter(pk__in=templates).values_list("pk", "scale")
    return {pk: _places(scale["options"]) for pk, scale in rows}


def _places(options: Sequence[Mapping[str, object]]) -> dict[str, float]:
    last = max(1, len(options) - 1)
    return {str(option["label"]).strip(): n / last for n, option in enumerate(options)}


def verdicts_on_pairs(runs: Collection[int]) -> dict[int, list[OrderedVerdict]]:
    """Return the choices between answers of these runs in both orders, by language model.

    Of several judge runs on a pair by one model the newest counts. One query.
    """
    rows = PairJudgment.objects.filter(
        pair__first__run__in=runs, pair__second__run__in=runs, state=ItemState.DONE
    ).order_by("-judge_run", "pair")
    fields = ("judge_run__language_model", "judge_run", "pair", "order", "choice")
    chosen: dict[tuple[int, int, int], dict[int, str]] = defaultdict(dict)
    of: dict[int, tuple[int, int]] = {}
    about = ("pair__first__test", "pair__first__issue")
    for model, judge_run, pair, order, choice, test, issue in rows.values_list(*fields, *about):
        chosen[model, judge_run, pair][order] = choice
        of[pair] = test, issue
    found: dict[int, list[OrderedVerdict]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for (model, _, pair), orders in chosen.items():
        if len(orders) == 2 and (model, pair) not in seen:
            seen.add((model, pair))
            given, turned = (PAIR_PLACES[PairChoice(orders[order])] for order in (0, 1))
            found[model].append(OrderedVerdict(*of[pair], given, turned))
    return dict(found)
