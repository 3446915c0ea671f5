import asyncio
from collections.abc import Callable, Iterator

import pytest

from evalhub.llm import gateway
from evalhub.work.loop import Loop
from tests.factories import make_model
from tests.provider import Provider


@pytest.fixture
def provider(settings) -> Iterator[Provider]:
    """A real HTTP provider whose address may be called."""
    with Provider() as provider:
        settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{provider.port}"]
        yield provider


@pytest.fixture
def model_at(provider) -> Callable[..., object]:
    """Makes a language model that is served by the provider."""

    def make(**fields):
        return make_model(**({"api_base": provider.base_url, "timeout_s": 600} | fields))

    return make


@pytest.fixture
def work(monkeypatch) -> Callable[[], None]:
    """Does all that is waiting, in this process, as a worker would."""
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)
    monkeypatch.setattr("evalhub.work.loop.TICK_S", 0.05)

    async def once() -> None:
        try:
            await Loop(seconds=300).run()
        finally:
            await gateway.close()

    return lambda: asyncio.run(once())
