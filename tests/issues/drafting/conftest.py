from tests.runs.conftest import model_at, provider, work

__all__ = ["model_at", "provider", "work"]
