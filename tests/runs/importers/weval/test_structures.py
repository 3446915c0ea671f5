"""The ways in which a blueprint's file can be laid out, and its header."""

import json

import pytest

from tests.runs.importers.weval.blueprints_in_text import (
    blueprint_of,
    notes_of,
    problems_of,
    prompts_of,
    read,
)

HI = [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("title: T\n---\n- {id: a, prompt: Hi}\n- {id: b, prompt: Ho}\n", ["a", "b"]),
        ("title: T\n---\nid: a\nprompt: Hi\n---\nid: b\nprompt: Ho\n", ["a", "b"]),
        ("title: T\n---\n- {id: a, prompt: Hi}\n---\nid: b\nprompt: Ho\n", ["a", "b"]),
        ("id: a\nprompt: Hi\n---\nid: b\nprompt: Ho\n", ["a", "b"]),
        ("id: a\nprompt: Hi\n", ["a"]),
        ("- {id: a, prompt: Hi}\n- {id: b, prompt: Ho}\n", ["a", "b"]),
        ("title: T\nprompts:\n- {id: a, prompt: Hi}\n- {id: b, prompt: Ho}\n", ["a", "b"]),
        ("---\n---\ntitle: T\n---\n- {id: a, prompt: Hi}\n---\n", ["a"]),
    ],
)
def test_each_layout_of_a_file_is_read(text, ids):
    assert [prompt.id for prompt in prompts_of(text)] == ids


def test_a_json_file_is_one_object_with_prompts():
    text = json.dumps({"title": "T", "prompts": [{"id": "a", "promptText": "Hi"}]})
    reading = read(text, "sample.json")
    assert reading.blueprint.prompts[0].messages == HI


def test_a_header_is_told_from_a_prompt_by_what_it_lacks():
    blueprint = blueprint_of("title: T\nmodels: [openai:gpt-4o-mini]\n---\n- prompt: Hi\n")
    assert (blueprint.title, blueprint.models) == ("T", ("openai:gpt-4o-mini",))


@pytest.mark.parametrize("text", ["", "---\n", "title: T\n", "title: T\nprompts: []\n"])
def test_a_file_without_prompts_is_refused(text):
    assert problems_of(text) == ["sample.yml: holds no prompts."]


def test_prompts_in_the_header_and_after_it_are_refused():
    problems = problems_of("title: T\nprompts:\n- prompt: a\n---\n- prompt: b\n")
    assert problems == ["sample.yml:2: prompts are in the header and after it: join them."]


def test_a_document_that_is_plain_text_is_refused():
    assert problems_of("just words\n")[0] == (
        'sample.yml: expected a prompt, that is an object, not "just words".'
    )


def test_the_title_is_the_file_s_name_where_there_is_none():
    assert blueprint_of("- prompt: Hi\n").title == "sample"


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ("configTitle: Units", "title", "Units"),
        ("systemPrompt: Be brief.", "systems", ("Be brief.",)),
        ("system: [Be brief., null]", "systems", ("Be brief.", None)),
        ("systems: [null, Be brief.]", "systems", (None, "Be brief.")),
        ("systems: [null]", "systems", ()),
        ("temperature: 0", "temperatures", (0,)),
        ("temperatures: [0.0, 0.7]", "temperatures", (0, 0.7)),
        ("models: CORE", "models", ("CORE",)),
        ("title: no models", "models", ("CORE",)),
        ("tags: Human Rights", "tags", ("human-rights",)),
    ],
)
def test_a_header_field_is_read_in_each_of_its_forms(written, field, value):
    assert getattr(blueprint_of(f"{written}\n---\n- prompt: Hi\n"), field) == value


