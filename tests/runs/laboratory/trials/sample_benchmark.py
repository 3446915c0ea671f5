"""Benchmarks as rows: descriptions and summaries of a few programs, with their claims."""

import re

from evalhub.models import BatchState, ItemState
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    BenchmarkState,
    ClaimJudgment,
    ClaimKind,
    Idea,
    Topic,
    Trial,
    Validity,
)
from tests.factories import make_model, number
from tests.provider import prompt

KINDS = [
    {"key": "description", "label": "description", "form": "text", "language": ""},
    {"key": "java", "label": "Java", "form": "code", "language": "Java"},
    {"key": "cobol", "label": "COBOL", "form": "code", "language": "COBOL"},
    {"key": "pl1", "label": "PL/1", "form": "code", "language": "PL/1"},
    {"key": "summary", "label": "summary", "form": "text", "language": ""},
]
LANGUAGES = ("java", "cobol", "pl1")


def make_benchmark(
    *, topics=2, ideas=2, clusters=0, cluster_ideas=8, languages=LANGUAGES, corrupted=(), **fields
):
    """Topics with ideas, and clusters of theirs; `corrupted` are (idea's name, language)."""
    defaults = {"name": f"Benchmark {next(number)}", "kinds": KINDS, "state": BenchmarkState.READY}
    benchmark = Benchmark.objects.create(**(defaults | fields))
    sizes = [(ideas, False)] * topics + [(cluster_ideas, True)] * clusters
    for place, (size, is_cluster) in enumerate(sizes):
        topic = Topic.objects.create(
            benchmark=benchmark, title=f"topic {place}", is_cluster=is_cluster, place=place
        )
        for n in range(size):
            idea = Idea.objects.create(topic=topic, name=f"program {place}.{n}", place=n)
            add_artifacts(benchmark, idea, languages, corrupted)
    build_claims(benchmark)
    return benchmark


def add_artifacts(benchmark, idea, languages, corrupted):
    """A description, and along each language its program and summary."""
    about = {"benchmark": benchmark, "idea": idea, "validity": Validity.VALID}
    root = Artifact.objects.create(kind="description", text=f"Write {idea.name}.", **about)
    for language in languages:
        text = f"// {idea.name} in {language}"
        is_corrupted = (idea.name, language) in corrupted
        code = Artifact.objects.create(
            kind=language,
            parent=root,
            text=text,
            **(
                about | {"validity": Validity.CORRUPTED, "validity_reason": "line 1: syntax error"}
                if is_corrupted
                else about
            ),
        )
        if not is_corrupted:
            summary = f"This is {idea.name}, as seen from {language}."
            Artifact.objects.create(kind="summary", parent=code, text=summary, **about)


def programs_in(request):
    """The programs that both texts of a judge's prompt are about, as they are shown."""
    blocks = re.findall(r"\[BEGIN (?:REFERENCE|OUTPUT) \w+\]\n(.*?)\n\[END", prompt(request), re.S)
    return [re.search(r"program \d+\.\d+", block)[0] for block in blocks[-2:]]


def tried(benchmark, name, judge, *, template, **fields):
    """A trial of a scripted model that ended; `judge(claim, order)` gives a score, None: failed."""
    trial = Trial.objects.create(
        benchmark=benchmark,
        language_model=make_model(name=name, is_scripted=True),
        endpoint={},
        template=template,
        threshold=4,
        method=name,
        is_scripted=True,
        state=BatchState.DONE,
        **fields,
    )
    ClaimJudgment.objects.bulk_create(
        ClaimJudgment(trial=trial, claim=claim, order=order)
        for claim in benchmark.claims.all()
        for order in (0, 1)
    )
    judged_by(trial, judge)
    return trial


def judged_by(trial, judge):
    """End a trial with the scores of `judge(claim, order)`."""
    judgments = list(trial.judgments.select_related("claim"))
    for one in judgments:
        one.score = judge(one.claim, one.order)
        one.state = ItemState.ERROR if one.score is None else ItemState.DONE
    ClaimJudgment.objects.bulk_update(judgments, ["score", "state"], batch_size=500)
    Trial.objects.filter(pk=trial.pk).update(state=BatchState.DONE)


def right(claim, order):
    """A judge that is right on every claim."""
    is_true = claim.truth != (claim.kind == ClaimKind.RANK and order == 1)
    return 6 if is_true else 2


def always_7(claim, order):
    return 7


def first_only(claim, order):
    """A judge that reads the order, and nothing else."""
    return 7 if order == 0 or claim.kind == ClaimKind.RANK else 1
