"""Inspect AI: logs (`.eval` and `.json`) with their samples, in and out. Pure.

Format: https://inspect.aisi.org.uk/eval-logs.html
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

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
    key_of,
    message_of,
    object_of,
    references_of,
    user,
    with_texts,
    without_answer,
)

NAME = "inspect"
TITLE = "Inspect AI log"
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
KEPT = ("id", "input", "choices", "target", "metadata", "sandbox", "files", "setup")
ATTACHMENT = "attachment://"
HEADERS = ("header.json", "_journal/start.json")


def matches(document: Document) -> bool:
    if document.kind == "zip":
        return any(name in document.value for name in HEADERS)
    found = object_of(document.value)
    return document.kind == "json" and "eval" in found and "version" in found


def read(document: Document) -> Contents:
    header, samples = _parts(document)
    about = object_of(header.get("eval"))
    contents = Contents(title=str(about.get("task") or document.stem))
    _note_end(header, contents)
    if not samples:
        contents.problems.append("The log has no samples.")
    prompts = {_system(one) for one in samples}
    shared = prompts.pop() if len(prompts) == 1 else ""
    run = PeerRun(
        label=contents.title,
        model=str(about.get("model", "")),
        system_prompt=shared,
        params=_params(header),
    )
    tests: dict[str, PeerTest] = {}
    for sample in samples:
        test = _test(sample, contents, without_system=bool(shared))
        tests.setdefault(test.key, test)
        answer = _answer(sample, test.key, contents)
        if answer:
            run.answers.append(answer)
    contents.tests = list(tests.values())
    contents.runs = [run] if run.answers else []
    return contents


def _parts(document: Document) -> tuple[Mapping[str, Any], list[Json]]:
    if document.kind != "zip":
        header = object_of(document.value)
        return header, [one for one in as_list(header.get("samples")) if isinstance(one, Mapping)]  # type: ignore[misc]
    files = object_of(document.value)
    header = next(object_of(files[name]) for name in HEADERS if name in files)
    names = sorted(name for name in files if name.startswith("samples/"))
    return header, [dict(files[name]) for name in names if isinstance(files[name], Mapping)]


def _note_end(header: Mapping[str, Any], contents: Contents) -> None:
    status = header.get("status", "started")
    if status != "success":
        contents.notes[f"The log's status is {status}: it may be incomplete."] += 1


def _params(header: Mapping[str, Any]) -> Json:
    of_model = object_of(object_of(header.get("eval")).get("model_generate_config"))
    config = {**of_model, **object_of(object_of(header.get("plan")).get("config"))}
    names = ("temperature", "top_p", "max_tokens", "seed", "stop_seqs")
    return {name: config[name] for name in names if config.get(name) is not None}


# Samples → tests ---------------------------------------------------------------------------------


def _messages(sample: Json) -> list[Json]:
    """Return what the model was asked first: its messages before the first reply."""
    attachments = object_of(sample.get("attachments"))
    asked = []
    for value in as_list(sample.get("messages")):
        fields = object_of(value)
        if fields.get("role") == "assistant" and fields.get("source") != "input":
            break
        if message := message_of(_resolved(fields, attachments)):
            asked.append(message)
    if any(message["role"] == "user" for message in asked):
        return asked
    given = sample.get("input")
    found = [message_of(_resolved(one, attachments)) for one in as_list(given)]
    if isinstance(given, list) and all(found):
        return [message for message in found if message]
    return user(as_text(_resolved(given, attachments)))


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """Return a value with the texts that it refers to."""

    def resolve(text: str) -> Any:
        is_one = text.startswith(ATTACHMENT)
        return attachments.get(text.removeprefix(ATTACHMENT), text) if is_one else text

    return with_texts(value, resolve)


def _system(sample: Json) -> str:
    first = next(iter(_messages(sample)), {})
    return str(first["content"]) if first.get("role") == "system" else ""


def _test(sample: Json, contents: Contents, *, without_system: bool) -> PeerTest:
    messages = without_answer(_messages(sample)[1 if without_system else 0 :])
    for name in ("files", "setup", "sandbox"):
        if sample.get(name):
            contents.notes[f"Samples have {name}: kept, but nothing runs in a sandbox here."] += 1
    extras = {name: sample[name] for name in KEPT if sample.get(name) not in (None, {}, [])}
    extras["of"] = key_of(messages)
    return PeerTest(
        key=as_text(sample.get("id")) or extras["of"],
        messages=messages,
        reference=references_of(sample.get("target")),
        extras={NAME: extras},
    )


# Samples → answers -------------------------------------------------------------------------------


def _answer(sample: Json, test: str, contents: Contents) -> PeerAnswer | None:
    output = object_of(sample.get("output"))
    replies = [object_of(one) for one in as_list(sample.get("messages"))]
    replies = [
        one for one in replies if one.get("role") == "assistant" and one.get("source") != "input"
    ]
    if len(replies) > 1:
        contents.notes["Samples have several replies: the last one is the answer."] += 1
    choice = object_of(next(iter(as_list(output.get("choices"))), {}))
    last = object_of(choice.get("message")) or (replies[-1] if replies else {})
    last = object_of(_resolved(last, object_of(sample.get("attachments"))))
    message = message_of(last) or {"content": as_text(output.get("completion"))}
    calls = [_call(one) for reply in replies for one in as_list(reply.get("tool_calls"))]
    error = as_text(object_of(sample.get("error")).get("message"))[:2000]
    if not error and not message["content"] and not calls:
        error = as_text(output.get("error"))[:2000] or "The sample has no answer."
    usage, time_s = object_of(output.get("usage")), as_number(output.get("time"))
    return PeerAnswer(
        test=test,
        text="" if error else message["content"] or "",
        repeat=as_count(sample.get("epoch")) or 1,
        error=error,
        tool_calls=[] if error else calls,
        latency_ms=None if time_s is None else round(1000 * time_s),
        input_tokens=as_count(usage.get("input_tokens")),
        output_tokens=as_count(usage.get("output_tokens")),
        scores=list(_scores(sample, contents)),
    )


def _call(value: Any) -> Json:
    fields = object_of(value)
    name = fields.get("function")
    return {
        "name": name if isinstance(name, str) else as_text(object_of(name).get("name")),
        "arguments": fields.get("arguments") or {},
    }


def _scores(sample: Json, contents: Contents) -> Iterator[PeerScore]:
    found = dict(object_of(sample.get("scores")))
    if not found and sample.get("score"):
        found = {"score": sample["score"]}
    for name, score in found.items():
        value = object_of(score).get("value")
        explanation = as_text(object_of(score).get("explanation"))
        parts = value.items() if isinstance(value, Mapping) else [("", value)]
        for part, one in parts:
            title = f"{name}/{part}" if part else name
            number = _value(one)
            if number is None:
                contents.notes[f"Scores of {title} are not from 0 to 1: left out."] += 1
            else:
                yield PeerScore(title[:MAX_SCORE_NAME], number, explanation=explanation)


MAX_SCORE_NAME = 80


def _value(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    return LETTERS.get(value) if isinstance(value, str) else as_share(value)


# Out ---------------------------------------------------------------------------------------------


def write_run(run: PeerRun, tests: Sequence[PeerTest], *, created: str) -> Json:
    """Return a run as a log. Scores are those that the run has."""
    by_key = {test.key: test for test in tests}
    samples = [_sample(answer, by_key[answer.test], run) for answer in run.answers]
    names = sorted({score.name for answer in run.answers for score in answer.scores})
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "created": created,
            "task": run.label,
            "task_id": key_of(run.label, run.model),
            "run_id": key_of(run.label, created),
            "dataset": {"name": run.label, "samples": len(tests)},
            "model": run.model,
            "config": {"epochs": max((one.repeat for one in run.answers), default=1)},
        },
        "plan": {"name": "plan", "steps": [], "config": run.params},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in one for one in samples),
            "scores": [_summary(name, run.answers) for name in names],
        },
        "stats": {"started_at": created, "completed_at": created, "model_usage": {}},
        "samples": samples,
    }


def _summary(name: str, answers: Iterable[PeerAnswer]) -> Json:
    found = [one.value for answer in answers for one in answer.scores if one.name == name]
    values = [value for value in found if value is not None]
    metrics = {"mean": {"name": "mean", "value": sum(values) / len(values)}} if values else {}
    return {"name": name, "scorer": name, "params": {}, "metrics": metrics}


def _sample(answer: PeerAnswer, test: PeerTest, run: PeerRun) -> Json:
    reply = {"role": "assistant", "content": answer.text, "source": "generate"}
    if answer.tool_calls:
        calls = enumerate(answer.tool_calls, 1)
        reply["tool_calls"] = [  # type: ignore[assignment]
            {"id": f"call_{n}", "type": "function", **_written_call(one)} for n, one in calls
        ]
    system = [{"role": "system", "content": run.system_prompt}] if run.system_prompt else []
    choice = {"message": reply, "stop_reason": "stop"}
    sample: Json = {
        "id": _id(test),
        "epoch": answer.repeat,
        **write_test(test),
        "messages": [*system, *test.messages, *([] if answer.error else [reply])],
        "output": {"model": run.model, "choices": [] if answer.error else [choice]},
        "scores": {
            one.name: {"value": one.value, "answer": answer.text, "explanation": one.explanation}
            for one in answer.scores
            if one.value is not None
        },
        "metadata": object_of(test.extras.get(NAME)).get("metadata", {}),
    }
    kept = object_of(test.extras.get(NAME))
    sample |= {name: kept[name] for name in ("files", "setup", "sandbox") if kept.get(name)}
    tokens = answer.input_tokens, answer.output_tokens
    if None not in tokens:
        usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
        sample["output"]["usage"] = {**usage, "total_tokens": sum(one or 0 for one in tokens)}
    if answer.latency_ms is not None:
        sample["output"]["time"] = answer.latency_ms / 1000
    if answer.error:
        sample["error"] = {"message": answer.error, "traceback": "", "traceback_ansi": ""}
    return sample


def _written_call(call: Json) -> Json:
    function = object_of(call.get("function")) or call
    arguments = function.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {"arguments": arguments}
    return {"function": as_text(function.get("name")), "arguments": arguments}


def _id(test: PeerTest) -> Any:
    return object_of(test.extras.get(NAME)).get("id", test.key)


def write_test(test: PeerTest) -> Json:
    """Return a test as a sample of a dataset; input and target as they came, if unchanged."""
    kept = object_of(test.extras.get(NAME))
    is_as_came = kept.get("of") == key_of(test.messages)
    plain = test.messages[0]["content"] if len(test.messages) == 1 else test.messages
    given = kept.get("input", plain) if is_as_came else plain
    target = kept.get("target")
    if target is None or references_of(target) != test.reference:
        target = test.reference
    found: Json = {"input": given, "target": target}
    if is_as_came and kept.get("choices"):
        found["choices"] = kept["choices"]
    return found


def write_dataset(tests: Iterable[PeerTest]) -> list[Json]:
    """Return tests as the samples of a dataset."""
    return [
        {
            "id": _id(test),
            **write_test(test),
            "metadata": object_of(test.extras.get(NAME)).get("metadata", {}),
        }
        for test in tests
    ]
