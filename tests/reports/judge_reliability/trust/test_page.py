"""When to trust which judge, from rows to the page."""

import pytest
from django.urls import reverse

from issues.models import Tag, TagKind
from reports.documents.document import Link
from reports.documents.reading import Reading
from reports.judge_reliability.page import JUDGE_RELIABILITY
from runs.models import ChosenBy, HumanEvaluation
from runs.scoring.score import score_results
from tests.factories import make_issue, make_jury, make_model, make_template, make_test, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.judged_runs import criteria_of, judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

DRAWN = {"chosen_by": ChosenBy.QUEUE_RANDOM, "blind": True}


RATES = ("sensitivity", "specificity")


def say(run, verdicts, **fields):
    """One person's verdicts on the run's results in order; None: nothing."""
    person = make_user("annotator")
    criteria = criteria_of(run)
    results = list(run.results.order_by("pk"))
    HumanEvaluation.objects.bulk_create(
        HumanEvaluation(
            result=result,
            criterion_id=criteria[result.revision_id],
            annotator=person,
            value=value,
            **(DRAWN | fields),
        )
        for result, value in zip(results, verdicts, strict=True)
        if value is not None
    )
    score_results([result.pk for result in results])


def domain(name, parent=None):
    return Tag.objects.create(name=name, kind=TagKind.DOMAIN, parent=parent)


def questions(tags, n, template):
    """As many tests, each of an issue of its own."""
    return [
        make_test(f"{tags} {k}?", issue=make_issue(tags=tags), template=template) for k in range(n)
    ]


def page(tab="trust", **state):
    state = {"tab": tab} | {name: str(value) for name, value in state.items()}
    asked = JUDGE_RELIABILITY.form(as_query(state)).filters
    return JUDGE_RELIABILITY.build(asked, Reading(make_user("annotator")))


def cells(document, key):
    return document.table(key).as_rows()


def test_answers_that_people_chose_are_marked_and_decide_nothing():
    run = judged(*[[1]] * 30)
    say(run, [1.0] * 30, chosen_by=ChosenBy.DIRECT, blind=False)

    document = page()

    (everything,) = cells(document, "sheet")
    assert (everything["decider"], everything["drawn"]) == ("not known yet", 0)
    assert {row["sample"] for row in cells(document, "judges")} == {"selected by annotators"}
    assert "no judge can be measured" in " ".join(document.warnings)


def test_too_few_say_how_many_more():
    run = judged(*[[k % 2] for k in range(16)])
    say(run, [float(k % 2) for k in range(16)])
    document = page()

    (everything,) = cells(document, "sheet")

    assert everything["decider"] == "not known yet"
    assert (everything["more_passes"], everything["more_fails"]) == (2, 2)
    assert "2 more human fails are needed." in " ".join(document.sentences)


def test_the_page_says_how_many_answers_count():
    run = judged(*[[k % 2] for k in range(16)])
    say(run, [float(k % 2) if k < 6 else None for k in range(16)])
    say(
        run,
        [float(k % 2) if k >= 6 else None for k in range(16)],
        chosen_by=ChosenBy.QUEUE_SELECTED,
    )
    document = page()

    assert "6 of 16 answers with a human verdict count" in " ".join(document.warnings)
    assert next(fact.value for fact in document.facts if fact.name == "drawn") == 6


def test_every_tab_says_the_same_of_a_judge_that_always_passes():
    truth = [float(k % 20 > 0) for k in range(200)]
    run = judged(*[[1]] * 200)
    say(run, truth)
    name = run.judge_runs.get().jury["judges"][0]["name"]
    tabs = [page("judges"), page("humans")]

    (line,) = (row for row in cells(page(), "judges") if row["judge"].text == name)
    (mine,) = cells(tabs[0], "judges")
    (agreement,) = (row for row in cells(tabs[1], "random") if row["judge"].text == name)
    assert agreement["accuracy"].share == 0.95
    assert line["trust"] == mine["trust"] == "unreliable"
    below = "Its specificity is significantly below 80%."
    assert line["needed"] == mine["needed"] == below
    assert below in agreement["note"]


def test_a_judge_that_judges_itself_is_not_named_as_a_decider():
    model = make_model()
    run = judged(*[[k % 2] for k in range(100)], model=model, jury=make_jury(model))
    say(run, [float(k % 2) for k in range(100)])
    rows = {row["judge"].text: row for row in cells(page(), "judges")}

    assert rows[model.name]["trust"] == "unreliable"
    assert "judged its own answers" in rows[model.name]["needed"]


