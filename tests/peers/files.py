"""Makes the files of peers that the importers are tested on, with the peers themselves.

`python -m tests.peers.files` makes all of them again, or those of the peers that are named. All
questions are ours; the model is the scripted one.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.bench.peers import QUIET
from tests.peers import installed, scripted
from tests.provider import Provider

HERE = Path(__file__).parent
FILES = HERE.parent / "runs" / "importers" / "formats" / "real"
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "OPENAI_API_KEY": "none"}

PROMPTFOO = """\
description: Sums in words
prompts:
  - label: plain
    raw: "What is {{first}} plus {{second}}?"
providers:
  - id: openai:chat:small
    config: &endpoint {apiBaseUrl: BASE_URL, apiKey: none, temperature: 0}
  - id: openai:chat:large
    label: large, warm
    config: {apiBaseUrl: BASE_URL, apiKey: none, temperature: 1}
defaultTest:
  options:
    provider: {id: openai:chat:judge, config: *endpoint}
    rubricPrompt: "Answer: {{output}} Rubric: {{rubric}}"
  assert:
    - {type: latency, threshold: 60000}
tests:
  - description: Small numbers
    vars: {first: 1, second: 2}
    assert:
      - {type: icontains, value: "3"}
      - {type: not-contains, value: sorry, weight: 2}
      - {type: llm-rubric, value: Is polite}
  - description: The sum that it gets wrong
    vars: {first: 3, second: 4}
    assert:
      - {type: contains-any, value: ["7", seven]}
      - {type: javascript, value: "output.length < 40"}
  - vars: {first: 3, second: 1}
    threshold: 0.5
    assert:
      - {type: regex, value: "It is [0-9]+"}
      - {type: equals, value: "It is 4."}
  - description: The question that breaks the provider
    vars: {first: 5, second: 1}
    assert:
      - {type: contains, value: "6"}
  - vars: {first: ["6", "7"], second: 1}
  - vars: {first: 8, second: [1, 2]}
"""

SUMS = [(1, 2, 3), (3, 4, 7), (6, 1, 7)]
BIRDS = [("can fly", "a trout", "a heron", 1), ("lays eggs", "a hen", "a cow", 0)]
LM_EVAL: dict[str, dict[str, Any]] = {
    "own_sums": {
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 20},
        "filter_list": [
            {"name": "whole", "filter": [{"function": "take_first"}]},
            {
                "name": "number",
                "filter": [
                    {"function": "regex", "regex_pattern": "is ([0-9]+)"},
                    {"function": "take_first"},
                ],
            },
        ],
        "metric_list": [{"metric": "exact_match"}],
    },
    "own_birds": {
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}} It is",
        "doc_to_choice": "{{choices}}",
        "doc_to_target": "label",
        "metric_list": [{"metric": "acc"}],
    },
}
DATA: dict[str, list[dict[str, Any]]] = {
    "own_sums": [
        {"question": f"What is {a} plus {b}?", "answer": f"It is {c}."} for a, b, c in SUMS
    ],
    "own_birds": [
        {"question": f"Which of these {what}?", "choices": [a, b], "label": label}
        for what, a, b, label in BIRDS
    ],
}


def promptfoo(folder: Path, base_url: str) -> None:
    configuration = FILES / "promptfooconfig.yaml"
    configuration.write_text(PROMPTFOO.replace("BASE_URL", base_url))
    results = evaluated(configuration, folder)
    results["config"].pop("outputPath")  # a folder of this machine
    (FILES / "promptfoo_results.json").write_text(json.dumps(results))


def evaluated(configuration: Path, folder: Path) -> dict[str, Any]:
    """Return the results of a configuration that promptfoo evaluates."""
    output = folder / "results.json"
    program = str(installed.script("promptfoo", "dist/src/entrypoint.js"))
    options = ("--no-cache", "--no-progress-bar", "--no-table", "-j", "1", "-o", str(output))
    environment = {**QUIET, "PROMPTFOO_CONFIG_DIR": str(folder)}
    succeeds_with = (0, 100)  # 100: some tests failed
    run(
        "node",
        program,
        "eval",
        "-c",
        str(configuration),
        *options,
        to=environment,
        ok=succeeds_with,
    )
    found: dict[str, Any] = json.loads(output.read_text())
    return found


def lm_eval(folder: Path, base_url: str) -> None:
    for task, rows in DATA.items():
        (folder / f"{task}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        files = {"data_files": {"test": str(folder / f"{task}.jsonl")}}
        source = {"dataset_path": "json", "dataset_kwargs": files, "test_split": "test"}
        about = {"task": task, **source, **LM_EVAL[task]}
        (folder / f"{task}.yaml").write_text(json.dumps(about))  # JSON is YAML
    address = f"model=scripted,base_url={base_url}/chat/completions,num_concurrent=1"
    chat = ("--model", "local-chat-completions", "--model_args", address, "--apply_chat_template")
    for task, model in {"own_sums": chat, "own_birds": ("--model", "dummy")}.items():
        options = ("--include_path", str(folder), "--log_samples", "--output_path", str(folder))
        program = str(installed.python("lm_eval").with_name("lm_eval"))
        environment = {**OFFLINE, "HF_HOME": str(folder)}
        run(program, "run", *model, "--tasks", task, *options, to=environment)
        (made,) = folder.glob(f"*/samples_{task}_*.jsonl")
        shutil.copy(made, FILES / f"samples_{task}.jsonl")


def inspect(folder: Path, base_url: str) -> None:
    run(str(installed.python("inspect")), str(HERE / "inspect_file.py"), base_url, str(folder))
    (made,) = folder.glob("*.eval")
    shutil.copy(made, FILES / "inspect.eval")


def traces(folder: Path, base_url: str) -> None:
    run(str(installed.python("traces")), str(HERE / "traces_files.py"), base_url, str(folder))
    for made in folder.glob("*.json*"):
        shutil.copy(made, FILES)


def run(*command: str, to: Mapping[str, str] | None = None, ok: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **(to or {})},
        cwd=tempfile.gettempdir(),  # some note where they are, and the commit there
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in ok:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}")


MAKERS = {made.__name__: made for made in (promptfoo, lm_eval, inspect, traces)}


def main(names: list[str]) -> None:
    FILES.mkdir(exist_ok=True)
    for name in names or MAKERS:
        installed.install(name)
        with Provider(scripted.reply) as model, tempfile.TemporaryDirectory() as folder:
            MAKERS[name](Path(folder), model.base_url)


if __name__ == "__main__":
    main(sys.argv[1:])
