"""The exceptions by which a piece of work hands control back to the loop."""


class GivenBack(Exception):
    """Release the item in good order; it can be claimed again after `after_s` seconds."""

    def __init__(self, *, after_s: float = 0.0) -> None:
        super().__init__(f"given back for {after_s:.0f} s")
        self.after_s = after_s


class BatchFailed(Exception):
    """Every other item of the batch would fail the same way; the message says why."""


class LeaseLost(Exception):
    """Another worker holds the item now: this one was taken for dead."""
