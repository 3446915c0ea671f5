"""The bare litellm script: the same calls and nothing else. Prints its window in seconds."""

import asyncio
import json
import os
import sys
import time

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

from tests.bench.jobs import JOBS, JUDGES, Job

QUESTION = "Question {}: how many are there?"


async def ask(limit: asyncio.Semaphore, base_url: str, text: str, **params: object) -> str:
    async with limit:
        reply = await litellm.acompletion(
            model="openai/scripted",
            messages=[{"role": "user", "content": text}],
            api_base=base_url,
            api_key="none",
            max_retries=0,
            **params,
        )
    return str(reply.choices[0].message.content)


async def one(limit: asyncio.Semaphore, base_url: str, number: int) -> None:
    answer = await ask(limit, base_url, QUESTION.format(number))
    prompt = f'{PROMPT}\n{QUESTION.format(number)}\n{answer}\n"score"'
    await asyncio.gather(
        *(ask(limit, base_url, prompt, temperature=0, seed=judge) for judge in range(JUDGES))
    )


PROMPT = "Judge the answer by its guidelines, and say why. " * 20


async def main(job: Job, base_url: str) -> float:
    limit = asyncio.Semaphore(job.in_flight)
    started = time.perf_counter()
    await asyncio.gather(*(one(limit, base_url, number) for number in range(job.tests)))
    return time.perf_counter() - started


if __name__ == "__main__":
    job = next(job for job in JOBS if job.name == sys.argv[1])
    window_s = asyncio.run(main(job, sys.argv[2]))
    sys.stdout.write(json.dumps({"window_s": window_s}))
