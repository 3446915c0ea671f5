"""Labelled examples, prompt variants and the repair model are fixed with their template."""

import pytest
from django.core.exceptions import ValidationError

from evalhub.refusals import Refused
from issues.judge_templates.examples import ExampleSource, copy_in, examples_of, option_for
from issues.judge_templates.lifecycle import new_version, publish
from issues.limits import MAX_TEMPLATE_EXAMPLES
from issues.models import TemplateExample, TemplateState
from issues.rubrics.scales import BINARY, FIVE_CLASSES, ONE_TO_SEVEN, as_json
from tests.factories import make_model, make_template, make_test, make_user

pytestmark = pytest.mark.django_db

TEXTS = {
    "input": "Who?",
    "output": "Dante.",
    "reference": "Dante Alighieri",
    "guidelines": "Name him.",
    "criterion": "",
    "justification": "It names him.",
}
ABOUT_A_POINT = "{{ criterion }} {{ output }}"


def draft(**fields):
    return make_template(state=TemplateState.DRAFT, **fields)


def taught(test=None, option="1", value=1.0, **texts):
    return ExampleSource(test or make_test(), TEXTS | texts, option, value)


def add(template, **fields):
    return template.examples.create(**({"output": "Dante.", "option": "1"} | fields))


# Fixed with publication --------------------------------------------------------------------------


def test_nothing_is_added_to_what_is_published():
    template = make_template()
    with pytest.raises(ValidationError, match="create a new version"):
        add(template)
    with pytest.raises(ValidationError, match="create a new version"):
        template.variants.create(language_model=make_model(), text="{{ output }}")


def test_nothing_of_what_is_published_changes_or_goes():
    template = draft()
    example = add(template)
    variant = template.variants.create(language_model=make_model(), text="{{ output }}")
    publish(template, by=None)
    for row in (example, variant):
        with pytest.raises(ValidationError, match="create a new version"):
            row.save()
        with pytest.raises(ValidationError, match="create a new version"):
            row.delete()
    assert (template.examples.count(), template.variants.count()) == (1, 1)


@pytest.mark.parametrize("field", ["examples_shown", "example_choice", "repair_model"])
def test_who_mends_and_what_is_shown_are_fixed_too(field):
    template = make_template()
    value = {"examples_shown": 9, "example_choice": "nearest", "repair_model": make_model()}[field]
    setattr(template, field, value)
    with pytest.raises(ValidationError, match="cannot change"):
        template.save()


def test_a_new_version_begins_with_all_of_the_last():
    model, repair_model = make_model(), make_model()
    template = draft(repair_model=repair_model, example_choice="nearest", examples_shown=2)
    example = add(template, test=make_test(), order=3, justification="So.")
    template.variants.create(language_model=model, text="Other {{ output }}")
    publish(template, by=None)
    version = new_version(template, by=None)
    assert (version.repair_model, version.example_choice, version.examples_shown) == (
        *(repair_model, "nearest"),
        2,
    )
    copied = version.examples.get()
    assert copied.pk != example.pk
    assert (copied.test, copied.order, copied.justification) == (example.test, 3, "So.")
    assert version.variants.get().text == "Other {{ output }}"
    assert template.examples.get() == example
    copied.delete()


def test_a_template_with_an_example_off_its_scale_or_sealed_is_not_published():
    template, test = draft(scale=as_json(FIVE_CLASSES)), make_test()
    example = add(template, test=test, option="1")
    with pytest.raises(Refused, match="Example 1: '1' is not on the template's scale"):
        publish(template, by=None)
    assert template.state == TemplateState.DRAFT
    example.option = FIVE_CLASSES.options[0].label
    example.save()
    test.sealed = True
    test.save()
    with pytest.raises(Refused, match=f"Test {test.pk} is sealed"):
        publish(template, by=None)
    assert template.state == TemplateState.DRAFT


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Judge it.", "never shown"),
        ("{{ output }} {{ cheese }}", "cheese"),
        (ABOUT_A_POINT, "the same thing"),
    ],
)
def test_a_wording_for_one_model_is_checked_like_the_template(text, problem):
    template = draft()
    variant = template.variants.create(language_model=make_model(name="one"), text=text)
    with pytest.raises(ValidationError, match=problem):
        variant.full_clean()
    with pytest.raises(Refused, match=f"Prompt for one: .*{problem}"):
        publish(template, by=None)


