import pytest

from runs.laboratory.trials.generation.code_validity import LANGUAGES, Parsed, check_code

VALID = {
    "Python": "def total(numbers):\n    return sum(numbers)\n",
    "Java": "class A { int one() { return 1; } }",
    "C++": "#include <vector>\nint main() { std::vector<int> v{1, 2}; return 0; }",
    "C": "#include <stdio.h>\nint main(void) { return 0; }",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_program_parses(language):
    assert check_code(VALID[language], language).outcome is Parsed.VALID


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_cut_program_is_corrupted_and_its_line_named(language):
    cut = check_code(VALID[language].rstrip()[:-1] + " (", language)

    assert cut.outcome is Parsed.CORRUPTED
    assert "line " in cut.reason


@pytest.mark.parametrize("language", ["COBOL", "PL/1", ""])
def test_a_language_without_a_parser_is_not_checked(language):
    assert check_code("IDENTIFICATION DIVISION.", language).outcome is Parsed.NOT_CHECKED


def test_nothing_is_run(tmp_path):
    target = tmp_path / "written"
    program = f"open({str(target)!r}, 'w').write('x')"

    assert check_code(program, "python").outcome is Parsed.VALID
    assert not target.exists()


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_program_is_corrupted(text):
    assert check_code(text, "Java").outcome is Parsed.CORRUPTED


def test_a_program_that_exhausts_its_parser_gives_no_verdict_or_a_reason():
    deep = "x = " + "-" * 900_000 + "1"

    found = check_code(deep, "Python")

    assert found.outcome is not Parsed.VALID
    assert found.reason
