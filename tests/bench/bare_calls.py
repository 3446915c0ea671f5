"""The same calls and nothing else, by litellm or by aiohttp alone. Prints its window in seconds."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from tests.bench.jobs import JOBS, JUDGES, Job

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

QUESTION = "Question {}: how many are there?"
PROMPT = "Judge the answer by its guidelines, and say why. " * 20

Ask = Callable[..., Awaitable[str]]


@asynccontextmanager
async def litellm(base_url: str) -> AsyncIterator[Ask]:
    from litellm import acompletion

    async def ask(text: str, **params: object) -> str:
        reply = await acompletion(
            model="openai/scripted",
            messages=[{"role": "user", "content": text}],
            api_base=base_url,
            api_key="none",
            max_retries=0,
            **params,
        )
        return str(reply.choices[0].message.content)

    yield ask


@asynccontextmanager
async def aiohttp(base_url: str) -> AsyncIterator[Ask]:
    from aiohttp import ClientSession, TCPConnector

    async with ClientSession(connector=TCPConnector(limit=0), raise_for_status=True) as session:

        async def ask(text: str, **params: object) -> str:
            body = {"model": "scripted", "messages": [{"role": "user", "content": text}], **params}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                reply = await response.json()
            return str(reply["choices"][0]["message"]["content"])

        yield ask


async def one(limit: asyncio.Semaphore, ask: Ask, number: int) -> None:
    async def limited(text: str, **params: object) -> str:
        async with limit:
            return await ask(text, **params)

    answer = await limited(QUESTION.format(number))
    prompt = f'{PROMPT}\n{QUESTION.format(number)}\n{answer}\n"score"'
    await asyncio.gather(*(limited(prompt, temperature=0, seed=judge) for judge in range(JUDGES)))


SIDES = {"litellm": litellm, "aiohttp": aiohttp}


async def main(side: str, job: Job, base_url: str) -> float:
    limit = asyncio.Semaphore(job.in_flight)
    async with SIDES[side](base_url) as ask:
        started = time.perf_counter()
        await asyncio.gather(*(one(limit, ask, number) for number in range(job.tests)))
        return time.perf_counter() - started


if __name__ == "__main__":
    side, name, base_url = sys.argv[1:]
    job = next(job for job in JOBS if job.name == name)
    sys.stdout.write(json.dumps({"window_s": asyncio.run(main(side, job, base_url))}))
