"""Files of peers are read whole: what has no equal here is named, never dropped. Pure."""

import io
import json
import zipfile

import pytest

from issues.importers.records import Unreadable
from runs.importers.formats import files, promptfoo_checks
from runs.importers.formats.registry import FORMATS, read
from tests.runs.importers.formats import files_of_peers as peers


def contents(name, data, **options):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return read(name, data, **options)[2]


def test_a_promptfoo_configuration_becomes_a_test_for_each_combination():
    found = contents("promptfooconfig.yaml", peers.PROMPTFOO.encode())

    assert found.title == "Sums"
    asked = [test.messages[0]["content"] for test in found.tests]
    assert asked == ["What is 2 + 2?", "What is 2 + 3?"]
    latency, contains, absent, friendly, similar = found.tests[0].criteria
    assert (latency["check"], latency["arguments"]) == ("latency_at_most", {"ms": 2000})
    assert contains["arguments"] == {"text": "2", "ignore_case": True}
    assert (absent["arguments"], absent["weight"]) == ({"text": "sorry", "negate": True}, 2)
    assert friendly["text"] == "Is friendly"
    assert similar["arguments"]["source"]["promptfoo"]["threshold"] == 0.8
    assert 0.99 < found.tests[0].pass_threshold < 1


def test_what_promptfoo_has_and_we_have_not_is_named():
    notes = " ".join(contents("promptfooconfig.yaml", peers.PROMPTFOO.encode()).remarks)

    assert "file://prompts/long.txt" in notes
    assert "file://more.csv" in notes
    assert "No equal for the assertion “similar”" in notes


@pytest.mark.parametrize(
    "assertion",
    [
        {"type": "equals", "value": "4"},
        {"type": "not-icontains-any", "value": ["a", "b"]},
        {"type": "contains-all", "value": ["a"], "weight": 3},
        {"type": "regex", "value": "^4"},
        {"type": "starts-with", "value": "It"},
        {"type": "is-json"},
        {"type": "is-json", "value": {"type": "object"}},
        {"type": "word-count", "value": {"min": 2, "max": 9}},
        {"type": "latency", "threshold": 500},
        {"type": "cost", "threshold": 0.01},
        {"type": "llm-rubric", "value": "Is kind"},
        {"type": "javascript", "value": "output.length > 3"},
        {"type": "similar", "value": "four", "threshold": 0.8, "provider": "openai:embedding"},
        {"type": "contains", "value": "x", "transform": "output.trim()"},
    ],
)
def test_an_assertion_that_comes_in_goes_out_the_same(assertion):
    (criterion,), _ = promptfoo_checks.read(assertion, "a1")

    assert promptfoo_checks.write(criterion) == (assertion, "")


def test_results_of_promptfoo_become_a_run_for_each_provider():
    found = contents("results.json", peers.promptfoo_results())

    assert [(run.model, len(run.answers)) for run in found.runs] == [
        ("openai:gpt-4o", 2),
        ("anthropic:claude", 2),
    ]
    first, second = found.runs[0].answers
    assert (first.text, first.latency_ms) == ("It is 4.", 120)
    assert (first.cost_usd, first.output_tokens) == (0.0004, 4)
    assert [(one.criterion, one.value, one.passed) for one in second.scores] == [
        ("a1", 0.0, False),
        ("a2", 1.0, True),
    ]
    assert found.runs[1].answers[1].error == "429 Too Many Requests"


@pytest.mark.parametrize(
    ("name", "pack"), [("a.eval", peers.inspect_archive), ("a.json", peers.inspect_log)]
)
def test_a_log_of_inspect_becomes_a_run_with_its_scores(name, pack):
    found = contents(name, pack([peers.inspect_sample(1), peers.inspect_sample(2)]))

    (run,) = found.runs
    assert (run.model, run.system_prompt) == ("openai/gpt-4o", "Be brief.")
    assert run.params == {"temperature": 0.5}
    assert found.tests[0].messages == [{"role": "user", "content": "What is 1 + 2?"}]
    assert found.tests[0].reference == "Any of these:\n- 3\n- the sum"
    answer = run.answers[0]
    assert (answer.text, answer.latency_ms, answer.input_tokens) == ("3", 750, 20)
    assert [answer.scores[0].value for answer in run.answers] == [1.0, 0.0]


def test_scores_that_are_no_share_and_failed_samples_are_named():
    failed = peers.inspect_sample(1, error={"message": "Time limit"}, scores={})
    scored = peers.inspect_sample(2, scores={"length": {"value": 250}})
    found = contents("a.json", peers.inspect_log([failed, scored]))

    assert [answer.error for answer in found.runs[0].answers] == ["Time limit", ""]
    assert found.remarks == ["Scores of length are not from 0 to 1: left out."]


