"""The identity of models with differently written names. The cases are in `identities.json`."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.llm.model_identity import Identity, identify, identity_of, read_name

CASES = json.loads(Path(__file__).with_name("identities.json").read_text())


@dataclass
class Model:
    name: str
    litellm_model: str = ""
    api_base: str = ""
    identity: str = ""
    developer: str = ""
    family: str = ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["written"])
def test_name_has_the_worked_identity(case):
    written = read_name(case["written"])

    assert identify(case["written"]).key == case["key"]
    assert written.address == case.get("address", case["written"])
    assert written.developer == case["developer"]
    assert written.temperature == case.get("temperature")
    assert written.system_prompt == case.get("system_prompt")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("gpt-4o-2024-08-06", "openai:gpt-4o"),
        ("azure/gpt-4o", "openai:gpt-4o"),
        ("openai/GPT-4o", "openai:gpt-4o"),
        ("gpt-4-1106-preview", "openai:gpt-4"),
        ("mistral-large-2411", "mistralai:mistral-large"),
        ("command-r-plus-08-2024", "cohere:command-r-plus"),
        ("gemini-2.0-flash-001", "google:gemini-2.0-flash"),
        ("openrouter/deepseek/deepseek-r1:free", "deepseek:deepseek-r1"),
        ("vertex_ai/claude-3-5-sonnet@20240620", "anthropic:claude-3-5-sonnet"),
        ("bedrock/us.anthropic.claude-3-7-sonnet-20250219-v1:0", "anthropic:claude-3-7-sonnet"),
        ("nvidia/llama-3.1-nemotron-70b-instruct", "nvidia:llama-3.1-nemotron-70b-instruct"),
        ("ollama/llama3:8b", "meta:llama3:8b"),
        ("Claude Sonnet 4.5", "anthropic:claude-sonnet-4.5"),
        ("hosted_vllm/house-model", "house-model"),
        ("acme/house-model", "acme:house-model"),
    ],
)
def test_written_forms_of_one_model_share_a_key(written, key):
    assert identify(written).key == key


@pytest.mark.parametrize(
    "name",
    ["gpt-4o-mini", "qwen3-30b-a3b", "claude-3-5", "phi-3-mini-4k", "llama-2-70b", "gpt-3.5"],
)
def test_what_is_no_date_stays_in_the_name(name):
    assert identify(name).key.endswith(f":{name}")


@pytest.mark.parametrize(
    ("found", "identity"),
    [
        (identify("gpt-4o-mini"), Identity("openai:gpt-4o-mini", "OpenAI", "GPT", "gpt-4o-mini")),
        # Of what nothing is known the first word is the family.
        (identify("zephyr-2 large"), Identity("zephyr-2-large", "", "zephyr", "zephyr-2 large")),
        # Own fields overrule the name.
        (
            identity_of(
                Model("gpt-4o (EU)", identity="House model", developer="House", family="H")
            ),
            Identity("house model", "House", "H", "House model"),
        ),
        (
            identity_of(Model("gpt-4o-2024-08-06", identity="the old one")),
            Identity("the old one", "OpenAI", "GPT", "the old one"),
        ),
        # The developer is looked for in what is sent where the name tells none.
        (
            identity_of(Model("Our helper", "anthropic/claude-sonnet-4")),
            Identity("our-helper", "Anthropic", "Claude", "Our helper"),
        ),
    ],
)
def test_developer_and_family_come_from_own_fields_or_the_name(found, identity):
    assert found == identity


def test_name_is_shown_as_it_was_written():
    written = "together:meta-llama/Llama-2-70b-chat-hf[temp:0.9]"
    assert identify(written).name == "Llama-2-70b-chat-hf"
    assert identify("Claude Sonnet 4.5 preview").name == "Claude Sonnet 4.5"


def test_words_inside_other_words_tell_nothing():
    assert identify("dolphin-supergrok").developer == ""


def test_provider_behind_an_own_address_is_no_developer():
    assert identity_of(Model("Our helper", "openai/helper", "http://here/v1")).developer == ""


@given(st.text(max_size=60))
def test_every_text_has_an_identity(text):
    assert identify(text).key == identify(text).key.casefold()


@given(
    st.sampled_from(CASES), st.sampled_from(["", "-beta", "-preview", "-20250219", "-2025-02-19"])
)
def test_endings_never_change_a_key(case, ending):
    if "[" not in case["written"]:
        assert identify(case["written"] + ending).key == case["key"]
