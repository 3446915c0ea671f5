"""No name of a model or maker is left in what an analyst reads."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reports.summaries.analyst.mask import (
    DEVELOPER,
    MASKS,
    MODEL,
    Known,
    Masking,
    leaks,
    names_of,
    without_own,
)

MODELS = [
    Known("GPT-4o (OpenRouter)", "openrouter/openai/gpt-4o-2024-08-06", "OpenAI", "GPT"),
    Known("Claude 3.5 Sonnet", "anthropic/claude-3-5-sonnet-20241022", "Anthropic", "Claude"),
    Known("Command R+", "cohere/command-r-plus", "Cohere", "Command"),
    Known("SmolLM2 135M (embedded)", "openai/smollm2-135m", "Hugging Face", "SmolLM"),
    Known("Llama-3.1-8B-Instruct", "together/meta-llama/Llama-3.1-8B", "Meta", "Llama"),
    Known("grok-4-0709", "xai/grok-4-0709", "xAI", "Grok"),
    Known("deepseek-r1", "deepseek/deepseek-r1", "DeepSeek", "DeepSeek"),
]
NAMES = names_of(MODELS)
TOLD = [name for name in NAMES if name.kind in (MODEL, DEVELOPER) and not name.is_word]
WITHHELD = tuple(MASKS.values())


def masked(text, names=NAMES):
    return Masking(names)(text)


# Which names there are ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["gpt-4o", "ChatGPT", "OpenAI", "GPT", "Sonnet", "Mistral", "smollm2-135m", "HuggingFace"],
)
def test_names_aliases_developers_and_families_of_these_models_are_known(name):
    assert (name in {name.text for name in NAMES}) is (name != "Mistral")


def test_numbers_and_single_letters_are_no_names():
    assert names_of([Known("4", "7", "X", "-")]) == []


# What is masked ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        *("I am GPT-4o.", "gpt4o", "GPT 4o", "gpt_4o", "Gpt\u20114o", "GPT-4o's", "the GPTs"),
        *("GPT4", "claude-3.5-sonnet", "Claude 3-5 Sonnet", "CLAUDE", "Claude’s", "claude3"),
        *("Open-AI", "OPENAI", "Open AI", "ChatGPT-like", "Open\u200bAI", "ＯｐｅｎＡＩ", "x-ai"),
        *("Command", "COMMAND R+", "Llama", "LLAMA", "Deep-Seek", "meta ai", "`grok-4-0709`"),
        *("Hugging Face’s SmolLM2", "huggingface", "Meta-Llama"),
    ],
)
def test_names_are_masked_however_they_are_written(text):
    found = masked(text)
    assert any(mask in found for mask in WITHHELD)
    assert leaks(found, NAMES) == []


@pytest.mark.parametrize(
    "text",
    [
        *("Cl\u200daude", "Cl\u200eaude", "Cl\ufe0faude", "Cl\U000e0061aude", "Cl\u0332aude"),
        *("Сlаudе", "GРT-4o", "𝐂𝐥𝐚𝐮𝐝𝐞", "ⒸⓁⒶⓊⒹⒺ", "ɢᴘᴛ", "OpénAI", "OpenAI™", "Claude²"),
    ],
)
def test_names_are_masked_in_letters_that_only_look_so(text):
    found = masked(f"I am {text}, by whom?")
    assert "withheld], by whom?" in found.replace("™", "")
    assert leaks(found, NAMES) == []


@pytest.mark.parametrize(
    "text", ["Привет, мир", "x² ≤ ½", "naïve café", "日本語", "ελληνικά", "ﬁne"]
)
def test_other_letters_stay_as_they_are(text):
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("Run the command now.", "a llama in the Andes", "I grok it", "an open AI standard"),
        *("egpt-4oo", "closedopenai", "a meta analysis", "opus magnum", "the haiku"),
    ],
)
def test_words_that_are_no_names_stay(text):
    assert masked(text) == text
    assert leaks(text, NAMES) == []


def test_providers_go_with_what_they_provide():
    assert masked("openrouter/openai/gpt-4o") == f"{MASKS[DEVELOPER]}/{MASKS[MODEL]}"
    assert masked("together/meta-llama/Llama-3.1-8B") == MASKS[MODEL]
    assert masked("We work together.") == "We work together."


def test_what_was_masked_is_counted_by_name():
    masking = Masking(NAMES)
    masking("OpenAI's GPT-4o is by OPENAI.")
    assert masking.counts == {"OpenAI": 2, "gpt-4o": 1}


def test_without_names_nothing_is_masked():
    assert masked("GPT-4o", []) == "GPT-4o"


@st.composite
def spellings(draw):
    """A name in any case, hyphenation and form, with what was written around it."""
    name = draw(st.sampled_from(TOLD)).text
    gap = draw(st.sampled_from(["-", " ", "_", ".", "", "\u2011", "/"]))
    parts = re.sub(r"[()/-]", " ", name).split()
    cases = draw(st.lists(st.booleans(), min_size=40, max_size=40))
    text = gap.join(parts)
    spelt = "".join(c.upper() if cases[at % 40] else c.lower() for at, c in enumerate(text))
    ending = draw(st.sampled_from(["", "'s", "\u2019s", ",", "-based", ".", "!", "/", "'"]))
    before = draw(st.sampled_from(["", "by ", "(", "“", "pre-", "\n", "1. ", "_", "**"]))
    return before, spelt, ending


@given(spellings(), st.text(max_size=5))
def test_no_name_survives_in_any_case_hyphenation_or_possessive(spelling, after):
    before, spelt, ending = spelling
    assume(not after[:1].isalnum() or ending)
    found = masked(f"{before}{spelt}{ending}{after}")
    assert spelt.lower() not in found.lower()
    assert leaks(found, NAMES) == []


@given(
    st.lists(
        st.sampled_from(
            [part for name in NAMES for part in (name.text, *re.findall(r"[^\W_]+", name.text))]
        )
        | st.sampled_from([" ", "-", ", ", " | ", "\n", "s", "4", "'s", "\u200b", "x"])
        | st.text(max_size=3)
    ).map("".join)
)
def test_the_check_finds_nothing_that_masking_leaves(text):
    assert leaks(masked(text), NAMES) == []


NAMED = st.text(st.sampled_from("abAB12-. +ßéж"), min_size=2, max_size=12)


@given(NAMED, st.sampled_from(["{}", "I am {}.", "{}'s", "{}-like", "({})"]), st.booleans())
def test_models_of_any_name_are_masked(name, sentence, is_upper):
    names = [one for one in names_of([Known(name, "openai/m", "", "")]) if one.text == name.strip()]
    assume(names)
    written = name.strip().upper() if is_upper else name.strip()
    assume(written.lower() == name.strip().lower())
    found = masked(sentence.format(written), names)
    assert WITHHELD[0] in found
    assert leaks(found, names) == []


# The check for leaks -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a gpt-4o b", "GPT4o", "by openai", "Claude", "Command", "Sonnet"]
)
def test_a_leak_is_named(text):
    assert leaks(text, NAMES)


def test_names_of_the_instruction_itself_are_set_apart():
    names = names_of([Known("Grade", "openai/m1", "Analyst", ""), MODELS[0]])
    kept, own = without_own(names, "You are an analyst. Grade every model.")
    assert own == ["Analyst", "Grade"]
    assert "gpt-4o" in {name.text for name in kept}
