"""Settings of a generation run. Pure."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from runs.limits import MAX_IDEAS, MAX_TOPICS


class GenerationSettings(BaseModel):
    """Sizes of a generation run.

    `ideas_per_cluster` None: as many as of other topics. `ideas` are the ids of those to work on;
    none: all. `outside` are examples that no topic covers: the model completes the list of topics
    with `topics` more. `jury` and `release` are those of the run that a replay becomes.
    """

    model_config = ConfigDict(extra="forbid")

    ideas_per_topic: int = Field(10, ge=1, le=MAX_IDEAS)
    ideas_per_cluster: int | None = Field(None, ge=1, le=MAX_IDEAS)
    max_tokens: int = Field(2000, ge=16, le=32_000)
    topics: int = Field(0, ge=0, le=MAX_TOPICS)
    outside: list[Annotated[str, Field(max_length=1000)]] = Field([], max_length=50)
    ideas: list[int] = []
    jury: int | None = None
    release: str = Field("", max_length=100)

    def ideas_of(self, *, is_cluster: bool) -> int:
        """Return the number of ideas that a topic shall have."""
        return (is_cluster and self.ideas_per_cluster) or self.ideas_per_topic
