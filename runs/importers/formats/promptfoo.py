"""promptfoo: configurations in and out, and the JSON of results. Pure.

Format: https://www.promptfoo.dev/docs/configuration/reference/
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

from runs.importers.formats import promptfoo_checks
from runs.importers.formats.promptfoo_prompts import rendered
from runs.importers.formats.records import (
    Contents,
    Document,
    Json,
    PeerAnswer,
    PeerRun,
    PeerScore,
    PeerTest,
    as_count,
    as_list,
    as_number,
    as_share,
    as_text,
    chat_of,
    key_of,
    object_of,
    with_texts,
)
from runs.limits import MAX_PEER_TESTS

NAME = "promptfoo"
TITLE = "promptfoo configuration or results"
EXTERNAL = ("file://", "http://", "https://", "huggingface://", "python:", "exec:")
ALL_PASS = 1.0
"""The threshold of a test without one, which passes only if all its assertions do."""
MARGIN = 1e-6
"""promptfoo passes a score that equals the threshold, we one above it."""


def matches(document: Document) -> bool:
    found = object_of(document.value)
    if document.kind != "json":
        return False
    is_result = isinstance(object_of(found.get("results")).get("results"), list)
    return is_result or ("prompts" in found and bool(found.keys() & {"tests", "scenarios"}))


def read(document: Document) -> Contents:
    found = object_of(document.value)
    results = object_of(found.get("results")).get("results")
    if isinstance(results, list):
        return _read_results(document, found, results)
    return _read_configuration(document, found)


# Configurations ----------------------------------------------------------------------------------


def _read_configuration(document: Document, found: Mapping[str, Any]) -> Contents:
    contents = Contents(title=as_text(found.get("description")) or document.stem)
    prompts = list(_prompts(found.get("prompts"), contents))
    default = object_of(found.get("defaultTest"))
    if found.get("defaultTest") and not default:
        contents.notes["defaultTest is in another file: not read."] += 1
    known = ("description", "prompts", "providers", "targets", "tests", "scenarios", "defaultTest")
    for name in sorted(set(found) - {*known, "$schema", "env", "outputPath", "commandLineOptions"}):
        contents.notes[f"“{name}” has no equal here."] += 1
    rows = islice(_cases(found, default, prompts, contents), MAX_PEER_TESTS + 1)
    tests: dict[str, PeerTest] = {}
    for test in rows:
        if test.key in tests:
            contents.notes["Tests with the same prompt and variables: the first one is taken."] += 1
        tests.setdefault(test.key, test)
    contents.tests = list(tests.values())
    if len(tests) > MAX_PEER_TESTS:
        contents.problems.append(f"There are more than {MAX_PEER_TESTS:,} tests: split the file.")
    if not tests:
        contents.problems.append("There are no tests whose prompts and variables are in the file.")
    return contents


def _prompts(given: Any, contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each prompt."""
    for one in as_list(given):
        fields = object_of(one)
        text = as_text(fields.get("raw") or fields.get("id") if fields else one)
        if text.startswith(EXTERNAL):
            contents.notes[f"The prompt {text[:80]} is in another file: not read."] += 1
        elif text:
            yield as_text(fields.get("label")), text


def _cases(
    found: Mapping[str, Any],
    default: Mapping[str, Any],
    prompts: Sequence[tuple[str, str]],
    contents: Contents,
) -> Iterator[PeerTest]:
    for case in _given_cases(found, contents):
        fields = object_of(case)
        variables = {**object_of(default.get("vars")), **object_of(fields.get("vars"))}
        wanted = {as_text(one) for one in as_list(fields.get("prompts"))}
        for name in sorted(set(fields) - TEST_FIELDS):
            contents.notes[f"“{name}” of tests has no equal here."] += 1
        asserts = [*as_list(default.get("assert")), *as_list(fields.get("assert"))]
        for values in _combinations(variables):
            for label, prompt in prompts:
                if not wanted or label in wanted:
                    yield from _test(prompt, values, fields, default, asserts, contents)


TEST_FIELDS = {
    *("description", "vars", "assert", "threshold", "prompts", "metadata"),
}


def _given_cases(found: Mapping[str, Any], contents: Contents) -> Iterator[Any]:
    for case in as_list(found.get("tests")):
        if isinstance(case, Mapping) and not case.get("path"):
            yield case
        else:
            contents.notes[f"Tests in another file are not read: {as_text(case)[:80]}"] += 1
    for scenario in as_list(found.get("scenarios")):
        fields = object_of(scenario)
        configs = [object_of(one) for one in as_list(fields.get("config"))] or [{}]
        for config, case in product(configs, map(object_of, as_list(fields.get("tests")))):
            shared = {**object_of(config.get("vars")), **object_of(case.get("vars"))}
            asserts = [*as_list(config.get("assert")), *as_list(case.get("assert"))]
            yield {**config, **case, "vars": shared, "assert": asserts}


