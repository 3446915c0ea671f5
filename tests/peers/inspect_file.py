"""A log of Inspect, run in its own environment. Arguments: address, folder of the log."""

import sys

from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate, system_message

SUMS = [(1, 2, "3"), (3, 4, "7"), (6, 1, "7")]

base_url, folder = sys.argv[1:]
samples = [
    Sample(id=f"sum-{a}", input=f"What is {a} plus {b}?", target=c, metadata={"first": a})
    for a, b, c in SUMS
]
evaluate(
    Task(
        name="sums",
        dataset=MemoryDataset(samples),
        solver=[system_message("Answer with a number."), generate()],
        scorer=[includes(), match(location="any", numeric=True)],
    ),
    model=get_model(
        "openai/small",
        base_url=base_url,
        api_key="none",
        responses_api=False,
        config=GenerateConfig(max_retries=0, temperature=0),
    ),
    epochs=2,
    log_dir=folder,
    display="none",
)
