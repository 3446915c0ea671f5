import json

import pytest

from issues.models import TestState
from runs.launching.answer_files import read_file, read_objects
from runs.launching.imported_answers import import_answers
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.lifecycle.control import retryable_of
from runs.models import Answer, Run, Suite
from tests.factories import make_jury, make_model, make_test

pytestmark = pytest.mark.django_db

TURNS = [
    {"role": "user", "content": "Hello."},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "And now?"},
]


def spec_of(**values):
    return LaunchSpec.model_validate({"label": "given", "tests": [1]} | values)


def read_csv(text):
    return read_file("answers.csv", text)


def given(*rows):
    """Answers as the API reads them: each a test's number, text and further fields."""
    names = ("test", "answer", "repeat")
    return read_objects([dict(zip(names, row, strict=False)) for row in rows])


def test_a_file_is_read_with_quoted_answers_over_several_lines():
    text = '\ufeffTest,Answer,Repeat\n1,"Four,\nindeed",\n2,Six,2\n'

    read = [(one.place, one.body.test, one.body.answer, one.body.repeat) for one in read_csv(text)]

    assert read == [("line 3", 1, "Four,\nindeed", 1), ("line 4", 2, "Six", 2)]


def test_all_problems_of_a_file_are_told_by_line():
    with pytest.raises(LaunchRefused) as refused:
        read_csv("test,answer,repeat\nx,Four,1\n2,Six,0\n3,a,1,b\n")

    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "line 2",
        "line 3",
        "line 4",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "'test' is missing"),
        ("test,answer,documents\n1,x,[\n", "line 2: documents is not a JSON list"),
        ("test,reply\n1,x\n", "unknown key 'reply'"),
        ("test,answer\n", "no answers"),
        ('test,answer\n1,"x\n', "not CSV"),
    ],
)
def test_a_file_of_another_form_is_refused(text, problem):
    with pytest.raises(LaunchRefused, match=problem):
        read_csv(text)


def test_a_supplied_run_is_answered_and_waits_for_its_judges():
    one, two = make_test(), make_test()
    jury = make_jury(make_model())
    answers = given((one.pk, "Four."), (two.pk, "Six."))

    run = import_answers(spec_of(models=[make_model().pk], jury=jury.pk), answers, by=None)

    assert run.has_imported_answers
    assert dict(run.results.values_list("test_id", "answer__text")) == {
        one.pk: "Four.",
        two.pk: "Six.",
    }
    assert set(run.results.values_list("state", flat=True)) == {"done"}
    assert run.judge_runs.get().result_scores.filter(state="pending").count() == 2


def test_repeats_are_those_of_the_answers():
    test = make_test()
    answers = given(*((test.pk, f"answer {n}", n) for n in (1, 2)))

    run = import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    assert run.repeats == 2
    assert list(run.results.order_by("repeat").values_list("answer__text", flat=True)) == [
        "answer 1",
        "answer 2",
    ]


def test_problems_of_answers_are_told_together_and_nothing_is_kept():
    sound, draft = make_test(), make_test(state=TestState.DRAFT)
    answers = given(
        (sound.pk, "Four."), (sound.pk, "Five."), (draft.pk, "Five."), (sound.pk, "Six.", 2)
    )

    with pytest.raises(LaunchRefused) as refused:
        import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    assert refused.value.problems == [
        f"answers[1]: test {sound.pk}, repeat 1 already has an answer.",
        f"Test {draft.pk} has no answer for repeat 2 of 2.",
        f"These tests are not approved: {draft.pk}.",
    ]
    assert not Run.objects.exists()
    assert not Answer.objects.exists()


def test_one_answer_cannot_fill_several_turns():
    test = make_test(messages=TURNS)

    with pytest.raises(LaunchRefused, match=rf"answers\[0\]: test {test.pk} has 2 turns"):
        import_answers(spec_of(models=[make_model().pk]), given((test.pk, "Hi.")), by=None)


def test_json_lines_hold_all_that_is_known_of_an_answer():
    test, lost = make_test(), make_test()
    text = f"""{{"test": {test.pk}, "answer": "Four.", "latency_ms": 850, "cost_usd": "0.25",
"input_tokens": 7, "output_tokens": 2, "documents": ["2 + 2 = 4", {{"text": "t", "url": "u"}}],
"tool_calls": [{{"name": "add", "arguments": {{"a": 2}}}}]}}""".replace("\n", " ")
    error = f'{{"test": {lost.pk}, "error": "It timed out."}}'

    answers = read_file("answers.jsonl", f"{text}\n\n{error}\n")
    run = import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    result, failed = run.results.order_by("test_id")
    assert (result.latency_ms, float(result.cost_usd)) == (850, 0.25)
    assert (result.input_tokens, result.output_tokens) == (7, 2)
    assert result.answer.documents == [
        {"text": "2 + 2 = 4", "title": ""},
        {"text": "t", "title": "u"},
    ]
    assert result.answer.tool_calls[0]["function"]["name"] == "add"
    assert (failed.outcome, failed.error_message) == ("error", "It timed out.")
    assert run.judge_runs.get().result_scores.get(result=failed).error_kind == "no_answer"
    assert retryable_of([run]) == {run.pk: 0}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"latncy_ms": 3}, r"line 1: unknown key 'latncy_ms'. Did you mean 'latency_ms'\?"),
        ({"zzz": 3}, "line 1: unknown key 'zzz'. Use test, answer"),
        ({"turns": [{"content": "a", "txt": 1}]}, "line 1: turns.0.*txt"),
        ({"latency_ms": -1}, "line 1: latency_ms: .*-1"),
        ({"cost_usd": "much"}, "line 1: cost_usd: .*much"),
        ({"answer": "a", "error": "b"}, "has an answer and an error"),
        ({"answer": " "}, "is empty"),
        ({"answer": "a", "turns": ["b"]}, "is not its last turn"),
        ({"answer": [{"type": "image", "image": "x"}]}, "only user messages may have images"),
        ({"answer": "a\x00"}, "line 1: answer has a character"),
    ],
)
def test_what_an_answer_cannot_have_is_refused_with_its_place(row, problem):
    with pytest.raises(LaunchRefused, match=problem):
        read_file("a.jsonl", json.dumps({"test": 1, **row}))


def test_generated_turns_are_given_as_turns():
    test = make_test(messages=TURNS)
    answers = read_objects(
        [{"test": test.pk, "turns": ["Hi.", [{"type": "text", "text": "Bye."}]]}]
    )

    run = import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    answer = run.results.get().answer
    assert (answer.text, [turn["content"] for turn in answer.turns]) == ("Bye.", ["Hi.", "Bye."])


def test_a_suite_is_answered_as_a_whole():
    one, two, model = make_test(), make_test(), make_model()
    suite = Suite.objects.create(name="All")
    suite.tests.set([one, two])
    spec = spec_of(models=[model.pk], suite=suite.pk)

    with pytest.raises(LaunchRefused, match=f"of the suite have no answer: {two.pk}"):
        import_answers(spec, given((one.pk, "Four.")), by=None)
    run = import_answers(spec, given((one.pk, "Four."), (two.pk, "Six.")), by=None)

    assert run.suite == suite
    assert run.suite_version.tests == [one.pk, two.pk]
    launched = launch(spec.model_copy(update={"tests": []}), by=None).runs.get()
    assert (run.variant_key, run.suite_fingerprint) == (
        launched.variant_key,
        launched.suite_fingerprint,
    )
