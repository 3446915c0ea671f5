import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from evalhub.llm import gateway
from tests.provider import Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture(params=["openai/scripted", "together_ai/scripted"], ids=["straight", "translated"])
def way(request) -> str:
    """The name of a model: one that is called straight, and one that litellm translates for."""
    return str(request.param)


@pytest.fixture
def allowed(provider, settings):
    """The provider's address may be called."""
    settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{provider.port}"]


@pytest.fixture
def run() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Runs a coroutine in a loop of its own and closes the connections that it opened."""

    async def closing(coroutine):
        try:
            return await coroutine
        finally:
            await gateway.close()

    return lambda coroutine: asyncio.run(closing(coroutine))
