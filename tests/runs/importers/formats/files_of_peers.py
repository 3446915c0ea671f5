"""Small files in the formats of peers, written for these tests."""

import io
import json
import zipfile
from base64 import b64encode

PROMPTFOO = """
description: Sums
prompts:
  - "What is {{a}} + {{b}}?"
  - file://prompts/long.txt
providers: [openai:gpt-4o]
defaultTest:
  assert:
    - type: latency
      threshold: 2000
tests:
  - description: Two and two
    vars: {a: 2, b: ["2", "3"]}
    assert:
      - {type: icontains, value: "{{a}}"}
      - {type: not-contains, value: sorry, weight: 2}
      - {type: llm-rubric, value: Is friendly}
      - {type: similar, value: four, threshold: 0.8}
  - file://more.csv
"""


def promptfoo_results():
    def result(provider, number, passed, **fields):
        reply = {"output": f"It is {number}.", "tokenUsage": {"prompt": 9, "completion": 4}}
        parts = [
            {"pass": passed, "score": float(passed), "reason": "Contains it"},
            {"pass": True, "score": 1, "reason": "Friendly"},
        ]
        return {
            "provider": {"id": provider, "label": ""},
            "prompt": {"raw": f"What is {number}?", "label": "p"},
            "vars": {"n": str(number)},
            "testCase": {
                "description": f"Number {number}",
                "assert": [
                    {"type": "contains", "value": "{{n}}"},
                    {"type": "llm-rubric", "value": "Is friendly"},
                ],
            },
            "response": reply,
            "success": passed,
            "score": 1.0 if passed else 0.5,
            "latencyMs": 120,
            "cost": 0.0004,
            "gradingResult": {"pass": passed, "score": 1, "componentResults": parts},
        } | fields

    failed = {"error": "429 Too Many Requests", "failureReason": 2, "response": {}}
    rows = [
        result("openai:gpt-4o", 4, True),
        result("openai:gpt-4o", 5, False),
        result("anthropic:claude", 4, True),
        result("anthropic:claude", 5, False, **failed),
    ]
    return {
        "version": 4,
        "results": {"version": 3, "results": rows},
        "config": {"description": "Numbers"},
    }


def inspect_sample(number, epoch=1, **fields):
    question = {"role": "user", "content": f"What is {number} + 2?", "source": "input"}
    reply = {"role": "assistant", "content": str(number + 2), "source": "generate"}
    return {
        "id": f"s{number}",
        "epoch": epoch,
        "input": question["content"],
        "target": [str(number + 2), "the sum"],
        "messages": [{"role": "system", "content": "Be brief."}, question, reply],
        "output": {
            "model": "gpt-4o",
            "choices": [{"message": reply, "stop_reason": "stop"}],
            "usage": {"input_tokens": 20, "output_tokens": 2, "total_tokens": 22},
            "time": 0.75,
        },
        "scores": {"match": {"value": "C" if number < 2 else "I", "explanation": "Compared"}},
        "metadata": {"level": number},
    } | fields


def inspect_header():
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "sums", "model": "openai/gpt-4o", "created": "2026-01-05T10:00:00+00:00"},
        "plan": {"config": {"temperature": 0.5}},
    }


def inspect_log(samples):
    return json.dumps({**inspect_header(), "samples": samples}).encode()


def inspect_archive(samples):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps(inspect_header()))
        for n, sample in enumerate(samples):
            archive.writestr(f"samples/{n}_epoch_1.json", json.dumps(sample))
    return packed.getvalue()


def json_lines(*rows):
    return "\n".join(map(json.dumps, rows)).encode()


def lm_eval_sample(number, chosen, score):
    return {
        "doc_id": number,
        "doc": {"question": f"{number} + 2?"},
        "target": str(number + 2),
        "arguments": {"gen_args_0": {"arg_0": f"Q: {number} + 2?\nA:", "arg_1": {"until": ["Q:"]}}},
        "resps": [[f" {number + 2}"]],
        "filtered_resps": [str(number + 2)],
        "filter": chosen,
        "metrics": ["exact_match"],
        "exact_match": score,
    }


def likelihood_sample():
    return {
        "doc_id": 0,
        "doc": {"question": "A bird?", "choices": {"text": ["trout", "heron"]}},
        "target": 1,
        "arguments": [["Q: A bird?", " trout"], ["Q: A bird?", " heron"]],
        "resps": [[["-9.1", "False"]], [["-2.5", "True"]]],
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
    }


LANGFUSE = {
    "id": "trace-1",
    "name": "chat",
    "timestamp": "2026-01-05T10:00:00Z",
    "sessionId": "s",
    "input": {
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi?"}]
    },
    "output": {"role": "assistant", "content": "Hello."},
    "scores": [
        {"name": "user-feedback", "value": 0, "comment": "Too short"},
        {"name": "toxicity", "value": 1},
    ],
    "observations": [{"type": "GENERATION", "model": "gpt-4o"}],
}

PHOENIX = {
    "name": "ChatCompletion",
    "span_kind": "LLM",
    "context": {"trace_id": "t1", "span_id": "s1"},
    "attributes": {
        "llm": {
            "model_name": "gpt-4o",
            "input_messages": [{"message": {"role": "user", "content": "2 + 2?"}}],
            "output_messages": [{"message": {"role": "assistant", "content": "5"}}],
            "token_count": {"prompt": 9},
        },
        "openinference": {"span": {"kind": "LLM"}},
    },
    "annotations": [
        {"name": "thumbs", "result": {"label": "thumbs-down", "score": 0, "explanation": "Wrong"}}
    ],
}


def otlp_span(**attributes):
    values = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {"traceId": "ab", "spanId": "cd", "name": "chat", "attributes": values}


def otlp(*spans):
    service = [{"key": "service.name", "value": {"stringValue": "shop"}}]
    scopes = [{"scope": {}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": scopes}]}


def send(client, name, data, **options):
    """What the API says of this file, which it takes in."""
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    body = {"name": name, "content": b64encode(data).decode(), **options}
    response = client.post("/api/v1/imports/", body)
    assert response.status_code == 201, response.content
    return response.json()
