"""The job as Inspect does it, run in Inspect's own environment: one answer, judged in three ways.

Imports nothing of ours. Arguments: address, tests, calls in flight, folder of the log.
"""

import sys

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate

PROMPT = "Judge the answer by its guidelines, and say why. " * 20
TEMPLATE = PROMPT + '\n{question}\n{answer}\n"score"'
SCORE = r'"score": (\d)'
JUDGES = 3


def model(base_url: str, in_flight: int, **params: float) -> Model:
    config = GenerateConfig(max_connections=in_flight, max_retries=0, **params)
    return get_model(
        "openai/scripted", base_url=base_url, api_key="none", config=config, responses_api=False
    )


def main(base_url: str, tests: int, in_flight: int, folder: str) -> None:
    judges = [model(base_url, in_flight, temperature=0, seed=n) for n in range(JUDGES)]
    task = Task(
        dataset=MemoryDataset(
            [Sample(input=f"Question {n}: how many are there?", target="") for n in range(tests)]
        ),
        solver=generate(),
        scorer=[
            model_graded_qa(template=TEMPLATE, grade_pattern=SCORE, model=judge) for judge in judges
        ],
    )
    (log,) = evaluate(
        task,
        model=model(base_url, in_flight),
        max_samples=in_flight,
        log_dir=folder,
        display="none",
    )
    if log.status != "success":
        raise SystemExit(f"Inspect ended with {log.status}: {log.error}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