def _combinations(variables: Mapping[str, Any]) -> Iterator[Json]:
    """Yield each combination of the values of variables that are lists of texts."""
    names = list(variables)
    lists = [
        v if isinstance(v := variables[name], list) and v and isinstance(v[0], str) else [v]
        for name in names
    ]
    for values in islice(product(*lists), MAX_PEER_TESTS + 1):
        yield dict(zip(names, values, strict=True))


def _test(
    prompt: str,
    values: Json,
    fields: Mapping[str, Any],
    default: Mapping[str, Any],
    asserts: Sequence[Any],
    contents: Contents,
) -> Iterator[PeerTest]:
    outside = [name for name, value in values.items() if as_text(value).startswith(EXTERNAL)]
    text = rendered(prompt, values)
    if outside or text is None:
        why = f"the variable {outside[0]} is in another file" if outside else "its prompt has logic"
        contents.notes[f"Tests are left out: {why}."] += 1
        return
    messages = chat_of(text)
    threshold = as_share(fields.get("threshold", default.get("threshold")))
    yield PeerTest(
        key=key_of(messages),
        messages=messages,
        criteria=_criteria(asserts, values, contents),
        texts={"note": as_text(fields.get("description"))},
        pass_threshold=_above(threshold),
        extras=_extras(fields, prompt, values, messages),
    )


def _extras(fields: Mapping[str, Any], prompt: str, values: Json, messages: list[Json]) -> Json:
    """Return what a test is written with again; `prompt` is "" where it is not known."""
    kept = {name: fields.get(name) for name in ("description", "metadata")}
    if prompt:
        kept |= {"prompt": prompt, "vars": values, "of": key_of(messages)}
    return {NAME: {name: value for name, value in kept.items() if value}}


def _above(threshold: float | None) -> float:
    return max(0.0, (ALL_PASS if threshold is None else threshold) - MARGIN)


def _criteria(asserts: Sequence[Any], values: Mapping[str, Any], contents: Contents) -> list[Json]:
    def fill(text: str) -> str:
        known = rendered(text, values)
        return text if known is None else known

    found: list[Json] = []
    for number, assertion in enumerate(_flat(asserts, contents), 1):
        filled = with_texts(assertion, fill)
        criteria, unknown = promptfoo_checks.read(filled, f"a{number}")
        if unknown:
            contents.notes[f"No equal for {unknown}: kept, but not run."] += 1
        found += criteria
    return found


def _flat(asserts: Sequence[Any], contents: Contents) -> Iterator[Mapping[str, Any]]:
    for one in asserts:
        fields = object_of(one)
        if fields.get("type") == "assert-set" and not set(fields) - {"type", "assert"}:
            yield from _flat(as_list(fields.get("assert")), contents)
        elif fields:
            yield fields


# Results -----------------------------------------------------------------------------------------


def _read_results(document: Document, found: Mapping[str, Any], results: list[Any]) -> Contents:
    config = object_of(found.get("config"))
    contents = Contents(title=as_text(config.get("description")) or document.stem)
    runs: dict[str, PeerRun] = {}
    tests: dict[str, PeerTest] = {}
    times: Counter[tuple[str, str]] = Counter()
    prompts = [text for _, text in _prompts(config.get("prompts"), Contents(""))]
    params = _params(config)
    for row in map(object_of, results[: MAX_PEER_TESTS + 1]):
        test = _tested(row, prompts, contents)
        known = tests.setdefault(test.key, test)
        provider = object_of(row.get("provider"))
        model = as_text(provider.get("id") or row.get("provider"))
        label = as_text(provider.get("label")) or model
        run = runs.setdefault(
            label,
            PeerRun(f"{contents.title} · {label}", model, params=params.get((model, label), {})),
        )
        times[label, test.key] += 1
        run.answers.append(_answer(row, known, times[label, test.key], contents))
    if len(results) > MAX_PEER_TESTS:
        contents.problems.append(f"There are more than {MAX_PEER_TESTS:,} results: split the file.")
    contents.tests, contents.runs = list(tests.values()), list(runs.values())
    if not runs:
        contents.problems.append("There are no results.")
    return contents


PARAMS = ("temperature", "top_p", "max_tokens", "seed", "presence_penalty", "frequency_penalty")


def _params(config: Mapping[str, Any]) -> dict[tuple[str, str], Json]:
    """Return the parameters of providers, by id and label."""
    found: dict[tuple[str, str], Json] = {}
    for provider in map(object_of, as_list(config.get("providers"))):
        name = as_text(provider.get("id"))
        given = object_of(provider.get("config"))
        params = {one: given[one] for one in PARAMS if as_number(given.get(one)) is not None}
        found[name, as_text(provider.get("label")) or name] = params
    return found


