"""Buttons of admin pages: what they say, and where they lead or what they post."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Button:
    """One button. A link only leads to a page; any other posts its fields."""

    label: str
    url: str
    fields: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    is_link: bool = False

    @property
    def css(self) -> str:
        return f"eh-button--{self.kind}" if self.kind else ""
