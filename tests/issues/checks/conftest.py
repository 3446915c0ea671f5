import pytest

from issues.checks.time_limit import Deadline


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks may take a fifth of a second."""
    monkeypatch.setattr(Deadline.__init__, "__defaults__", (0.2,))
