import pytest

from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.composed_programs import compose_programs
from runs.laboratory.trials.benchmarks.composition import compose
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.generation.code_validity import check_code
from runs.laboratory.trials.generation.generation_runs import start
from runs.laboratory.trials.models import Artifact, Claim, Source
from tests.runs.laboratory.trials.generation.test_generation import order_of, small
from tests.runs.laboratory.trials.writers import write

PYTHON = ["print('one')", "import math\n\nif True:\n    print(math.pi)"]
JAVA = [
    "package a;\nimport java.util.List;\n\npublic class First {\n  public static void main("
    "String[] args) {\n    System.out.println(1);\n  }\n}",
    "class Second {\n  public static void main(String[] args) {}\n}",
]
CPP = ["#include <vector>\nint main() { return 0; }", "#include <map>\nint main() { return 1; }"]


@pytest.mark.parametrize(
    ("key", "language", "programs"),
    [("python", "Python", PYTHON), ("java", "Java", JAVA), ("cpp", "C++", CPP)],
)
def test_a_composed_program_parses_and_holds_each_part(key, language, programs):
    text = compose(key, programs)

    assert check_code(text, language).outcome == "valid"
    assert all(program.splitlines()[-1].strip() in text for program in programs)


def test_a_composed_java_program_calls_each_main_by_its_class():
    text = compose("java", JAVA)
    assert "Program1.First.main(args)" in text
    assert "Program2.Second.main(args)" in text
    assert text.startswith("import java.util.List;\n")
    assert "package" not in text


def test_a_composed_cobol_program_names_its_parts_by_number():
    text = compose("cobol", ["       PROGRAM-ID. SORT-IT.", "       program-id. Other."])
    assert "WHEN 2 CALL 'PROGRAM-2'" in text
    assert "PROGRAM-ID. PROGRAM-1." in text
    assert "SORT-IT" not in text


@pytest.mark.django_db(transaction=True)
def test_composed_programs_of_k_ideas_give_k_part_claims_a_pair(provider, model_at, work):
    provider.script = lambda request: write(request, corrupted=[("Strings amber", "Python")])
    benchmark, model = small(), model_at()
    order = order_of(benchmark, model, ideas_per_topic=4)
    start(order, by=None)
    work()

    # Seven of eight ideas have both programs: two groups of three, and one is left over.
    made = compose_programs(benchmark, 3)
    assert len(made) == 2 * 2
    assert all(one.members.count() == 3 for one in made)
    run = start(order, by=None)
    work()
    run.refresh_from_db()
    assert (run.state, run.expected) == ("done", 4)
    summaries = Artifact.objects.filter(parent__source=Source.COMPOSED)
    assert {one.kind for one in summaries} == {"summary"}

    build_claims(benchmark)
    claims = Claim.objects.filter(benchmark=benchmark)
    assert claims.filter(kind="part").count() == 2 * 3
    assert claims.filter(kind="context", truth=True).count() == 4 * 3
    with pytest.raises(Refused, match="has composed programs already"):
        compose_programs(benchmark, 2)


@pytest.mark.django_db(transaction=True)
def test_too_few_ideas_are_refused(provider, model_at, work):
    provider.script = write
    benchmark = small()
    start(order_of(benchmark, model_at(), ideas_per_topic=1), by=None)
    work()
    with pytest.raises(Refused, match="2 ideas have a valid program in cobol, python: 3"):
        compose_programs(benchmark, 3)