def _tested(row: Mapping[str, Any], prompts: Sequence[str], contents: Contents) -> PeerTest:
    case = object_of(row.get("testCase"))
    values = dict(object_of(row.get("vars") or case.get("vars")))
    raw = as_text(object_of(row.get("prompt")).get("raw"))
    messages = chat_of(raw)
    threshold = as_share(case.get("threshold"))
    prompt = next((text for text in prompts if rendered(text, values) == raw), "")
    return PeerTest(
        key=key_of(messages),
        messages=messages,
        criteria=_criteria(as_list(case.get("assert")), values, contents),
        texts={"note": as_text(case.get("description"))},
        pass_threshold=_above(threshold),
        extras=_extras(case, prompt, values, messages),
    )


IS_ERROR = 2
"""A result's `failureReason` where there is no answer."""


def _answer(row: Mapping[str, Any], test: PeerTest, repeat: int, contents: Contents) -> PeerAnswer:
    response = object_of(row.get("response"))
    tokens = object_of(response.get("tokenUsage") or row.get("tokenUsage"))
    text = as_text(response.get("output"))
    failed = row.get("failureReason") == IS_ERROR or bool(response.get("error"))
    error = as_text(response.get("error") or row.get("error")) if failed or not text else ""
    if not error and not text:
        error = "The result has no answer."
    if error:
        return PeerAnswer(test.key, repeat=repeat, error=error[:2000])
    return PeerAnswer(
        test=test.key,
        text=text,
        repeat=repeat,
        latency_ms=as_count(row.get("latencyMs")),
        # A row's 0 is unknown too.
        cost_usd=as_number(response.get("cost", row.get("cost") or None)),
        input_tokens=as_count(tokens.get("prompt")),
        output_tokens=as_count(tokens.get("completion")),
        scores=_scores(row, test, contents),
    )


def _scores(row: Mapping[str, Any], test: PeerTest, contents: Contents) -> list[PeerScore]:
    grading = object_of(row.get("gradingResult"))
    if not test.criteria:
        passed = row.get("success")
        value = as_share(row.get("score"))
        if value is None and not isinstance(passed, bool):
            return []
        reason = as_text(grading.get("reason"))
        return [PeerScore(NAME, value, passed if isinstance(passed, bool) else None, reason)]
    parts = [object_of(one) for one in as_list(grading.get("componentResults"))]
    if len(parts) != len(test.criteria):
        contents.notes["Results lack the scores of single assertions: left out."] += 1
        return []
    return [
        PeerScore(
            NAME,
            as_share(part.get("score")),
            part.get("pass") if isinstance(part.get("pass"), bool) else None,
            as_text(part.get("reason")),
            criterion["key"],
        )
        for part, criterion in zip(parts, test.criteria, strict=True)
    ]


# Out ---------------------------------------------------------------------------------------------


def write_tests(title: str, tests: Iterable[PeerTest]) -> tuple[Json, list[str]]:
    """Return a configuration, and what of the tests has no equal there.

    Tests that came from a prompt with variables have these again, others the variable `prompt`.
    """
    notes: Counter[str] = Counter()
    by_prompt: dict[str, list[Json]] = defaultdict(list)
    for test in tests:
        prompt, values = _written_prompt(test)
        case: Json = {"vars": values}
        kept = object_of(test.extras.get(NAME))
        case |= {name: kept[name] for name in ("description", "metadata") if kept.get(name)}
        if test.criteria:
            found = [promptfoo_checks.write(criterion) for criterion in test.criteria]
            case["assert"] = [assertion for assertion, _ in found]
            notes.update(f"Left out: {lost}." for _, lost in found if lost)
        elif test.reference:
            case["assert"] = [{"type": "factuality", "value": test.reference}]
        if test.pass_threshold not in (None, _above(None)):
            case["threshold"] = round((test.pass_threshold or 0) + MARGIN, 5)
        by_prompt[prompt].append(case)
    labels = {prompt: f"prompt {n}" for n, prompt in enumerate(by_prompt, 1)}
    several = len(labels) > 1
    document: Json = {
        "description": title,
        "prompts": [{"raw": prompt, "label": label} for prompt, label in labels.items()],
        "providers": [],
        "tests": [
            {**case, **({"prompts": [labels[prompt]]} if several else {})}
            for prompt, cases in by_prompt.items()
            for case in cases
        ],
    }
    return document, [f"{text} ({n} times)" if n > 1 else text for text, n in notes.items()]


def _written_prompt(test: PeerTest) -> tuple[str, Json]:
    kept = object_of(test.extras.get(NAME))
    if kept.get("prompt") and kept.get("of") == key_of(test.messages):
        return str(kept["prompt"]), dict(object_of(kept.get("vars")))
    only = test.messages[0]
    is_plain = (
        len(test.messages) == 1 and only["role"] == "user" and isinstance(only["content"], str)
    )
    text = only["content"] if is_plain else json.dumps(test.messages, ensure_ascii=False)
    return "{{prompt}}", {"prompt": text}
