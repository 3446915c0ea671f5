"""Prompts that a server cut to its context: Ollama answers 200, and its counts give it away."""

import json

import pytest

from evalhub.llm.costs.token_estimates import prompt_cut
from runs.models import Judgment
from tests.factories import make_jury, make_run, make_test
from tests.provider import Reply, completion, is_judge, prompt, verdict

SENTENCE = "A sentence of a manual that nobody reads. "


@pytest.mark.parametrize(
    ("text", "counted", "written", "is_cut"),
    [
        *((SENTENCE * 2000, 4091, 5, True), (SENTENCE * 2000, 6000, 100, True)),
        *((SENTENCE * 2000, 20_000, 5, False), (SENTENCE * 2000, 14_000, 5, False)),
        # Prompt and reply fill a context of 4,096 tokens.
        *((SENTENCE * 600, 4000, 96, True), (SENTENCE * 600, 4000, 97, False)),
        *((SENTENCE * 600, None, None, False), (SENTENCE * 600, 12, 4, False)),  # of a cache
        *((SENTENCE * 100, 500, 5, False), ("=" * 80_000, 1300, 5, False)),
        (("a" + " " * 39) * 2000, 2000, 5, False),
    ],
)
def test_counts_far_below_what_was_sent_give_a_cut_prompt_away(text, counted, written, is_cut):
    messages = [{"role": "user", "content": text}]
    assert bool(prompt_cut(messages, counted, written)) == is_cut


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("cut_off_answers", ["judged", "error"])
def test_an_answer_to_a_cut_prompt_is_marked_and_a_judge_with_one_fails(
    provider, model_at, work, cut_off_answers
):
    def cut(request):
        text = verdict(1) if is_judge(request) else "Twelve."
        body = json.loads(completion(request, Reply(text)))
        body["usage"]["prompt_tokens"] = min(len(prompt(request)) // 4, 4094)
        return Reply(body=json.dumps(body))

    provider.script = cut
    test = make_test(SENTENCE * 2000)
    jury = make_jury(model_at(name="Judge", litellm_model="openai/judge"))
    run = make_run(test, model=model_at(), jury=jury, cut_off_answers=cut_off_answers)
    work()
    result = run.results.get()

    assert result.ending == "prompt_cut"
    assert result.outcome == ("unscored" if cut_off_answers == "judged" else "error")
    for judgment in Judgment.objects.all():
        assert (judgment.state, judgment.failure) == ("failed", "broken_off")
    assert Judgment.objects.count() == (cut_off_answers == "judged")