def test_two_judges_that_agree_are_named():
    truth = [k % 2 for k in range(120)]
    wrong = [(k // 2 % 2, 1 - k // 2 % 2) if k >= 80 else (0, 0) for k in range(120)]
    votes = [[abs(t - a), abs(t - b)] for t, (a, b) in zip(truth, wrong, strict=True)]
    run = judged(*votes)
    say(run, [float(t) for t in truth])

    document = page()

    (everything,) = cells(document, "sheet")
    assert everything["decider"] == "two judges that agree"
    assert everything["left_to_annotators"] == pytest.approx(1 / 3)
    (pair,) = cells(document, "pairs")
    assert (pair["agreed"].passed, pair["agreed"].n) == (80, 120)
    assert pair["verdict"] == "can decide together"


# Two judges in two domains; last, as its rows stay ----------------------------------------------


@shared_data
def known():
    """In law the first judge is always right and the second half of the time; in tax nobody is."""
    law = domain("law")
    domain("tax", parent=law)
    template = make_template()
    tests = [*questions(("law",), 90, template), *questions(("tax",), 24, template)]
    truth = [k % 2 for k in range(114)]
    second = [t if k % 4 < 2 else 1 - t for k, t in enumerate(truth)]
    votes = [
        [t, s] if k < 90 else [1 - t, s] for k, (t, s) in enumerate(zip(truth, second, strict=True))
    ]
    run = judged(*votes, tests=tests)
    say(run, [float(t) for t in truth])
    return run


def test_each_domain_has_a_decider_with_a_reason(known):
    rows = {row["group"]: row for row in cells(page(), "sheet")}

    assert list(rows) == ["All answers", "law", "tax"]
    assert rows["tax"]["decider"] == "a human"
    assert rows["tax"]["left_to_annotators"] == 1
    assert rows["tax"]["drawn"] == 24
    # Tax lies in law, so that law has all 114 answers, of which the first judge errs on 24.
    assert rows["law"]["drawn"] == 114
    assert rows["law"]["decider"] == "a human"


def test_by_tag_what_lies_in_a_domain_is_apart(known):
    rows = {row["group"]: row for row in cells(page(by="tag"), "sheet")}
    first = known.judge_runs.get().jury["judges"][0]["name"]

    assert rows["law"]["decider"] == "one judge"
    assert rows["law"]["parties"] == first
    assert rows["law"]["why"].startswith(
        f"{first}: Sensitivity 100% (45 of 45 human passes of 45 issues, "
    )
    assert "Wilson by issue, Holm over" in rows["law"]["why"]
    assert rows["law"]["left_to_annotators"] == 0


def test_the_page_shows_the_rule(known):
    note = page().table("sheet").note
    for words in ("80%", "50%", "10 human fails", "drawn at random and judged blind", "Holm"):
        assert words in note


def test_each_judge_and_jury_has_a_line_with_its_figures(known):
    first, second = (judge["name"] for judge in known.judge_runs.get().jury["judges"])
    lines = {row["judge"].text: row for row in cells(page(by="tag"), "judges")[3:6]}

    assert set(lines) == {first, second, f"{known.judge_runs.get().jury_name} (together)"}
    assert [(lines[first][name].passed, lines[first][name].n) for name in RATES] == [(45, 45)] * 2
    assert lines[first]["kappa"].value == 1
    assert (lines[first]["trust"], lines[first]["needed"]) == ("trusted", "")
    assert lines[second]["specificity"].passed < 30
    assert lines[second]["trust"] == "unreliable"
    assert isinstance(lines[first]["judge"], Link)


def test_the_page_asks_again_for_what_takes_long(known, client):
    client.force_login(make_user("viewer"))
    url = reverse("reports:judge_reliability")
    form = JUDGE_RELIABILITY.form(as_query({"tab": "trust"}))
    reading = Reading(make_user("viewer"), computes=False)
    assert JUDGE_RELIABILITY.build(form.filters, reading).tables[0].rows == []
    assert reading.pending

    page = client.get(url, {"tab": "trust", "compute": "1"}).content.decode()

    assert "one judge</td>" not in page
    assert "a human" in page
