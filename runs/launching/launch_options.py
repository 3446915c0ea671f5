"""The options of a launch, declared once: form, API body and command are made from them."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalhub.llm.parameters import parameter_problems
from evalhub.values.option_problems import option_problems
from runs.answering.endings import Handling
from runs.launching.number_lists import MAX_TEMPERATURE
from runs.limits import MAX_PROMPTS, MAX_REPEATS, MAX_TEMPERATURES

SELECTING = ("tests", "issues", "tags", "suite")
"""Options that name tests."""
RowId = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""Primary key of a row, within the range of the database's integers."""


class LaunchRefused(ValueError):
    """A launch that cannot be made; `problems` lists every reason."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Entry:
    """Input of an option, beside its title, description and limits.

    Attributes:
        rows: The model that its ids belong to, as "app.Model"; "" if they are typed as numbers.
        flag: Its flag in a command, where that is not its name.
        empty: The form's placeholder, or its label for "none chosen".
    """

    rows: str = ""
    flag: str = ""
    empty: str = ""


class LaunchSpec(BaseModel):
    """Tests × models × system prompts × temperatures, with the jury that judges them.

    Select tests by any of `tests`, `issues`, `tags` and `suite`; their union runs.
    """

    model_config = ConfigDict(extra="forbid")

    label: str = Field(
        min_length=1,
        max_length=150,
        title="Label",
        description="Name of the runs in lists and reports.",
    )
    release: Annotated[str, Entry(empty="2.1.0")] = Field(
        "", max_length=100, title="Release", description="Version of the system under test."
    )
    tests: Annotated[list[RowId], Entry(empty="3, 8-12")] = Field(
        [], title="Tests", description="Tests by number."
    )
    issues: Annotated[list[RowId], Entry("issues.Issue")] = Field(
        [], title="Issues", description="Issues whose approved tests run."
    )
    tags: Annotated[list[RowId], Entry("issues.Tag")] = Field(
        [], title="Tags", description="Tags of issues whose approved tests run."
    )
    suite: Annotated[RowId | None, Entry("runs.Suite", empty="No suite")] = Field(
        None, title="Suite", description="Suite whose approved tests run."
    )
    without_synthetic: bool = Field(
        False,
        title="Leave out synthetic tests",
        description="Runs no test that was drafted by a model.",
    )
    models: Annotated[list[RowId], Entry("evalhub.LanguageModel", flag="--model")] = Field(
        min_length=1, title="Models", description="Models under test: one run for each."
    )
    system_prompts: Annotated[list[str], Entry(flag="--system-prompt")] = Field(
        [""],
        min_length=1,
        max_length=MAX_PROMPTS,
        title="System prompts",
        description="One run for each. An empty one adds nothing to the test's own messages.",
    )
    params: Annotated[dict[str, Any], Entry(flag="--param")] = Field(
        {},
        title="Parameters",
        description="Sent with every call, such as seed or top_p. They override the model's own.",
    )
    temperatures: Annotated[
        list[Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)]],
        Entry(flag="--temperature", empty="Model defaults"),
    ] = Field(
        [],
        max_length=MAX_TEMPERATURES,
        title="Temperatures",
        description="One run for each, such as 0 and 0.7.",
    )
    repeats: int = Field(
        1, ge=1, le=MAX_REPEATS, title="Repeats", description="Answers to each test."
    )
    jury: Annotated[RowId | None, Entry("runs.Jury", empty="Human evaluation only")] = Field(
        None,
        title="Jury",
        description="Judges that score the answers. Without a jury, annotators do.",
    )
    cost_limit_usd: Annotated[Decimal | None, Entry(flag="--cost-limit", empty="No limit")] = Field(
        None,
        gt=0,
        title="Cost limit per run (USD)",
        description="A run that reaches it stops. Judge calls count too.",
    )
    allow_self_evaluation: bool = Field(
        False,
        title="Allow self-evaluation",
        description="Lets a model judge its own answers, which it tends to favour. "
        "Every page of the run says so.",
    )
    similarity_weight: float = Field(
        0,
        ge=0,
        le=1,
        title="Similarity weight (β)",
        description="Share of similarity to the reference answer in each score, from 0 to 1.",
    )
    similarity_model: Annotated[
        RowId | None, Entry("evalhub.LanguageModel", empty="Built-in word vectors")
    ] = Field(
        None,
        title="Similarity model",
        description="An embedding model. The built-in word vectors need no API key, but ignore "
        "word order.",
    )
    score_by_similarity: bool = Field(
        False,
        title="Score by similarity alone",
        description="For tests without a rubric and without a judge, which otherwise wait for "
        "human evaluation.",
    )
    cut_off_answers: Handling = Field(
        Handling.JUDGED,
        title="Answers cut off",
        description="Answers that reached the token limit. They are marked in any case.",
    )
    broken_off_answers: Handling = Field(
        Handling.ERROR,
        title="Answers broken off",
        description="Answers that a content filter, an error of the provider or an abort ended "
        "early. Those that count as errors are asked for again.",
    )
    ask_judges_again: bool = Field(
        False,
        title="Ask judges again",
        description="Unless checked, a verdict is taken at no cost from an earlier run of another "
        "release or model, where the judge got the same request word for word.",
    )
    allow_sealed_exposure: bool = Field(
        False,
        title="Allow sealed tests outside",
        description="Sends sealed tests outside the trusted network and logs each as an exposure.",
    )

    @model_validator(mode="after")
    def something_is_selected(self) -> "LaunchSpec":
        if not any(getattr(self, name) for name in SELECTING):
            raise ValueError("Select tests, issues, tags or a suite: nothing is selected.")
        return self

    @model_validator(mode="after")
    def parameters_can_be_sent(self) -> "LaunchSpec":
        if problems := parameter_problems(self.params):
            raise ValueError(" ".join(problems))
        try:
            json.dumps(self.params, allow_nan=False)
        except ValueError as error:
            raise ValueError("params holds NaN or Infinity: use finite numbers.") from error
        return self

    @model_validator(mode="after")
    def temperature_is_set_once(self) -> "LaunchSpec":
        if self.temperatures and "temperature" in self.params:
            raise ValueError(
                f"temperature is both a parameter ({self.params['temperature']}) and a list of "
                "temperatures: leave one of them out."
            )
        return self

    def defaults(self) -> dict[str, Any]:
        """Return the options that a suite keeps as defaults: those that differ from ours."""
        changed = self.model_dump(mode="json", exclude_defaults=True)
        return {name: value for name, value in changed.items() if name in DEFAULT_FIELDS}

    @property
    def wants_similarity(self) -> bool:
        return self.similarity_weight > 0 or self.score_by_similarity


OPTIONS = LaunchSpec.model_fields

DEFAULT_FIELDS = tuple(
    name for name in OPTIONS if name not in ("label", *SELECTING, "allow_sealed_exposure")
)
"""Options that a suite may set: not its tests, nor the label, nor the consent to an exposure,
which is given for each launch."""


def entry_of(name: str) -> Entry:
    found = (item for item in OPTIONS[name].metadata if isinstance(item, Entry))
    return next(found, Entry())


def problems_of_defaults(values: dict[str, Any]) -> list[str]:
    """Return why no launch can start with a suite's defaults.

    A field is none of `DEFAULT_FIELDS`, or its value is wrong.
    """
    unknown = [name for name in values if name not in DEFAULT_FIELDS]
    problems = [
        f"{name!r} cannot be a default: use {', '.join(DEFAULT_FIELDS)}." for name in unknown
    ]
    known = {name: value for name, value in values.items() if name in DEFAULT_FIELDS}
    try:
        read_spec({"label": "defaults", "tests": [1], "models": [1], **known})
    except LaunchRefused as refused:
        problems += refused.problems
    return problems


def read_spec(values: dict[str, Any]) -> LaunchSpec:
    """Return the launch that these values describe.

    Raises:
        LaunchRefused: Values are missing or wrong; each problem names its field and value.
    """
    try:
        return LaunchSpec.model_validate(values)
    except ValidationError as error:
        raise LaunchRefused(option_problems(error)) from error