# Copying -----------------------------------------------------------------------------------------


def test_verdicts_are_copied_once_as_they_were_in_order():
    template, test = draft(), make_test()
    verdict = taught(test)
    copy_in(template, [verdict, taught(output="Petrarch.", option="0", value=0.0)])
    assert copy_in(template, [verdict, verdict]) == []
    first, second = template.examples.all()
    assert (first.order, second.order) == (1, 2)
    assert (first.test, first.option, second.option) == (test, "1", "0")
    assert {name: getattr(first, name) for name in TEXTS} == TEXTS


def test_an_option_is_found_by_its_value_where_labels_differ():
    template = draft(scale=as_json(FIVE_CLASSES))
    copy_in(template, [taught(option="1", value=1.0), taught(option="shown", value=0.0)])
    best, worst = (max, min)
    values = {option.label: option.value for option in FIVE_CLASSES.options}
    first, second = (values[row.option] for row in template.examples.all())
    assert (first, second) == (best(values.values()), worst(values.values()))


@pytest.mark.parametrize(
    ("scale", "option", "value", "label"),
    [
        (BINARY, "1", 1.0, "1"),
        (BINARY, "met", 1.0, "1"),
        (BINARY, "half", 0.5, None),
        (ONE_TO_SEVEN, "1", 1.0, "7"),
        (ONE_TO_SEVEN, "1", 0.0, "1"),
    ],
)
def test_a_mere_number_is_what_it_is_worth(scale, option, value, label):
    found = option_for(scale, option, value)
    assert (found.label if found else None) == label


def test_what_cannot_be_an_example_is_refused_and_nothing_is_copied():
    template = draft()
    sealed = make_test(sealed=True)
    with pytest.raises(Refused) as refused:
        copy_in(template, [taught(), taught(sealed), taught(option="half", value=0.5)])
    assert "is sealed" in str(refused.value)
    assert "'half', worth 0.5" in str(refused.value)
    assert not template.examples.exists()


@pytest.mark.parametrize(
    ("template", "texts", "problem"),
    [
        ({"state": "draft"}, {"criterion": "It is polite."}, "judges tests as a whole"),
        ({"state": "draft", "text": ABOUT_A_POINT}, {}, "asks about one criterion"),
        ({}, {}, "Choose a draft"),
    ],
)
def test_examples_are_copied_into_drafts_about_the_same(template, texts, problem):
    with pytest.raises(Refused, match=problem):
        copy_in(make_template(**template), [taught(**texts)])


def test_there_are_only_so_many():
    template = draft()
    rows = [
        TemplateExample(template=template, output=str(n), option="1")
        for n in range(MAX_TEMPLATE_EXAMPLES)
    ]
    TemplateExample.objects.bulk_create(rows)
    with pytest.raises(Refused, match="Copy fewer"):
        copy_in(template, [taught()])


# For judges --------------------------------------------------------------------------------------


def test_a_verdict_is_shown_in_the_form_of_a_reply():
    template = draft()
    add(template, justification='He said "so".')
    (row,) = examples_of(template).rows
    assert row.reply == '{"justification": "He said \\"so\\".", "score": 1}'
    assert row.worth == "1"


def test_a_label_alone_is_shown_to_who_replies_so():
    template = draft(reply_form="label", scale=as_json(FIVE_CLASSES))
    label = FIVE_CLASSES.options[1].label
    add(template, option=label)
    assert examples_of(template).rows[0].reply == label


def test_who_may_not_read_a_test_sealed_since_sees_no_example_of_it():
    template, test = draft(), make_test()
    add(template, test=test)
    own = add(template)
    test.sealed = True
    test.save()
    rows = TemplateExample.objects.readable_by(make_user("viewer"))
    assert list(rows) == [own]
    assert TemplateExample.objects.readable_by(make_user("annotator")).count() == 2
