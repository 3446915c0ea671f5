"""Names that identify the models of some runs: their own, their developers' and families'."""

import re
from collections.abc import Iterable
from typing import NamedTuple

MODEL, DEVELOPER, PROVIDER = "model", "developer", "provider"

ALSO_CALLED = {
    "AI21": ("AI21 Labs", "Jamba", "Jurassic"),
    "Ai2": ("AllenAI", "Allen Institute for AI", "OLMo", "Tulu", "Molmo"),
    "Amazon": ("AWS", "Amazon Web Services", "Amazon Nova", "Amazon Titan", "Titan", "Nova"),
    "Anthropic": ("Claude", "Opus", "Sonnet", "Haiku"),
    "Cohere": ("Command", "Command R", "Command R+", "Aya"),
    "DeepSeek": ("Deep Seek",),
    "Google": (
        *("Alphabet", "DeepMind", "Google DeepMind", "Gemini", "Gemma", "Bard", "PaLM", "LaMDA"),
    ),
    "Hugging Face": ("HuggingFace", "HuggingFaceTB", "SmolLM", "Zephyr"),
    "IBM": ("Granite", "watsonx", "Watson"),
    "Meta": ("Meta AI", "Facebook", "Llama"),
    "Microsoft": ("Phi", "Copilot", "Microsoft Copilot"),
    "MiniMax": ("Hailuo",),
    "Mistral AI": (
        *("Mistral", "MistralAI", "Mixtral", "Ministral", "Magistral", "Codestral", "Devstral"),
        *("Pixtral", "Le Chat"),
    ),
    "Moonshot AI": ("Moonshot", "MoonshotAI", "Kimi"),
    "NVIDIA": ("Nemotron",),
    "OpenAI": ("Open AI", "ChatGPT", "GPT"),
    "Qwen": ("Alibaba", "Alibaba Cloud", "Tongyi", "Tongyi Qianwen", "QwQ"),
    "xAI": ("Grok",),
    "Z.ai": ("Zhipu", "Zhipu AI", "ChatGLM", "GLM"),
}
"""Other names of developers and their models, by the names of `evalhub.llm.identity`."""

DICTIONARY_WORDS = frozenset(
    """
    amazon alphabet answer assistant baseline bard base candidate chat chat-gpt command copilot
    coral falcon flash gemini granite grok haiku instruct judge jurassic large llama maverick medium
    meta minimax mini mistral model moonshot nano nova open-ai opus palm phi preview pro scout small
    sonnet test titan turbo ultra watson zephyr apple echo local scripted fast slow cheap strong
    """.split()  # noqa: SIM905
)
"""Names that are also words: masked only where they are written as names."""

NOT_NAMES = frozenset({"openai_like", "custom_openai", "local", "scripted"})
"""Prefixes in the place of a provider that identify no developer."""

MIN_LETTERS = 2


class Name(NamedTuple):
    """A name that identifies a model, developer or provider.

    `is_word`: it is a word of the language as well, so it counts only where it is written with
    capitals as the name is. A provider counts only in front of what it provides, as in "groq/".
    """

    text: str
    kind: str
    is_word: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Its words in lower case."""
        return tuple(re.findall(r"[^\W_]+", self.text.lower()))


class Known(NamedTuple):
    """The names of one model of the runs. `called` is its id at the provider."""

    name: str
    called: str
    developer: str
    family: str
    identity: str = ""


def names_of(models: Iterable[Known]) -> list[Name]:
    """Return every name that identifies these models, the longest first, each once."""
    found: dict[tuple[str, bool], Name] = {}
    for model in models:
        for name in _names(model):
            if _is_name(name.text):
                found.setdefault((name.text.lower(), name.kind == PROVIDER), name)
    return sorted(found.values(), key=lambda name: (-len(name.text), name.text))


def _names(model: Known) -> Iterable[Name]:
    *providers, own = [part for part in re.split(r"[/:]", model.called) if part] or [model.called]
    undated = re.sub(r"[-_@]?(?:20\d{2}-?\d{2}-?\d{2}|\d{4}|latest|preview|beta)$", "", own)
    identity = model.identity.rpartition(":")[2]
    for text in (model.name, model.called, own, identity, undated):
        yield _named(text, MODEL)
    for provider in providers:
        yield Name(provider, PROVIDER)
    yield _named(model.family, MODEL)
    yield _named(model.developer, DEVELOPER)
    developer = squeezed(model.developer)
    for aliases in (names for key, names in ALSO_CALLED.items() if squeezed(key) == developer):
        for alias in aliases:
            yield _named(alias, DEVELOPER)


def _named(text: str, kind: str) -> Name:
    text = text.strip()
    return Name(text, kind, is_word="-".join(text.casefold().split()) in DICTIONARY_WORDS)


def _is_name(text: str) -> bool:
    """Return whether a name can be searched: a lone letter or number is in every text."""
    letters = squeezed(text)
    return (
        len(letters) >= MIN_LETTERS and not letters.isdecimal() and text.casefold() not in NOT_NAMES
    )


def squeezed(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()
