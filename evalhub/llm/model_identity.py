"""The identity of a model, whose name may be written with dates, suffixes and providers. Pure.

Identities only group models, on leaderboards and under "by family". Names are kept as written.
`LanguageModel.identity`, `.developer` and `.family` override the result.
"""

import re
from functools import lru_cache
from typing import NamedTuple, Protocol


class Identity(NamedTuple):
    """The identity of a model.

    Attributes:
        key: "developer:name" in lower case, such as "xai:grok-4", to group by.
        developer: The organisation that trained it, as people write it; "": unknown.
        family: Models that share a design, such as "GPT" or "Llama".
        name: The name without its developer, as written.
    """

    key: str
    developer: str
    family: str
    name: str


class Named(Protocol):
    """The fields of a language model that identify it; the last three override if not ""."""

    @property
    def name(self) -> str: ...
    @property
    def litellm_model(self) -> str: ...
    @property
    def api_base(self) -> str: ...
    @property
    def identity(self) -> str: ...
    @property
    def developer(self) -> str: ...
    @property
    def family(self) -> str: ...


class Written(NamedTuple):
    """A name as written, in parts.

    Attributes:
        address: All but the settings in square brackets.
        developer: Key of the developer in its path, one of `DEVELOPERS`; "": none.
        name: The name without providers.
        temperature: From "[temp:0.7]"; None: not given.
        system_prompt: The number in "[sp_idx:1]" or "[sys:1]"; None: not given.
    """

    address: str
    developer: str
    name: str
    temperature: float | None
    system_prompt: int | None


DEVELOPERS = {
    "ai21": "AI21",
    "allenai": "Ai2",
    "amazon": "Amazon",
    "anthropic": "Anthropic",
    "cohere": "Cohere",
    "deepseek": "DeepSeek",
    "google": "Google",
    "huggingface": "Hugging Face",
    "ibm": "IBM",
    "meta": "Meta",
    "microsoft": "Microsoft",
    "minimax": "MiniMax",
    "mistralai": "Mistral AI",
    "moonshotai": "Moonshot AI",
    "nvidia": "NVIDIA",
    "openai": "OpenAI",
    "qwen": "Qwen",
    "xai": "xAI",
    "zai": "Z.ai",
}

_OTHER_SPELLINGS = {
    "cohereforai": "cohere",
    "deepseek-ai": "deepseek",
    "gemini": "google",
    "huggingfacetb": "huggingface",
    "ibm-granite": "ibm",
    "meta-llama": "meta",
    "mistral": "mistralai",
    "moonshot": "moonshotai",
    "x-ai": "xai",
    "z-ai": "zai",
}

# Who passes calls on or hosts models of others. A head that is neither this nor a developer is kept
# if the name alone tells no developer: it may be an organisation.
_PROVIDER = re.compile(
    "azure(_ai)?|bedrock|cerebras|custom_openai|databricks|deepinfra|fireworks(_ai)?|github|groq"
    "|hosted_vllm|litellm_proxy|llamafile|lm_studio|local|nebius|novita|nvidia_nim|ollama(_chat)?"
    "|openai_like|openrouter|perplexity|replicate|sagemaker|sambanova|scripted|together(_ai)?"
    "|vercel|vertex(_ai)?|vllm|watsonx",
    re.I,
)

# In this order: "deepseek-r1-distill-llama" is DeepSeek's.
_BY_NAME = tuple(
    (re.compile(rf"(?<![a-z])(?:{pattern})", re.I), developer, family)
    for pattern, developer, family in (
        ("grok", "xai", "Grok"),
        ("gpt", "openai", "GPT"),
        ("chatgpt", "openai", "GPT"),
        (r"o[1-9](?![a-z0-9])", "openai", "OpenAI o"),
        ("claude", "anthropic", "Claude"),
        ("deepseek", "deepseek", "DeepSeek"),
        ("qwen|qwq", "qwen", "Qwen"),
        ("gemini", "google", "Gemini"),
        ("gemma", "google", "Gemma"),
        ("palm", "google", "PaLM"),
        ("nemotron", "nvidia", "Nemotron"),
        ("llama", "meta", "Llama"),
        ("mi[sx]tral|ministral|magistral|codestral|devstral|pixtral", "mistralai", "Mistral"),
        ("command", "cohere", "Command"),
        ("phi(?=[-0-9])", "microsoft", "Phi"),
        ("granite", "ibm", "Granite"),
        ("kimi", "moonshotai", "Kimi"),
        ("glm", "zai", "GLM"),
        ("minimax", "minimax", "MiniMax"),
        ("jamba", "ai21", "Jamba"),
        ("olmo", "allenai", "OLMo"),
        ("smollm", "huggingface", "SmolLM"),
    )
)

