from dataclasses import dataclass, field


@dataclass(frozen=True)
class Button:
    """A button that posts its fields, or a link to a page."""

    label: str
    url: str
    fields: dict[str, str] = field(default_factory=dict)
    kind: str = ""
    is_link: bool = False

    @property
    def css(self) -> str:
        return f"eh-button--{self.kind}" if self.kind else ""
