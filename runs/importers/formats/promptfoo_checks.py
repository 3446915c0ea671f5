"""Assertions of promptfoo ↔ our criteria. Pure.

An assertion without an equal here becomes a check that is stored and never run, so that it is
shown, counted and written out again as it was.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from runs.importers.formats.records import Json, as_list, as_number, as_text, object_of

STORED = "call"
"""The check that holds what has no equal."""

JUDGED = {
    "llm-rubric": "{}",
    "model-graded-closedqa": "{}",
    "g-eval": "{}",
    "factuality": "The answer agrees with these facts: {}",
    "model-graded-factuality": "The answer agrees with these facts: {}",
}
"""Assertions that a model decides, and the criterion that they become."""


class _Form(NamedTuple):
    """A check, its arguments of an assertion, and the assertion's fields of its arguments."""

    check: str
    read: Callable[[Mapping[str, Any]], Json]
    write: Callable[[Json], Json]


def _text(key: str) -> Callable[[Mapping[str, Any]], Json]:
    return lambda one: {key: _plain(one.get("value"))}


def _plain(value: Any) -> str:
    if isinstance(value, dict | list) or value is None:
        raise ValueError("its value is no text")
    return as_text(value)


def _texts(one: Mapping[str, Any]) -> Json:
    value = one.get("value")
    if isinstance(value, str):
        return {"texts": [part.strip() for part in value.split(",") if part.strip()]}
    if not isinstance(value, list):
        raise ValueError("its value is no list")
    return {"texts": [_plain(part) for part in value]}


def _threshold(key: str) -> Callable[[Mapping[str, Any]], Json]:
    def read(one: Mapping[str, Any]) -> Json:
        number = as_number(one.get("threshold"))
        if number is None:
            raise ValueError("it has no threshold")
        return {key: int(number) if key == "ms" else number}

    return read


def _words(one: Mapping[str, Any]) -> Json:
    value = one.get("value")
    if as_number(value) is not None:
        return {"least": int(value), "most": int(value)}  # type: ignore[arg-type]
    found = {"least": object_of(value).get("min"), "most": object_of(value).get("max")}
    numbers = {name: int(n) for name, v in found.items() if (n := as_number(v)) is not None}
    if not numbers:
        raise ValueError("its value is no number of words")
    return numbers


def _write_words(arguments: Json) -> Json:
    names = {"least": "min", "most": "max"}
    return {"value": {names[k]: v for k, v in arguments.items() if k in names and v is not None}}


def _json(one: Mapping[str, Any]) -> Json:
    if one.get("value") not in (None, ""):
        raise ValueError("it has a schema")
    return {}


def _schema(one: Mapping[str, Any]) -> Json:
    if not isinstance(one.get("value"), Mapping):
        raise ValueError("its value is no schema")
    return {"schema": one["value"]}


FORMS: dict[str, tuple[_Form, ...]] = {
    "equals": (_Form("equals", _text("text"), lambda a: {"value": a["text"]}),),
    "contains": (_Form("contains", _text("text"), lambda a: {"value": a["text"]}),),
    "contains-any": (_Form("contains_any", _texts, lambda a: {"value": a["texts"]}),),
    "contains-all": (_Form("contains_all", _texts, lambda a: {"value": a["texts"]}),),
    "starts-with": (_Form("starts_with", _text("text"), lambda a: {"value": a["text"]}),),
    "regex": (_Form("matches", _text("pattern"), lambda a: {"value": a["pattern"]}),),
    "is-json": (
        _Form("is_json", _json, lambda a: {}),
        _Form("json_schema", _schema, lambda a: {"value": a["schema"]}),
    ),
    "word-count": (_Form("word_count", _words, _write_words),),
    "latency": (_Form("latency_at_most", _threshold("ms"), lambda a: {"threshold": a["ms"]}),),
    "cost": (_Form("cost_at_most", _threshold("usd"), lambda a: {"threshold": a["usd"]}),),
}
CASELESS = ("contains", "contains-any", "contains-all")
KNOWN_FIELDS = ("type", "value", "threshold", "weight", "metric")