_SETTINGS = re.compile(r"\[([a-z_]+):([^\]]*)\]", re.I)
_DEPLOYED = re.compile(r"^(?:(?:us|eu|apac|jp|global)\.)?([a-z0-9]+)\.(?=[a-z])", re.I)
_MONTH, _DAY, _YEAR = "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])", "20[2-9][0-9]"
_ENDINGS = re.compile(
    "(?:"
    rf"[-_ @]{_YEAR}[-_]?{_MONTH}[-_]?{_DAY}"  # 20241022, 2024-08-06
    rf"|[-_ @]{_MONTH}-{_YEAR}"  # 08-2024
    rf"|[-_ @]{_MONTH}-?{_DAY}"  # 05-20, 0709
    rf"|[-_ @]2[3-9]{_MONTH}"  # 2411, of 2024
    r"|-00[1-9]"  # Google's numbered snapshots
    r"|[-_ @:](?:preview|beta|experimental|exp|latest|free|nitro|floor)"
    r"|-v\d+:\d+"  # Bedrock's
    r")$",
    re.I,
)


def identity_of(model: Named) -> Identity:
    """Return a language model's identity, from its own fields, else from its name."""
    found = identify(model.identity or model.name)
    named, sent = identify(model.name), read_name(model.litellm_model)
    called = identify(sent.name if model.api_base else sent.address)  # a custom address serves any
    families = {family for _, _, family in _BY_NAME}
    known = (one.family for one in (found, named, called) if one.family in families)
    return Identity(
        key=model.identity.strip().casefold() or found.key,
        developer=model.developer or found.developer or named.developer or called.developer,
        family=model.family or next(known, found.family),
        name=found.name,
    )


@lru_cache(maxsize=1000)
def identify(text: str) -> Identity:
    """Return the identity that follows from a name alone.

    Dates, preview and beta endings, providers and settings in square brackets are ignored. The
    developer is taken from the path, else from the pattern of the name.
    """
    written = read_name(text)
    name = _bare(written.name)
    by_name = ((d, f) for pattern, d, f in _BY_NAME if pattern.search(name))
    developer, family = next(by_name, ("", ""))
    developer = written.developer or developer
    if not developer:  # what precedes the name tells two models apart, if it is no known provider
        *path, _ = _parts(written.address)
        name = "".join(f"{part}:" for part in path if not _PROVIDER.fullmatch(part)) + name
    key = re.sub(r"[\s_]+", "-", f"{developer}:{name}" if developer else name).casefold()
    word = re.match(r"[^\W\d_]+", name)
    return Identity(key, DEVELOPERS.get(developer, ""), family or (word[0] if word else name), name)


def read_name(text: str) -> Written:
    settings = {name.lower(): value.strip() for name, value in _SETTINGS.findall(text)}
    address = _SETTINGS.sub("", text).strip()
    *path, name = _parts(address)
    if (deployed := _DEPLOYED.match(name)) and (developer := _developer(deployed[1])):
        path, name = [*path, developer], name[deployed.end() :]
    developers = [developer for part in path if (developer := _developer(part))]
    try:
        temperature = float(settings.get("temp", ""))
    except ValueError:
        temperature = None
    prompt = settings.get("sp_idx", settings.get("sys", ""))
    return Written(
        address=address,
        developer=developers[-1] if developers else "",
        name=name,
        temperature=temperature,
        system_prompt=int(prompt) if prompt.isdecimal() else None,
    )


def _parts(address: str) -> list[str]:
    """Split a name's path: "a:b/c" equals "a/b/c"; "llama3:8b" has a tag, not a path."""
    head, colon, rest = address.partition(":")
    is_provider = _PROVIDER.fullmatch(head) or _developer(head)
    if colon and "/" not in head and (is_provider or "/" in rest):
        address = f"{head}/{rest}"
    return [part for part in address.split("/") if part] or [address]


def _bare(name: str) -> str:
    """Return the name without endings; empty only if it was."""
    while shorter := _ENDINGS.sub("", name):
        if shorter == name:
            break
        name = shorter
    return name.strip()


def _developer(part: str) -> str:
    """Return the key of the developer that a part of a path names; "": none."""
    part = part.lower()
    part = _OTHER_SPELLINGS.get(part, part)
    return part if part in DEVELOPERS else ""
