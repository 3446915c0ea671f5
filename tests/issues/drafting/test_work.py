"""Batches of drafts against a real HTTP provider: which calls, in which order, with what."""

import json

import pytest

from evalhub.models import Call
from evalhub.work.progress import retry_errors
from issues.drafting.settings import Length, Task
from issues.drafting.start import estimate, start
from issues.models import Decision, Draft
from tests.factories import make_issue, make_test
from tests.issues.drafting.writers import BORDERLINE, TEXTS, Writer, make_order, make_settings
from tests.provider import REFUSED, prompt

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def drafted(provider, model_at, work):
    """Drafts a batch with a scripted writer, and returns it with what was asked."""

    def run(writer=None, *, labels=True, **fields):
        provider.script = writer = writer or Writer()
        judge = model_at(name="Judge") if labels else None
        order = make_order(model_at(name="Writer"), judge, **fields)
        generation = start(order, by=None)
        work()
        generation.refresh_from_db()
        return generation, writer.kinds

    return run


def prompts_of(provider, kind):
    texts = [prompt(request) for request in provider.requests]
    begins = {"borderline": "A criterion sorts", "answer": "Write the field", "input": "the input"}
    return [text for text in texts if begins[kind] in text]


def test_one_borderline_option_and_one_input_come_before_an_answer_for_each_draft(
    drafted, provider
):
    generation, kinds = drafted(settings=make_settings(2, 1, borderline=1), labels=False)

    assert kinds == ["borderline", "input", "answer", "answer", "answer", "answer"]
    assert (generation.state, generation.borderline) == ("done", BORDERLINE)
    answers = prompts_of(provider, "answer")
    assert [Draft.objects.get(answer=text).option for text in TEXTS] == ["Yes", "No"]
    assert sum("option of the criterion: Half: Partly polite." in text for text in answers) == 1
    assert answers.count(answers[0]) in (1, 2)
    assert len(set(answers)) == 3, "drafts of one option are asked for in the same words"
    assert all("What about Prompt?" in text for text in answers)
    assert {request["temperature"] for request in provider.requests} == {1}
    assert all(request["response_format"]["type"] == "json_schema" for request in provider.requests)
    assert Call.objects.count() == 6


def test_each_draft_is_labelled_by_the_other_model_and_nobody_expects_anything_yet(drafted):
    generation, kinds = drafted()

    drafts = list(generation.drafts.order_by("pk"))
    assert sorted(kinds) == ["answer", "answer", "input", "label", "label"]
    assert [(d.option, d.label, d.is_hit) for d in drafts] == [
        ("Yes", "Yes", True),
        ("No", "No", True),
    ]
    assert {(d.expected, d.decision, d.test) for d in drafts} == {("", "proposed", None)}
    assert drafts[0].messages == [{"role": "user", "content": "What about Prompt?"}]
    assert drafts[0].rationale == "It replies."
    low, high = estimate(make_order(generation.generator, generation.judge)).calls
    assert low == len(kinds) < high


def test_the_settings_are_in_the_requests(drafted, provider):
    settings = make_settings(
        1,
        0,
        task=Task.QUESTION_ANSWERING,
        domain="Healthcare",
        persona="Medical Student",
        length=Length.MEDIUM,
        style="a letter",
        sentiment="angry",
        noise="typing errors",
        partial_match=True,
        out_of_domain=True,
    )

    drafted(settings=settings, labels=False)

    (asked,), (answer,) = prompts_of(provider, "input"), prompts_of(provider, "answer")
    assert "lie outside this domain, yet near enough to mislead: Healthcare" in asked
    assert "answered by this persona: Medical Student" in asked
    for wanted in (
        *("Length: 3-5 sentences", "Style: a letter", "Sentiment: angry"),
        *("Noise to put in: typing errors", "only in part", "Never mention the criterion"),
    ):
        assert wanted in answer


