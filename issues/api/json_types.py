"""The JSON of issues and tests by type, for the schema. Models and readers check it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, create_model

from issues.content.test_content import BY_NAME, SHOWN
from issues.rubrics.scales import PassRule


class TextPart(BaseModel):
    type: Literal["text"]
    text: str


class ImagePart(BaseModel):
    """A stored image by its SHA-256; `alt` describes it for who cannot see it."""

    type: Literal["image"]
    image: str
    alt: str = ""


class ImageUrl(BaseModel):
    model_config = ConfigDict(extra="allow")

    url: str


class ImageUrlPart(BaseModel):
    """An image as a data: URL, as OpenAI's chat format has it; stored and read as ImagePart."""

    type: Literal["image_url"]
    image_url: ImageUrl
    alt: str = ""


class Message(BaseModel):
    """A turn of a conversation. `content` is null for one that the model generates."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "user", "assistant", "tool", "raw_prompt"]
    content: str | list[TextPart | ImagePart | ImageUrlPart] | None = None
    tool_calls: list[dict[str, Any]] | None = None


class ScaleOption(BaseModel):
    """An option of a judge; `value` is in [0, 1]."""

    label: str
    description: str = ""
    value: float


class Scale(BaseModel):
    """Options in the order judges read them; a score above the threshold passes, or also at it."""

    options: list[ScaleOption]
    threshold: float = 0.5
    rule: PassRule = PassRule.STRICT


class LibraryExample(BaseModel):
    """An answer with the option that is right for it; `other` is the second one of a pair."""

    model_config = ConfigDict(extra="allow")

    input: str = ""
    context: str = ""
    reference: str = ""
    answer: str = ""
    other: str = ""
    option: str = ""
    why: str = ""


class LibraryExamples(BaseModel):
    passing: LibraryExample | None = None
    failing: LibraryExample | None = None
    borderline: LibraryExample | None = None


RevisionContent: type[BaseModel] = create_model(
    "RevisionContent",
    __config__=ConfigDict(extra="allow"),
    __doc__="A test as a model and a judge are shown it.",
    **{name: BY_NAME[name].kind for name in SHOWN} | {"messages": list[Message]},
    criteria=list[dict[str, Any]],
    pass_threshold=float,
    pass_rule=PassRule,
)


class DraftFailure(BaseModel):
    """A reply that could not be used: what was asked for, why, and the reply itself."""

    asked: str
    reason: str
    reply: str
