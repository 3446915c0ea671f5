"""The same job done by other systems, each as its own documents tell, with what it saves by itself.

No more calls are in flight than the job allows. Their windows are those that the provider saw.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.bench.bare_calls import PROMPT
from tests.bench.jobs import JUDGES, Job
from tests.peers import installed

QUIET = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_ASSERTIONS_MAX_CONCURRENCY": "1",  # else three times as many calls are in flight
    "NO_COLOR": "1",
}


class Command(NamedTuple):
    arguments: list[str]
    environment: Mapping[str, str]
    succeeds_with: tuple[int, ...] = (0,)


def promptfoo(job: Job, base_url: str, folder: str) -> Command:
    def model(**params: float) -> dict[str, object]:
        config = {"apiBaseUrl": base_url, "apiKey": "none", **params}
        return {"id": "openai:chat:scripted", "config": config}

    rubric = f'{PROMPT}\n{{{{n}}}}\n{{{{output}}}}\n{{{{rubric}}}}\n"score"'
    judges = [
        {"type": "llm-rubric", "value": "Is right", "provider": model(temperature=0, seed=n)}
        for n in range(JUDGES)
    ]
    configuration = {
        "prompts": ["Question {{n}}: how many are there?"],
        "providers": [model()],
        "defaultTest": {"assert": judges, "options": {"rubricPrompt": rubric}},
        "tests": [{"vars": {"n": str(number)}} for number in range(job.tests)],
    }
    file = Path(folder) / "promptfooconfig.json"
    file.write_text(json.dumps(configuration))
    program = str(installed.script("promptfoo", "dist/src/entrypoint.js"))
    options = ("--no-cache", "--no-progress-bar", "--no-table", "-j", str(job.in_flight))
    return Command(
        ["node", program, "eval", "-c", str(file), *options],
        {**QUIET, "PROMPTFOO_CONFIG_DIR": folder},
        succeeds_with=(0, 100),  # 100: some tests failed
    )


def inspect(job: Job, base_url: str, folder: str) -> Command:
    program = str(Path(__file__).with_name("inspect_job.py"))
    counts = (str(job.tests), str(job.in_flight))
    python = str(installed.python("inspect"))
    return Command([python, program, base_url, *counts, folder], {"NO_COLOR": "1"})


PEERS: dict[str, Callable[[Job, str, str], Command]] = {"promptfoo": promptfoo, "inspect": inspect}


def install() -> None:
    for name in PEERS:
        installed.install(name)
