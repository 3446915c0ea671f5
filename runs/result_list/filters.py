"""Filters of a run's results, read from the URL and written back into it."""

from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from evalhub.llm.completion import Ending
from runs.models import Outcome
from runs.result_list.sorting import SORTS

MAX_DIGITS = 18
"""Of an id in a URL."""

ORIGINS = {"human": "human tests", "synthetic": "synthetic tests"}
"""Tests that people wrote, or took from elsewhere, and those that a model drafted."""

ANY = "any"
ENDINGS = {ANY: "broken off", **{one.value: one.words for one in Ending if one}}
"""Answers that broke off, in any way or in one."""

PARAMETERS = {name: name for name in ("issue", "test", "tag", "domain", "origin", "ending")} | {
    "q": "search",
    "sort": "sort",
}
"""Parameters of one value with the attributes that hold them."""

FLAGS = ("overridden", "disputed", "failed_judgments", "by_judge")


@dataclass(frozen=True)
class Filters:
    """A view of the grid. The defaults show everything.

    `domain` includes its subdomains. `origin` is one of `ORIGINS`, or "", `ending` of `ENDINGS`.
    `by_judge` (one column per judge) does not filter. `problems` describes ignored parameters.
    """

    outcomes: tuple[str, ...] = ()
    issue: int | None = None
    test: int | None = None
    tag: str = ""
    domain: str = ""
    overridden: bool = False
    disputed: bool = False
    failed_judgments: bool = False
    by_judge: bool = False
    origin: str = ""
    ending: str = ""
    search: str = ""
    sort: str = ""
    page: int = 1
    problems: tuple[str, ...] = ()

    @classmethod
    def read(cls, query: QueryDict) -> Self:
        """Read the filters from a query string; invalid parameters are ignored and reported."""
        problems: list[str] = []
        outcomes = list(dict.fromkeys(filter(None, query.getlist("outcome"))))
        unknown = [one for one in outcomes if one not in Outcome.values]
        problems += [_not_one_of("outcome", one, Outcome.values) for one in unknown]
        chosen = {}
        for name, known in (("origin", ORIGINS), ("ending", ENDINGS), ("sort", SORTS)):
            chosen[name] = query.get(name, "")
            if chosen[name] and chosen[name] not in known:
                problems.append(_not_one_of(name, chosen[name], known))
                chosen[name] = ""
        return cls(
            outcomes=tuple(one for one in outcomes if one not in unknown),
            issue=_number(query, "issue", problems),
            test=_number(query, "test", problems),
            tag=query.get("tag", ""),
            domain=query.get("domain", ""),
            search=query.get("q", "").strip()[:200],
            origin=chosen["origin"],
            ending=chosen["ending"],
            sort=chosen["sort"],
            page=_number(query, "page", problems) or 1,
            problems=tuple(problems),
            **{flag: query.get(flag) == "1" for flag in FLAGS},
        )

    def query(self, **changes: Any) -> str:
        """Return the query string with some parameters changed; the first page unless given."""
        view = {**vars(self), "page": 1, **changes}  # a page has hundreds of links
        pairs = [("outcome", outcome) for outcome in view["outcomes"]]
        pairs += [(name, str(view[part])) for name, part in PARAMETERS.items() if view[part]]
        pairs += [(flag, "1") for flag in FLAGS if view[flag]]
        pairs += [("page", str(view["page"]))] if view["page"] > 1 else []
        return urlencode(pairs)

    @property
    def origins(self) -> dict[str, str]:
        return ORIGINS

    @property
    def endings(self) -> dict[str, str]:
        return ENDINGS

    @property
    def narrows(self) -> bool:
        """Some results are filtered out."""
        plain = replace(self, by_judge=False, problems=())
        return replace(plain, sort="", page=1) != Filters()


def _not_one_of(name: str, value: str, known: Any) -> str:
    return f"Ignored {name}={value}: use one of {', '.join(filter(None, known))}."


def _number(query: QueryDict, name: str, problems: list[str]) -> int | None:
    text = query.get(name, "")
    if not text:
        return None
    is_short = len(text) <= MAX_DIGITS and text.isascii() and text.isdigit()
    if is_short and int(text) > 0:
        return int(text)
    problems.append(f"Ignored {name}={text:.40}: use a number from 1.")
    return None
