import json

import pytest

from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.imports import import_benchmark, read_lines
from runs.laboratory.trials.models import Artifact, Claim

pytestmark = pytest.mark.django_db


def lines(*rows):
    return "\n".join(json.dumps(row) for row in rows)


def test_labelled_pairs_become_claims_about_their_own_texts():
    text = lines(
        {"left": "a", "right": "b", "label": True, "topic": "Bank", "idea": "loan"},
        {"left": "a", "right": "c", "score": 3.5, "topic": "Bank", "idea": "loan"},
        {"left": "d", "right": "e", "score": 4, "kind": "python"},
    )
    benchmark = import_benchmark("Real", read_lines(text), by=None)

    claims = Claim.objects.filter(benchmark=benchmark)
    assert list(claims.values_list("left__text", "right__text", "truth", "score")) == [
        ("a", "b", True, None),
        ("a", "c", False, 3.5),
        ("d", "e", True, 4.0),
    ]
    assert [claim.idea.name for claim in claims] == ["loan", "loan", "Line 3"]
    assert claims.usable().count() == 3
    assert Artifact.objects.filter(kind="python", validity="not_checked").count() == 2


def test_each_wrong_line_is_named_and_nothing_is_imported():
    text = lines({"left": "a", "right": "b"}, {"left": "a", "right": "b", "lable": True}, [1])
    with pytest.raises(Refused) as refused:
        read_lines(text + "\nno json")

    assert [problem.split(": ", 1)[0] for problem in refused.value.problems] == [
        "Line 1",
        "Line 2",
        "Line 3",
        "Line 4",
    ]
    assert "label and score are missing" in refused.value.problems[0]
    assert "lable" in refused.value.problems[1]