def read(assertion: Mapping[str, Any], key: str) -> tuple[list[Json], str]:
    """Return the criteria of an assertion, and what of it has no equal here ("" if nothing)."""
    kind = as_text(assertion.get("type"))
    weight = as_number(assertion.get("weight"))
    shared: Json = {"key": key, "weight": 1.0 if weight is None else weight}
    if not 0.1 <= shared["weight"] <= 10:
        return [_stored(assertion, {**shared, "weight": 1.0})], f"the weight {weight:g}"
    if metric := assertion.get("metric"):
        shared["citation"] = f"Metric {as_text(metric)}"[:200]
    plain = kind.removeprefix("not-")
    extra = sorted(set(assertion) - set(KNOWN_FIELDS))
    if plain in JUDGED and plain == kind and assertion.get("value") and not extra:
        texts = [JUDGED[plain].format(as_text(one)) for one in as_list(assertion["value"])]
        if len(texts) == 1:
            return [{**shared, "text": texts[0]}], ""
        return [{**shared, "key": f"{key}.{n}", "text": one} for n, one in enumerate(texts, 1)], ""
    found = None if extra else _check(plain, assertion)
    if found is None:
        return [_stored(assertion, shared)], f"the assertion “{kind}”"
    check, arguments = found
    if kind != plain:
        arguments = {**arguments, "negate": True}
    return [{**shared, "check": check, "arguments": arguments}], ""


def _check(kind: str, assertion: Mapping[str, Any]) -> tuple[str, Json] | None:
    caseless = kind.startswith("i") and kind[1:] in CASELESS
    for form in FORMS.get(kind[1:] if caseless else kind, ()):
        try:
            arguments = form.read(assertion)
        except ValueError:
            continue
        return form.check, {**arguments, **({"ignore_case": True} if caseless else {})}
    return None


def _stored(assertion: Mapping[str, Any], shared: Json) -> Json:
    kind = as_text(assertion.get("type"))
    if kind == "javascript" and isinstance(assertion.get("value"), str) and len(assertion) == 2:
        return {**shared, "check": "js", "arguments": {"source": assertion["value"]}}
    return {**shared, "check": STORED, "arguments": {"source": {"promptfoo": dict(assertion)}}}


def write(criterion: Mapping[str, Any]) -> tuple[Json, str]:
    """Return the assertion of a criterion, and what of it has no equal there ("" if nothing)."""
    weight = criterion.get("weight", 1)
    shared: Json = {} if weight == 1 else {"weight": weight}
    lost = "".join(
        f"; {name}" for name in ("alternative", "mandatory") if criterion.get(name)
    ).removeprefix("; ")
    check, arguments = criterion.get("check"), dict(object_of(criterion.get("arguments")))
    inverted = criterion.get("polarity") == "should_not"
    if not check:
        text = as_text(criterion.get("text"))
        value = f"The answer does not do this: {text}" if inverted else text
        return {"type": "llm-rubric", "value": value, **shared}, lost
    source = arguments.get("source")
    if check == STORED and isinstance(kept := object_of(source).get("promptfoo"), Mapping):
        return {**kept, **shared}, lost
    if check == "js" and isinstance(source, str):
        return {"type": "javascript", "value": source, **shared}, lost
    negate = bool(arguments.pop("negate", False)) != inverted
    caseless = bool(arguments.pop("ignore_case", False))
    arguments.pop("exact", None)  # as all comparisons are there
    for kind, forms in FORMS.items():
        for form in forms:
            if form.check == check and (not caseless or kind in CASELESS):
                name = f"{'not-' if negate else ''}{'i' if caseless else ''}{kind}"
                return {"type": name, **form.write(arguments), **shared}, lost
    stand_in = {"type": "javascript", "value": "true", "metric": f"EvalHub check {check}"}
    return {**stand_in, **shared}, f"the check {check}"
