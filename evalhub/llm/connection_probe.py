"""Testing a language model's connection from a page, and recording the call."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from django.utils import timezone

from evalhub.llm import gateway
from evalhub.llm.connection_check import ConnectionReport, test_connection
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.models import Call, CallRole, LanguageModel
from evalhub.work.caller import fill


def probe(model: LanguageModel) -> ConnectionReport:
    """Ask the model one short question, wait for the outcome and record the call."""
    endpoint, started = model.endpoint(), timezone.now()
    with ThreadPoolExecutor(max_workers=1) as thread:  # asyncio may run already in this one
        report = thread.submit(asyncio.run, _asked(endpoint)).result()
    call = Call(
        language_model=model,
        role=CallRole.PROBE,
        request_digest=report.request_digest,
        started_at=started,
        error_kind=report.error_kind,
        error_message="" if report.succeeded else report.message,
    )
    fill(call, report.completion)
    call.save()
    return report


async def _asked(endpoint: Endpoint) -> ConnectionReport:
    try:
        return await test_connection(endpoint)
    finally:
        await gateway.close()