def test_samples_of_openai_evals_become_tests():
    rows = peers.json_lines(
        {
            "input": [{"role": "system", "content": "Sum."}, {"role": "user", "content": "2 + 2"}],
            "ideal": "4",
        },
        {"input": "3 + 3", "ideal": ["6", "six"]},
    )
    one, two = contents("samples.jsonl", rows).tests

    assert ([turn["role"] for turn in one.messages], one.reference) == (["system", "user"], "4")
    assert two.reference == "Any of these:\n- 6\n- six"


def test_samples_of_lm_eval_merge_their_filters():
    filters = (("strict", 0.0), ("flexible", 1.0))
    rows = peers.json_lines(*(peers.lm_eval_sample(1, name, score) for name, score in filters))
    found = contents("samples_sums_2026-01-05T10-00-00.123.jsonl", rows)

    (run,), (test,) = found.runs, found.tests
    assert (run.label, test.reference) == ("sums", "3")
    assert [(one.name, one.value) for one in run.answers[0].scores] == [
        ("exact_match, strict", 0.0),
        ("exact_match, flexible", 1.0),
    ]


def test_samples_by_likelihood_are_answered_by_the_likeliest_choice():
    found = contents("samples_birds.jsonl", peers.json_lines(peers.likelihood_sample()))

    assert found.runs[0].answers[0].text == found.tests[0].reference == "heron"


def test_traces_become_feedback_and_only_thumbs_are_ratings():
    (langfuse,) = contents("traces.json", peers.LANGFUSE).feedback
    (phoenix,) = contents("spans.jsonl", peers.json_lines(peers.PHOENIX)).feedback

    assert (langfuse["rating"], langfuse["comment"]) == ("down", "Too short")
    assert langfuse["model"] == "gpt-4o"
    assert [turn["content"] for turn in langfuse["messages"]] == ["Be kind.", "Hi?", "Hello."]
    assert langfuse["raw"]["scores"][1]["name"] == "toxicity"
    assert (phoenix["prompt"], phoenix["answer"], phoenix["rating"]) == ("2 + 2?", "5", "down")
    assert (phoenix["source_id"], phoenix["comment"]) == ("t1:s1", "Wrong")


def test_spans_of_the_genai_conventions_become_feedback():
    call = {
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": "gpt-4o",
        "gen_ai.input.messages": json.dumps(
            [{"role": "user", "parts": [{"type": "text", "content": "2 + 2?"}]}]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "4"}]}]
        ),
    }
    found = contents("otlp.json", peers.otlp(peers.otlp_span(**call), peers.otlp_span(name="tool")))

    (row,) = found.feedback
    assert (row["prompt"], row["answer"]) == ("2 + 2?", "4")
    assert (row["model"], row["source"]) == ("gpt-4o", "shop")
    assert found.remarks == ["Spans that call no model are left out."]


def test_a_table_is_read_by_its_columns_and_by_a_mapping():
    rows = b"q,expected,lang\n2 + 2?,4,en\n"
    by_name = contents("a.csv", b"Question,expected-output\n2 + 2?,4\n").tests[0]
    mapped = contents("a.csv", rows, columns={"q": "prompt", "lang": "tags"}).tests[0]

    assert (by_name.messages[0]["content"], by_name.reference) == ("2 + 2?", "4")
    assert (mapped.messages[0]["content"], mapped.reference, mapped.tags) == ("2 + 2?", "4", ["en"])


def test_a_table_without_a_prompt_asks_for_its_column():
    assert contents("a.csv", b"x,y\n1,2\n").problems == [
        "Choose the column of the prompt among x, y."
    ]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"x", "unknown ending"),
        ("a.json", b"[" * 100_000, "nested"),
        ("a.json", b"{oops", "is not JSON"),
        ("a.json", b'{"a": 1}', "is not one of"),
        ("a.yaml", b"a: !!python/object/apply:os.system [id]", "line 1"),
        ("a.yaml", b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "is not one of"),
        ("a.eval", b"PK\x03\x04", "cannot be unpacked"),
        ("a.jsonl", b'{"a": 1}\nno', "line 2"),
        ("a.csv", b"\xff\xfe", "UTF-8"),
    ],
)
def test_files_that_cannot_be_read_say_why(name, data, said):
    with pytest.raises(Unreadable, match=said):
        read(name, data)


def test_an_archive_that_unpacks_to_more_than_is_allowed_is_refused(monkeypatch):
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 10_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 50_000 + "{}")

    with pytest.raises(Unreadable, match="the maximum is"):
        read("bomb.eval", packed.getvalue())


def test_every_format_names_itself():
    assert all(name == module.NAME and module.TITLE for name, module in FORMATS.items())
