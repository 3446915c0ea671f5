"""Frozen juries and their fingerprints."""

import pytest

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate
from runs.models import Judge
from tests.factories import make_jury, make_model, make_run, make_test

pytestmark = pytest.mark.django_db


@pytest.fixture
def prompt_templates():
    """The built-in templates of the approaches, of which a new version can be published."""
    load_builtin_templates()
    return lambda family: JudgeTemplate.objects.create(
        **{
            **JudgeTemplate.objects.values("title", "text", "scale", "state").get(family=family),
            "family": family,
            "version": 2,
        }
    )


def rubric_fingerprint(jury, rubric):
    return make_run(make_test(criteria=rubric), jury=jury).judge_runs.get().jury_fingerprint


@pytest.mark.parametrize(
    ("approaches", "changed", "is_asked"),
    [
        (("prompt_aware",), "rubric-prompt-aware", True),
        (("template",), "rubric-prompt-aware", True),
        (("holistic",), "rubric-prompt-aware", False),
        (("template", "holistic"), "rubric-prompt-aware", False),
    ],
)
def test_a_new_template_changes_the_fingerprints_of_its_judges(
    prompt_templates, approaches, changed, is_asked
):
    jury = make_jury(make_model(), approaches=approaches)
    before = rubric_fingerprint(jury, [{"text": "Is right."}])
    prompt_templates(changed)
    assert (rubric_fingerprint(jury, [{"text": "Is right."}]) != before) is is_asked


def test_no_template_is_in_a_fingerprint_if_checks_test_all(prompt_templates):
    jury = make_jury(make_model(), approaches=("prompt_aware",))
    rubric = [{"check_name": "contains", "arguments": {"text": "4"}}]
    before = rubric_fingerprint(jury, rubric)
    prompt_templates("rubric-prompt-aware")
    assert rubric_fingerprint(jury, rubric) == before


def test_a_backup_makes_a_fingerprint_and_one_of_the_judges_is_none():
    one, other = make_model(), make_model()
    test = make_test()
    alone, twin, helped = make_jury(one), make_jury(one), make_jury(one)
    twin.backup, helped.backup = Judge.objects.given(one), Judge.objects.given(other)
    judge_runs = [make_run(test, jury=jury).judge_runs.get() for jury in (alone, twin, helped)]
    assert [judge_run.jury["backup"] is None for judge_run in judge_runs] == [True, True, False]
    plain, same, different = [judge_run.jury_fingerprint for judge_run in judge_runs]
    assert same == plain != different
