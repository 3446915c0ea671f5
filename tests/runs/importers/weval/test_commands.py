"""`import_weval` and `export_weval`, on folders and files."""

import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from issues.models import Criterion, Issue, Test
from runs.importers.weval.blueprint.files import find, id_of, uploaded
from runs.importers.weval.blueprint.format import read_blueprint
from runs.importers.weval.blueprint.records import Blueprint, Source
from runs.importers.weval.export import export, file_name
from runs.models import Jury, Suite
from tests.factories import make_jury, make_model, make_test

pytestmark = pytest.mark.django_db

HERE = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the blueprints and collections that a test may spoil."""
    for name in ("blueprints", "models"):
        shutil.copytree(HERE / name, tmp_path / name)
    return tmp_path


def run(name: str, *args: object, **switches: object) -> tuple[str, str]:
    """Return the output and the errors of the command."""
    out, err = StringIO(), StringIO()
    try:
        call_command(name, *map(str, args), stdout=out, stderr=err, **switches)
    except CommandError as error:
        err.write(f"{error}\n")
    return out.getvalue(), err.getvalue()


# Finding files -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "root", "name"),
    [
        ("/x/blueprints/a.yml", None, "a"),
        ("/x/blueprints/law/a.weval.yml", None, "law__a"),
        ("/x/blueprints/law/a.json", "/x/blueprints/law", "law__a"),
        ("/x/law/a.yaml", "/x", "law__a"),
        ("/x/law/a.civic.yml", None, "a"),
        ("a.civic.yaml", None, "a"),
        ("A.Weval.YAML", None, "A"),
        ("/x/blueprints/law/a.civic.yaml", None, "law__a"),
    ],
)
def test_a_blueprint_is_known_by_its_path_below_the_folder_of_blueprints(file, root, name):
    assert id_of(Path(file), root and Path(root)) == name


def test_collections_are_found_beside_the_folder(folder):
    (_, collections), *_ = find([folder / "blueprints" / "whole.yml"]).sources

    assert collections["SMALL"][1] == "openrouter:maker/small-two"


def test_a_file_that_cannot_be_read_is_named(folder):
    (folder / "blueprints" / "bad.yml").write_bytes(b"title: \xff")
    (folder / "models" / "BAD.json").write_text("{}")
    places = [(Path(p.file).name, p.message) for p in find([folder, folder / "none.yml"]).problems]

    assert [name for name, _ in places] == ["bad.yml", "BAD.json", "none.yml"]


def test_files_that_are_sent_bring_their_collections_along():
    found = uploaded([("a.yml", "- prompt: Hi\n"), ("SMALL.json", '["openai:x"]')])

    ((source, collections),) = found.sources
    assert (source.id, collections) == ("a", {"SMALL": ["openai:x"]})


def test_two_files_that_are_sent_under_one_name_are_refused():
    found = uploaded([("a.yml", "- prompt: Hi\n"), ("a.yaml", "- prompt: Hi\n")])

    assert [str(problem) for problem in found.problems] == [
        'a.yaml: "a" is already the id of another file.'
    ]


# Importing ---------------------------------------------------------------------------------------


def test_a_folder_is_checked_imported_and_found_unchanged_with_notes_and_a_count(folder):
    out, _ = run("import_weval", folder, check=True)
    assert out.endswith("2 of 2 blueprints, 4 tests new or changed. Nothing was saved.\n")
    assert not Test.objects.exists()

    out, err = run("import_weval", folder, approve=True)
    assert err == ""
    assert "1/2" in out
    assert "“Lending a bicycle”: tests 2 new" in out
    assert "$factcheck cannot run here and is not scored." in out
    assert out.endswith("Imported: 2 of 2 blueprints, 4 tests new or changed.\n")
    assert Test.objects.runnable().count() == 4

    out, _ = run("import_weval", folder)
    assert out.endswith("Nothing changed: 2 blueprints up to date.\n")


def test_a_file_with_problems_is_left_out_whole_and_others_are_imported(folder):
    spoilt = folder / "blueprints" / "spoilt.yml"
    spoilt.write_text("- {id: a, prompt: Hi, should: [$nonsense]}\n- {id: b, prompt: 5}\n")
    out, err = run("import_weval", folder)

    assert f"{spoilt}:1: a: there is no function" in err
    assert f"{spoilt}:2: b: prompt: expected text, not 5." in err
    assert "2 problems in 1 file: nothing of these files was imported." in err
    assert "Imported: 2 of 3 blueprints" in out
    assert Issue.objects.count() == 2


def test_a_file_with_warnings_is_imported_and_each_is_named(folder):
    odd = folder / "blueprints" / "odd.civic.yaml"
    odd.write_text(
        "- {id: a, prompt: Hi, should: [\"$contains: 'x'\"]}\n"
        "- {id: a, prompt: Ho, citation: A, reference: B, should: [greets]}\n"
    )
    out, err = run("import_weval", odd)

    assert out.endswith("Imported: 1 of 1 blueprint, 2 tests new or changed, 3 warnings.\n")
    assert [line.split(": ")[1] for line in err.splitlines()] == [
        *(f"{odd}:1", f"{odd}:2", f"{odd}:2")
    ]
    assert Suite.objects.get().source_id == "weval:odd"
    assert set(Test.objects.values_list("source_id", flat=True)) == {"weval:odd:a", "weval:odd:a-2"}
    assert "up to date" in run("import_weval", odd)[0]


def test_a_value_that_only_the_ledger_refuses_is_a_problem_too(folder):
    (folder / "blueprints" / "odd.yml").write_text(
        "- {prompt: Hi, ideal: Ho, evalhub: {reference_by: nobody}}\n"
    )
    _, err = run("import_weval", folder / "blueprints" / "odd.yml")

    assert "nobody" in err
    assert not Test.objects.exists()


# Exporting ---------------------------------------------------------------------------------------


def test_suites_are_written_to_files_that_read_back_equal_and_change_nothing(folder, tmp_path):
    run("import_weval", folder)
    written = tmp_path / "out" / "blueprints"
    out, err = run("export_weval", "Lending a bicycle", "Rent", to=written)

    assert err == ""
    assert "law/rent.yml: 2 tests" in out
    for name in ("whole", "law/rent"):
        before, after = (
            read_blueprint(
                Source(name, name.replace("/", "__"), (place / f"{name}.yml").read_text())
            )
            for place in (folder / "blueprints", written)
        )
        assert after.blueprint == before.blueprint
    shutil.copytree(folder / "models", tmp_path / "out" / "models")
    out, _ = run("import_weval", tmp_path / "out")
    assert out.endswith("Nothing changed: 2 blueprints up to date.\n")


def test_what_people_changed_is_exported(folder):
    run("import_weval", folder)
    Criterion.objects.filter(text="Threatens the neighbour.").update(text="Threatens anybody.")
    Suite.objects.filter(name="Rent").update(name="Renting")
    made, _ = run("export_weval", "Lending a bicycle")
    renamed, _ = run("export_weval", "Renting")

    assert "- Threatens anybody." in made
    assert "title: Renting" in renamed


def test_a_suite_that_was_made_here_reads_back_equal():
    model = make_model(litellm_model="openai/small-one")
    jury = make_jury(model)
    suite = Suite.objects.create(
        name="Made here", defaults={"models": [model.pk], "jury": jury.pk, "repeats": 3}
    )
    test = make_test(context="A document.", pass_threshold=0.7)
    rows = [
        {"text": "one way", "alternative": 7},
        {"text": "required", "mandatory": True},
        {"check_name": "equals", "arguments": {"text": "x"}},
        {"text": "same way", "alternative": 7},
    ]
    for order, fields in enumerate(rows):
        Criterion.objects.create(test=test, order=order, **fields)
    suite.reopens_issues = True
    suite.save()
    suite.tests.set([test, make_test("Why?")])
    text, notes = run("export_weval", suite.pk)

    blueprint = read_blueprint(Source("made-here.yml", "made-here", text)).blueprint
    assert blueprint == export(suite).blueprint
    assert blueprint.models == ("openai:small-one",)
    assert "these launch defaults are excluded: repeats." in notes
    assert "“Reopens issues by itself” is excluded." in notes
    assert "Weval does not support" in notes


def test_deprecated_tests_and_several_issues_are_named(folder):
    suite = Suite.objects.create(name="Mixed")
    suite.tests.set([make_test(), make_test(), make_test(state="deprecated")])
    _, notes = run("export_weval", "Mixed")

    assert "1 deprecated tests are excluded." in notes
    assert "its tests belong to 2 issues" in notes


def test_a_suite_that_is_not_there_is_named():
    assert run("export_weval", "Absent")[1] == "There is no suite 'Absent'.\n"


@pytest.mark.parametrize("name", ["__etc__passwd", "..__..__x", "a/../../x", "a\\b"])
def test_a_file_is_never_written_outside_of_the_folder(name, tmp_path):
    path = (tmp_path / file_name(Blueprint(name, "T"))).resolve()

    assert path.is_relative_to(tmp_path.resolve())


def test_a_jury_is_used_again_where_it_has_the_same_judges(folder):
    for name in ("judge-one", "judge-two"):
        make_model(litellm_model=f"openai/{name}")
    run("import_weval", folder)
    text = (folder / "blueprints" / "whole.yml").read_text()
    (folder / "blueprints" / "whole.yml").write_text(text.replace("0.7]", "0.5]"))
    run("import_weval", folder)

    assert Jury.objects.count() == 1