def test_a_passage_and_real_tests_are_shown_and_the_passage_is_cited(drafted, provider):
    from issues.drafting.documents import Passage

    issue = make_issue()
    test = make_test("When open?", issue=issue, reference="At nine.", flagged_answer="Never.")
    passages = [Passage("hours.pdf", 2, "We open at nine.")]

    generation, _ = drafted(
        settings=make_settings(1, 0), labels=False, issue=issue, examples=[test], passages=passages
    )

    (answer,) = prompts_of(provider, "answer")
    assert "We open at nine." in answer.split("[BEGIN CONTEXT", 1)[1]
    assert "It shows: an answer that fails" in answer
    assert "When open?" in answer
    draft = generation.drafts.get()
    assert (draft.context, generation.passage["document"]) == ("We open at nine.", "hours.pdf")


def test_a_borderline_option_named_like_another_keeps_both(drafted):
    writer = Writer(borderline=[json.dumps(BORDERLINE | {"name": "Yes"})])

    generation, _ = drafted(writer, settings=make_settings(1, 1, borderline=1), labels=False)

    meant = [draft.meant for draft in generation.drafts.order_by("pk")]
    assert meant == ["Yes", "No", "borderline"]
    assert generation.drafts.filter(state="done").count() == 3


def test_a_pair_has_an_intended_winner_and_a_label(drafted):
    generation, kinds = drafted(settings=make_settings(0, 0, pairs=2))

    first, second = generation.drafts.order_by("pk")
    assert (first.winner, second.winner) == ("first", "second")
    assert (first.answer, first.second_answer) == TEXTS
    assert (first.label, first.is_hit) == ("first", True)
    assert kinds.count("answer") == kinds.count("label") == 4


# Failures ----------------------------------------------------------------------------------------


def test_a_draft_that_fails_names_its_call_and_shows_the_reply(drafted):
    generation, kinds = drafted(
        Writer(answer=[REFUSED] * 3), settings=make_settings(1, 0), labels=False
    )

    draft = generation.drafts.get()
    assert (generation.state, kinds) == ("done", ["input", *["answer"] * 3])
    assert (draft.state, draft.answer, draft.error_kind) == ("error", "", "not_in_form")
    assert draft.error_message == "Answer: It has no JSON object."
    assert [failure["reply"] for failure in draft.failures] == [REFUSED.text] * 3


def test_without_an_input_no_answer_is_asked_for_until_it_is_retried(drafted, work):
    generation, kinds = drafted(Writer(input=[REFUSED] * 3), labels=False)

    assert kinds == ["input"] * 3
    first, other = generation.drafts.order_by("pk")
    assert first.error_message == "Input: It has no JSON object."
    assert first.failures[0]["reply"] == REFUSED.text
    assert other.error_message == "Not asked for, because the batch has no input."

    retry_errors(generation, generation.drafts.all())
    work()

    assert [draft.state for draft in generation.drafts.all()] == ["done", "done"]
    assert kinds[3:] == ["input", "answer", "answer"]


def test_a_judge_that_fails_leaves_the_draft_without_a_label(drafted):
    generation, _ = drafted(Writer(label=["Nice!"] * 4, repair=["Nice!"] * 4))

    draft = generation.drafts.first()
    assert (draft.state, draft.label, draft.is_hit) == ("done", "", None)
    assert draft.label_error


# Duplicates --------------------------------------------------------------------------------------


def test_near_duplicates_of_the_batch_and_of_tests_are_dropped(drafted):
    issue = make_issue()
    known = make_test("What about Prompt?", issue=issue, reference="", flagged_answer=TEXTS[1])
    make_test("What about Prompt?", issue=issue, reference=TEXTS[0], sealed=True)  # not named

    class Repeating(Writer):
        def answer(self, text):
            return TEXTS["criterion: No" in text]

    generation, _ = drafted(Repeating(), settings=make_settings(3, 1), issue=issue, labels=False)

    yes, *twins = generation.drafts.filter(option="Yes").order_by("pk")
    assert yes.decision == Decision.PROPOSED
    assert {(t.decision, t.dropped_for) for t in twins} == {("dropped", f"draft {yes.pk}")}
    assert generation.drafts.get(option="No").dropped_for == f"test {known.pk}"
