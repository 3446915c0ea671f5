"""Remove the names of models and developers from texts, and find any that is left.

Names are those of the models of some runs, their developers' and families'. They count as whole
words: in any case, hyphenated or spaced otherwise than usual, possessive, plural, or with a version
attached; those that are dictionary words only as they are capitalised.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize

from evalhub.values.look_alikes import CharacterMap, plain_letter

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
"""Other names of developers and their models, by the names of `evalhub.llm.model_identity`."""

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


# Masking -----------------------------------------------------------------------------------------

MASKS = {MODEL: "[name of a model withheld]", DEVELOPER: "[name of a developer withheld]"}
"""Placeholders for names. They are no ids: what a text says of a well-known developer
would reveal its id."""

MAX_WORDS = 12
"""Words by which longer names are searched."""

MAX_GAP = 3
"""Characters, neither letters nor digits, allowed between the words of a name."""

_HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Invisible characters that could split a name."""

_STROKES = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
"""Accents and strokes that change no letter's identity."""

_JOINED = r"[\-\u2010\u2011]?"
_PARTS = re.compile(r"[^\W_]+|[+]")
_CAPITALS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z]{3})(?=\d)")
_FOLDED = CharacterMap(plain_letter)


class Masking:
    """Mask texts one by one and count the removed names."""

    def __init__(self, names: Iterable[Name]) -> None:
        self.names = tuple(names)
        self.counts: Counter[str] = Counter()

    def __call__(self, text: str) -> str:
        """Return the text without the names."""
        shown = _visible(text)
        out, at = "", 0
        for name, match in _found(shown, self.names):
            self.counts[name.text] += 1
            out += shown[at : match.start()] + MASKS.get(name.kind, "")
            at = match.end()
        return out + shown[at:]


def leaks(text: str, names: Iterable[Name]) -> list[str]:
    """Return the names that stand in a text. A provider's alone tells no model and is none."""
    found = _found(_visible(text), tuple(names))
    return list(dict.fromkeys(name.text for name, _ in found if name.kind != PROVIDER))


def without_own(names: Sequence[Name], own: str) -> tuple[list[Name], list[str]]:
    """Split names into those that can be masked, and those that occur in the instruction.

    Args:
        own: The text that is sent whatever the runs are.
    """
    left, used = list(names), []
    while found := leaks(own, left):  # a long name may hide a short one
        used += found
        left = [name for name in left if name.text not in found]
    return left, sorted(used)


def _visible(text: str) -> str:
    """Return the text without invisible characters and letter decorations."""
    return _STROKES.sub("", normalize("NFC", _HIDDEN.sub("", text)))


def _found(text: str, names: Sequence[Name]) -> Iterator[tuple[Name, re.Match[str]]]:
    """Yield the names in a text, also in letters that only look like theirs."""
    if names:
        for match in _pattern(names).finditer(text.translate(_FOLDED)):
            yield names[int((match.lastgroup or "n0")[1:])], match


@lru_cache(maxsize=16)
def _pattern(names: Sequence[Name]) -> re.Pattern[str]:
    """Return one pattern for all names; group "n3" is the fourth."""
    found = (f"(?P<n{number}>{_of(name)})" for number, name in enumerate(names))
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(found)})")


def _of(name: Name) -> str:
    text = name.text.translate(_FOLDED)
    parts = _PARTS.findall(text)[:MAX_WORDS]
    widest = max([MAX_GAP, *map(len, re.findall(r"[\W_]+", text))])
    between = rf"[\W_]{{0,{widest}}}"
    if name.kind == PROVIDER:
        return rf"(?i:{between.join(map(re.escape, parts))})[/:](?=\w)"
    if name.is_word:
        capitalised = " ".join(word[:1].upper() + word[1:] for word in text.split())
        forms = {text, text.upper(), capitalised}
        return rf"(?:{'|'.join(map(re.escape, sorted(forms)))})(?![^\W_])"
    # Words may be split where capitals or digits begin, and end in a plural or a version.
    pieces = (map(re.escape, _CAPITALS.split(part)) for part in parts)
    words = between.join(_JOINED.join(piece) for piece in pieces)
    ending = r"(?:s|\d[\w.]*)?" if parts[-1][-1].isalpha() else ""
    return rf"(?i:{words}{ending})(?![^\W_])"
