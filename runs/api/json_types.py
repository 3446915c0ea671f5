"""The JSON of runs by type, for the schema."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class RetrievedDocument(BaseModel):
    """A text that an application retrieved for its answer."""

    model_config = ConfigDict(extra="allow")

    text: str = ""
    title: str = ""


class Turn(BaseModel):
    """A generated turn; `call` is the id of its call, null if it was imported."""

    model_config = ConfigDict(extra="allow")

    content: str | None
    call: int | None = None
    tool_calls: list[dict[str, Any]] = []
    documents: list[RetrievedDocument] | None = None
    session_id: str = ""


class ScaleStatistics(BaseModel):
    """Sums of one scale: `units` are criteria with two values or more, `interval` is of alpha."""

    model_config = ConfigDict(extra="allow")

    units: int = 0
    raters: list[int] = []
    interval: list[float] | None = None


class JudgeRunStatistics(BaseModel):
    """Sums over judgments, which add up over judge runs; without any, it is not finished.

    `judges`: judgments by judge id and state. `failures`: failed ones by kind. `comparisons`:
    pairs of values that were made, and expected. `scales` by name.
    """

    model_config = ConfigDict(extra="allow")

    judges: dict[str, dict[str, int]] = {}
    failures: dict[str, int] = {}
    comparisons: list[int | None] = []
    scales: dict[str, ScaleStatistics] = {}
