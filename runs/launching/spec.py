"""What a launch asks for: read from a form, the API, a command or a stored launch alike."""

import json
from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from evalhub.llm.parameters import parameter_problems
from runs.launching.number_lists import MAX_TEMPERATURE, MAX_TEMPERATURES

MAX_REPEATS = 100
MAX_PROMPTS = 100
RowId = Annotated[int, Field(ge=1, le=2**63 - 1)]
"""The number of a row: a larger one would be an error of the database's."""


class LaunchRefused(ValueError):
    """A launch that cannot be made; `problems` says in words why, all of them at once."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


class LaunchSpec(BaseModel):
    """Tests × models × system prompts × temperatures, with the jury that judges them.

    Tests are the union of those named, those of the issues and tags named, and the suite's.
    `jury` None: no judges, only people. `cost_limit_usd` holds for each run, its judging included.
    Without `temperatures` there is one run with the temperature of `params`, or the model's.
    `similarity_weight` is the share of each score that similarity to the reference answer makes
    up, by the embeddings of `similarity_model` (None: those built in); `score_by_similarity`
    scores tests by it alone that have no rubric and no judges. `allow_sealed_exposure`: sealed
    tests
    may be sent to endpoints outside the trusted network, which exposes them.
    """

    model_config = ConfigDict(extra="forbid")

    label: str = Field(min_length=1, max_length=150)
    release: str = Field("", max_length=100)
    tests: list[RowId] = []
    issues: list[RowId] = []
    tags: list[RowId] = []
    suite: RowId | None = None
    models: list[RowId] = Field(min_length=1)
    system_prompts: list[str] = Field([""], min_length=1, max_length=MAX_PROMPTS)
    params: dict[str, Any] = {}
    temperatures: list[Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)]] = Field(
        [], max_length=MAX_TEMPERATURES
    )
    repeats: int = Field(1, ge=1, le=MAX_REPEATS)
    jury: RowId | None = None
    cost_limit_usd: Decimal | None = Field(None, gt=0)
    allow_self_evaluation: bool = False
    similarity_weight: float = Field(0, ge=0, le=1)
    similarity_model: RowId | None = None
    score_by_similarity: bool = False
    allow_sealed_exposure: bool = False

    @model_validator(mode="after")
    def something_is_selected(self) -> "LaunchSpec":
        if not (self.tests or self.issues or self.tags or self.suite):
            raise ValueError("Select tests, issues, tags or a suite: nothing is selected.")
        return self

    @model_validator(mode="after")
    def parameters_can_be_sent(self) -> "LaunchSpec":
        if problems := parameter_problems(self.params):
            raise ValueError(" ".join(problems))
        try:
            json.dumps(self.params, allow_nan=False)
        except ValueError as error:
            raise ValueError("params holds a number without end, which cannot be sent.") from error
        return self

    @model_validator(mode="after")
    def temperature_is_said_once(self) -> "LaunchSpec":
        if self.temperatures and "temperature" in self.params:
            raise ValueError(
                f"temperature is a parameter ({self.params['temperature']}) and there is a list of "
                "temperatures: leave one of them out."
            )
        return self

    def defaults(self) -> dict[str, Any]:
        """What a suite keeps of it as defaults: what differs from a launch that says nothing."""
        said = self.model_dump(mode="json", exclude_defaults=True)
        return {name: value for name, value in said.items() if name in DEFAULT_FIELDS}

    @property
    def wants_similarity(self) -> bool:
        """Whether some scores are to be made of similarity to the reference answer."""
        return self.similarity_weight > 0 or self.score_by_similarity


DEFAULT_FIELDS = tuple(
    name
    for name in LaunchSpec.model_fields
    if name not in ("label", "tests", "issues", "tags", "suite", "allow_sealed_exposure")
)
"""What a suite may hold as defaults of its launches: all but what is tested, its name, and the
consent to an exposure, which is given for each launch."""


def check_defaults(values: dict[str, Any]) -> None:
    """Whether a suite's defaults can start a launch.

    Raises:
        LaunchRefused: A field is none of `DEFAULT_FIELDS`, or its value is wrong.
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
    if problems:
        raise LaunchRefused(problems)


def read_spec(values: dict[str, Any]) -> LaunchSpec:
    """The launch that these values describe.

    Raises:
        LaunchRefused: Values are missing or wrong; each problem names its field and value.
    """
    try:
        return LaunchSpec.model_validate(values)
    except ValidationError as error:
        raise LaunchRefused([_sentence(problem) for problem in error.errors()]) from error


def _sentence(problem: Any) -> str:
    field = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if not field:
        return str(message)
    given = "" if problem["type"] == "missing" else f" (given: {problem['input']!r})"
    return f"{field}: {message}{given}."
