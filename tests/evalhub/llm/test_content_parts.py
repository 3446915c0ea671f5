"""One text of a message's parts, for lists, exports, searches and judges."""

import pytest

from evalhub.llm.content.content_parts import content_problem, content_text
from evalhub.llm.costs.token_estimates import IMAGE_CHARACTERS, characters_in
from issues.content.test_texts import first_words
from issues.judge_templates.prompts import conversation_text
from runs.result_list.listing import prompt_of

CAT = {"type": "image", "image": "0f" * 32, "alt": "a cat"}
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "Who is it?"}, CAT]}]
SAID = "Who is it?\n[image a cat]"


def test_every_reader_gets_the_same_text():
    assert content_text(MESSAGES[0]["content"]) == SAID
    assert prompt_of(MESSAGES) == conversation_text(MESSAGES) == SAID
    assert first_words(MESSAGES) == "Who is it? [image a cat]"
    assert characters_in(MESSAGES) == len(SAID) + IMAGE_CHARACTERS


def test_a_text_stays_as_it_is_and_an_image_needs_no_description():
    assert (content_text("Hi."), content_text(None), content_text([])) == ("Hi.", "", "")
    assert content_text([{**CAT, "alt": ""}]) == "[image]"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([{"type": "text", "text": " "}], "needs some text"),
        ([], "needs some text, or a list of parts, not []"),
        (5, "not 5"),
        ([CAT] * 21, "it has 21 images; the maximum is 20"),
        ([{**CAT, "alt": "x" * 501}], "alt must be a text of at most 500 characters"),
    ],
)
def test_what_is_no_content_is_said(content, problem):
    assert problem in content_problem("user", content)
    assert content_problem("user", [CAT]) == ""
