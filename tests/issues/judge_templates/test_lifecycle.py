"""Judge templates: drafts change, published ones never; the built-in ones are there."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.llm.completion import AnswerTurn
from evalhub.refusals import Refused
from issues.content.revisions import content_of
from issues.judge_templates.builtin import BUILTIN
from issues.judge_templates.lifecycle import (
    SHOWN,
    load_builtin_templates,
    new_version,
    publish,
    retire,
)
from issues.judge_templates.preview import preview
from issues.models import JudgeTemplate, TemplateState
from runs.judging.prompts import JudgedAnswer, JudgePromptTemplate, messages_for
from tests.factories import make_template, make_test, make_user

pytestmark = pytest.mark.django_db

SHORT = "Judge {{ output }} by {{ guidelines }}. {{ scale }}"


def test_the_builtin_templates_are_loaded_published_and_once():
    load_builtin_templates()

    assert load_builtin_templates() == 0
    for builtin in BUILTIN:
        template = JudgeTemplate.objects.get(family=builtin.key)
        assert (template.state, template.version) == (TemplateState.PUBLISHED, 1)
        template.full_clean()


def test_the_builtin_templates_say_what_they_show():
    load_builtin_templates()

    shown = {
        template.family: [name for name in SHOWN if getattr(template, name)]
        for template in JudgeTemplate.objects.all()
    }
    assert shown == {
        "input-output-reference-guidelines": ["shows_input", "shows_reference", "shows_guidelines"],
        "output-reference-guidelines": ["shows_reference", "shows_guidelines"],
        "input-output-guidelines": ["shows_input", "shows_guidelines"],
        "grounded-in-retrieved-documents": ["shows_input", "shows_guidelines"],
        "rubric-standard": [],
        "rubric-retrieved-documents": ["shows_input"],
        "rubric-prompt-aware": ["shows_input"],
        "rubric-holistic": ["shows_input", "shows_whole_rubric"],
        "rubric-one-to-seven": ["shows_input"],
        "summary-usefulness": ["shows_input"],
        "code-explanation": ["shows_input"],
        "similarity": ["shows_input", "shows_reference"],
    }


def test_a_changed_builtin_wording_becomes_the_next_version():
    JudgeTemplate.objects.all().delete()
    make_template(family=BUILTIN[0].key, text=SHORT)

    load_builtin_templates()

    versions = JudgeTemplate.objects.filter(family=BUILTIN[0].key).order_by("version")
    assert [template.text for template in versions] == [SHORT, BUILTIN[0].text]


def test_publishing_makes_it_unchangeable():
    template = make_template(state=TemplateState.DRAFT, text=SHORT)
    publish(template, by=make_user())
    template.text = SHORT + " Be strict."

    with pytest.raises(ValidationError, match="create a new version instead"):
        template.save()


def test_publishing_twice_is_refused():
    with pytest.raises(Refused, match="is published already"):
        publish(make_template(), by=None)


def test_a_template_that_cannot_be_used_is_not_published():
    template = make_template(state=TemplateState.DRAFT, text="{{ answer }}")

    with pytest.raises(ValidationError, match="did you mean 'output'"):
        publish(template, by=None)


def test_a_new_version_is_a_draft_copy():
    draft = new_version(make_template(family="own", text=SHORT, shows_input=False), by=None)

    assert (draft.family, draft.version, draft.state) == ("own", 2, TemplateState.DRAFT)
    assert (draft.text, draft.shows_input) == (SHORT, False)


def test_a_second_draft_of_a_family_is_refused():
    template = make_template(title="Own")
    new_version(template, by=None)

    with pytest.raises(Refused, match="Own v2 is a draft already"):
        new_version(template, by=None)


def test_retiring_leaves_the_tests_that_use_it():
    template = make_template()
    test = make_test(template=template)

    retire(template, by=None)

    test.refresh_from_db()
    assert test.template.state == TemplateState.RETIRED


def test_a_draft_cannot_be_retired():
    with pytest.raises(Refused, match="not published"):
        retire(make_template(state=TemplateState.DRAFT), by=None)


def test_the_preview_is_what_a_judge_is_asked():
    test = make_test()
    case = JudgedAnswer(content_of(test), system_prompt="", turns=[AnswerTurn(text="It is 5.")])

    asked = messages_for(JudgePromptTemplate.of(test.template), case, "")

    assert asked == [
        {"role": "user", "content": preview(test.template, content_of(test), "It is 5.")}
    ]


def test_the_preview_of_a_conversation_holds_a_place_for_generated_turns():
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "And now?"},
    ]
    test = make_test(messages=messages)

    prompt = preview(test.template, content_of(test), "Now it is late.")

    assert "(the model's turn)" in prompt
    assert "Now it is late." in prompt
