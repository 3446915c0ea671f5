"""Juries put together from models, and found again."""

import pytest

from runs.judging.jury_builder import (
    JuryBuilder,
    backup_problem,
    jury_builder_of,
    jury_of,
    prompt_problem,
)
from runs.launching.number_lists import as_list, temperatures_in
from runs.models import Approach, Judge, Jury
from tests.factories import make_jury, make_model, make_template

pytestmark = pytest.mark.django_db


def test_temperatures_are_read_as_people_write_them():
    assert temperatures_in("0, 0.7 ; 1.0, 1") == [0, 0.7, 1]
    assert as_list(temperatures_in("0.70, 1.0")) == "0.7, 1"


@pytest.mark.parametrize("text", ["warm", "-1", "6", "1e3", "nan", "²"])
def test_what_is_no_temperature_is_named(text):
    with pytest.raises(ValueError, match="is not a temperature from 0 to 5"):
        temperatures_in(text)


def test_too_many_temperatures_are_refused():
    with pytest.raises(ValueError, match="21 temperatures are too many: the limit is 20"):
        temperatures_in(", ".join(f"{n / 10}" for n in range(21)))


def test_how_judges_were_put_together_is_read_back():
    template = make_template()
    jury_builder = JuryBuilder(
        [make_model(), make_model()],
        [Approach.TEMPLATE, Approach.HOLISTIC],
        [0, 0.5],
        {"seed": 7},
        samples=2,
        whole=template,
    )

    assert jury_builder_of(jury_builder.judges()) == jury_builder
    assert Judge.objects.count() == 8


def test_judges_of_unlike_making_are_no_making():
    judges = [Judge.objects.given(make_model(), samples=samples) for samples in (1, 2)]

    assert jury_builder_of(judges) is None
    assert jury_builder_of([]) is None


def test_drafts_make_no_rows():
    assert len(JuryBuilder([make_model()]).drafts()) == 3
    assert not Judge.objects.exists()


def test_a_backup_is_asked_something_else_than_the_judges():
    model, other = make_model(), make_model()
    judges = [Judge.objects.given(model, approach="holistic")]

    assert backup_problem(None, judges) == ""
    assert backup_problem(Judge.objects.given(other), judges) == ""
    assert backup_problem(Judge.objects.given(model, params={"temperature": 1}), judges) == ""
    assert "is one of the judges" in backup_problem(Judge.objects.given(model), judges)


def test_a_template_fits_the_approach_of_its_judge():
    whole, rubric = make_template(), make_template(text="{{ criterion }}: {{ output }}?")

    assert prompt_problem("template", whole) == prompt_problem("holistic", rubric) == ""
    assert "is for criteria" in prompt_problem("template", rubric)
    assert "does not use {{ criterion }}" in prompt_problem("standard", whole)


def test_a_jury_of_the_same_judges_is_found_again():
    model, spare = make_model(name="one"), Judge.objects.given(make_model())
    judges = [Judge.objects.given(model), Judge.objects.given(model, approach="holistic")]

    first, again, other = jury_of(judges), jury_of(judges[::-1]), jury_of(judges, spare)

    assert (first, first.name) == (again, "one")
    assert (other.name, other.backup) == ("one (2)", spare)
    assert jury_of(judges[:1]).name == "one (3)"


def test_an_inactive_jury_is_not_taken_again():
    model = make_model()
    old = make_jury(model, is_active=False)

    assert jury_of(list(old.judges.all())) != old
    assert Jury.objects.count() == 2