@pytest.mark.parametrize("alias", ["references", "citations", "reference", "citation"])
def test_references_are_read_in_each_of_their_forms(alias):
    header = f"""\
{alias}:
- A book
- https://example.org
- {{title: Law, url: "https://example.org/law"}}
- {{name: Act}}
"""
    blueprint = blueprint_of(f"title: T\n{header}---\n- prompt: Hi\n")
    assert blueprint.extras["references"] == [
        {"title": "A book"},
        {"url": "https://example.org"},
        {"title": "Law", "url": "https://example.org/law"},
        {"title": "Act"},
    ]


@pytest.mark.parametrize("author", ["Ana", "{name: Ana}"])
def test_an_author_is_a_name_or_an_object(author):
    blueprint = blueprint_of(f"author: {author}\n---\n- prompt: Hi\n")
    assert blueprint.extras["author"] == [{"name": "Ana"}]


def test_judges_are_read_with_our_names_of_their_approaches():
    blueprint = blueprint_of("""
        evaluationConfig:
          llm-coverage:
            judges:
            - {model: openai:gpt-4.1-mini, approach: prompt-aware}
            - {model: openai:gpt-4.1-mini, approach: holistic}
        ---
        - prompt: Hi
        """)
    assert blueprint.judges == (
        ("openai:gpt-4.1-mini", "prompt_aware"),
        ("openai:gpt-4.1-mini", "holistic"),
    )


def test_a_prompt_s_system_prompt_replaces_the_header_s():
    own, common, none = prompts_of("""
        system: Be brief.
        ---
        - {id: a, prompt: Hi, system: Be kind.}
        - {id: b, prompt: Hi}
        - {id: c, prompt: Hi, system: null}
        """)
    assert [own.messages[0], common.messages[0], none.messages[0]] == [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "content": "Be brief."},
        *HI,
    ]


def test_where_prompts_have_their_own_the_header_s_system_prompt_is_not_tried_besides():
    text = "system: Be brief.\n---\n- {prompt: Hi, system: Be kind.}\n"
    assert blueprint_of(text).systems == ()


def test_several_system_prompts_and_a_prompt_s_own_are_refused():
    text = "systems: [null, Be brief.]\n---\n- id: a\n  prompt: Hi\n  system: Be kind.\n"
    assert problems_of(text) == [
        "sample.yml:3: a: has its own system prompt, while the header lists several to try."
    ]


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("temperatures: [3]", "temperatures: expected numbers from 0 to 2, not 3."),
        ("title: 5", "title: expected text, not 5."),
        ("systems: [null, null]", "systems: null is given twice."),
        ("models: [3]", "models: expected a model such as openai:gpt-4o-mini, or an object"),
        ("title: A\nconfigTitle: B", "configTitle: means the same as title, which is also given"),
        ("render_as: pdf", 'render_as: expected one of markdown, html, plaintext, not "pdf".'),
        ("toolUse: {mode: auto}", 'toolUse: expected the mode trace-only, not "auto".'),
        ("evaluationConfig: {llm-coverage: {judges: [{}]}}", "judges: expected a judge's model"),
    ],
)
def test_a_wrong_header_field_is_refused_with_its_value(header, problem):
    (found,) = problems_of(f"{header}\n---\n- prompt: Hi\n")
    assert problem in found


@pytest.mark.parametrize(
    ("header", "note"),
    [
        ("id: other", 'the id "other" is ignored: the file\'s name is the id.'),
        ("colour: red", 'the field "colour" of the header is unknown: kept, not used.'),
        ("temperature: 0\ntemperatures: [1]", "is ignored: temperatures are given."),
        ("toolUse: {enabled: true}", "models are offered the tools, but no tool is run."),
    ],
)
def test_what_a_header_says_in_vain_is_noted(header, note):
    found = notes_of(f"{header}\n---\n- {{prompt: Hi, should: [greets]}}\n")
    assert len(found) == 1
    assert note in found[0]


@pytest.mark.parametrize("name", ["_pr_mine.yml", "_test_mine.yml", "mine__.yml"])
def test_a_reserved_name_is_refused(name):
    assert "cannot be an id" in str(read("- prompt: Hi\n", name).problems[0])
