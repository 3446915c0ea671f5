import pytest

from issues.models import TestState
from runs.launching.imported_answers import ImportedAnswer, import_answers, read_csv
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.models import Answer, Run
from tests.factories import make_jury, make_model, make_test

pytestmark = pytest.mark.django_db


def spec_of(**values):
    return LaunchSpec.model_validate({"label": "given", "tests": [1]} | values)


def test_a_file_is_read_with_quoted_answers_over_several_lines():
    text = '\ufeffTest,Answer,Repeat\n1,"Four,\nindeed",\n2,Six,2\n'

    assert read_csv(text) == [
        ImportedAnswer("line 3", 1, "Four,\nindeed", 1),
        ImportedAnswer("line 4", 2, "Six", 2),
    ]


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
        ("test,reply\n1,x\n", "Unknown column 'reply'"),
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
    answers = [ImportedAnswer("line 2", one.pk, "Four."), ImportedAnswer("line 3", two.pk, "Six.")]

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
    answers = [ImportedAnswer(f"line {n}", test.pk, f"answer {n}", n) for n in (1, 2)]

    run = import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    assert run.repeats == 2
    assert list(run.results.order_by("repeat").values_list("answer__text", flat=True)) == [
        "answer 1",
        "answer 2",
    ]


def test_problems_of_answers_are_told_together_and_nothing_is_kept():
    sound, draft = make_test(), make_test(state=TestState.DRAFT)
    answers = [
        ImportedAnswer("line 2", sound.pk, "Four."),
        ImportedAnswer("line 3", sound.pk, "Five."),
        ImportedAnswer("line 4", draft.pk, " "),
        ImportedAnswer("line 5", sound.pk, "Six.", 2),
    ]

    with pytest.raises(LaunchRefused) as refused:
        import_answers(spec_of(models=[make_model().pk]), answers, by=None)

    assert refused.value.problems == [
        f"line 3: test {sound.pk}, repeat 1 already has an answer.",
        f"line 4: the answer to test {draft.pk} is empty.",
        f"Test {draft.pk} has no answer for repeat 2 of 2.",
        f"These tests are not approved: {draft.pk}.",
    ]
    assert not Run.objects.exists()
    assert not Answer.objects.exists()


def test_one_answer_cannot_fill_several_turns():
    test = make_test(
        messages=[
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "And now?"},
        ]
    )

    with pytest.raises(LaunchRefused, match=f"line 2: test {test.pk} has 2 turns"):
        import_answers(
            spec_of(models=[make_model().pk]), [ImportedAnswer("line 2", test.pk, "Hi.")], by=None
        )
