"""lm-evaluation-harness: samples (`--log_samples`), and results that hold them. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from runs.importers.formats.records import (
    MAX_NAME,
    Contents,
    Document,
    PeerAnswer,
    PeerRun,
    PeerScore,
    PeerTest,
    as_list,
    as_number,
    as_share,
    as_text,
    chat_of,
    key_of,
    messages_of,
    object_of,
)

NAME = "lm_eval"
TITLE = "lm-evaluation-harness samples or results"
TIME = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d.:-]+$")
KEPT = ("doc", "doc_id", "target", "doc_hash")


def matches(document: Document) -> bool:
    first = object_of(document.value)
    is_sample = {"doc_id", "doc", "arguments"} <= first.keys()
    return is_sample or (
        "results" in first and bool(first.keys() & {"configs", "n-shot", "samples"})
    )


def read(document: Document) -> Contents:
    first = object_of(document.value)
    if "results" not in first:
        task = TIME.sub("", document.stem.removeprefix("samples_"))
        contents = Contents(title=task)
        contents.notes["A file of samples does not name its model: choose it."] += 1
        return _with_samples(contents, {task: document.values}, "")
    contents = Contents(title=document.stem)
    samples = {task: as_list(rows) for task, rows in object_of(first.get("samples")).items()}
    if not samples:
        contents.problems.append(
            "The file has aggregate results only. Import its samples: run with --log_samples."
        )
    return _with_samples(contents, samples, _model(object_of(first.get("config")), first))


def _model(config: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    args = config.get("model_args")
    if isinstance(args, str):
        args = dict(part.split("=", 1) for part in args.split(",") if "=" in part)
    named = object_of(args)
    known = named.get("pretrained") or named.get("model") or found.get("model_name")
    return as_text(known or config.get("model"))[:MAX_NAME]


def _with_samples(contents: Contents, samples: Mapping[str, list[Any]], model: str) -> Contents:
    tests: dict[str, PeerTest] = {}
    for task, rows in samples.items():
        answers: dict[str, PeerAnswer] = {}
        for row in map(object_of, rows):
            test = _test(task, row, contents)
            tests.setdefault(test.key, test)
            answer = answers.setdefault(test.key, _answer(row, test.key, contents))
            answer.scores += [
                score for score in _scores(row) if score not in answer.scores
            ]  # a sample comes once for each filter
        if answers:
            run = PeerRun(label=f"{task} · {model}" if model else task, model=model)
            run.answers = list(answers.values())
            contents.runs.append(run)
    contents.tests = list(tests.values())
    if not tests and not contents.problems:
        contents.problems.append("There are no samples.")
    return contents


def _arguments(row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the arguments of each request, as new and old versions write them."""
    given = row.get("arguments")
    if isinstance(given, Mapping):
        return [list(object_of(one).values()) for one in given.values()]
    return [as_list(one) for one in as_list(given)]


def _test(task: str, row: Mapping[str, Any], contents: Contents) -> PeerTest:
    requests = _arguments(row)
    asked = requests[0][0] if requests and requests[0] else ""
    if isinstance(asked, list) and len(asked) == 1 and isinstance(asked[0], str):
        (asked,) = asked  # a chat as JSON, where a template was applied
    messages = messages_of(asked) if isinstance(asked, list) else chat_of(as_text(asked))
    target, doc = row.get("target"), object_of(row.get("doc"))
    choices = doc.get("choices", doc.get("endings"))
    choices = object_of(choices).get("text", choices)
    if isinstance(target, int | str) and isinstance(choices, list) and str(target).isdecimal():
        number = int(target)
        target = choices[number] if number < len(choices) else target
    return PeerTest(
        key=key_of(task, messages),
        messages=messages,
        reference=as_text(target).strip(),
        tags=[],
        extras={NAME: {"task": task, **{name: row[name] for name in KEPT if name in row}}},
    )


def _answer(row: Mapping[str, Any], test: str, contents: Contents) -> PeerAnswer:
    replies = as_list(row.get("resps"))
    first = as_list(replies[0])[0] if replies and as_list(replies[0]) else None
    if isinstance(first, list) and first and as_number(_number(first[0])) is not None:
        text = _likeliest(row, replies)
        contents.notes[
            "Samples were scored by likelihood: the answer is the likeliest choice."
        ] += 1
    else:
        text = as_text(first)
    error = "" if text.strip() else "The sample has no answer."
    return PeerAnswer(test=test, text="" if error else text, error=error)


def _likeliest(row: Mapping[str, Any], replies: list[Any]) -> str:
    values = [_number(as_list(as_list(one)[0])[0]) for one in replies if as_list(one)]
    known = [-float("inf") if value is None else value for value in values]
    best = known.index(max(known))
    requests = _arguments(row)
    chosen = requests[best] if best < len(requests) else []
    return as_text(chosen[1]).strip() if len(chosen) > 1 else ""


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return as_number(value)


def _scores(row: Mapping[str, Any]) -> Iterator[PeerScore]:
    chosen = as_text(row.get("filter"))
    for metric in map(as_text, as_list(row.get("metrics"))):
        value = row.get(metric)
        number = float(value) if isinstance(value, bool) else as_share(value)
        if number is not None:
            name = f"{metric}, {chosen}" if chosen not in ("", "none") else metric
            yield PeerScore(name[:80], number)
