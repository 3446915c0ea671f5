"""The trend: which lines, which rates, and what changed on the way."""

from datetime import timedelta

import pytest
from django.http import QueryDict

from evalhub.models import BatchState
from evalhub.statistics.rates.wilson import wilson_interval
from reports.documents.document import Link
from reports.documents.model_lines import line_style
from reports.documents.reading import Reading
from reports.trend.page import TREND
from runs.comparison.comparability import rejudge_url
from runs.models import JudgeRun, Run, Suite
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
    shared_jury,
)
from tests.reports.judged_runs import answer, finish, judge, judged
from tests.reports.workspaces import make_workspace

pytestmark = pytest.mark.django_db


def trend(query="", *, computes=True):
    form = TREND.form(QueryDict(query))
    reading = Reading(make_user("viewer"), computes=computes)
    return TREND.build(form.filters, reading), reading


def rows(document, key="points"):
    return document.table(key).as_rows()


def cells(document, key, *names):
    return [tuple(row[name] for name in names) for row in rows(document, key)]


def share(rate):
    return rate and (rate.passed, rate.n)


def series(document):
    """The rates of each line, oldest first."""
    found: dict[str, list[tuple[int, int] | None]] = {}
    for row in reversed(rows(document)):
        found.setdefault(row["line"], []).append(share(row["rate"]))
    return found


@pytest.fixture
def suite():
    return Suite.objects.create(name="the suite")


def released(model, suite, *votes, tests, release="", days=0, **fields):
    run = judged(
        *votes,
        tests=tests,
        model=model,
        suite=suite,
        release=release,
        variant_key=fields.pop("variant_key", model.name),
        **fields,
    )
    if days:
        Run.objects.filter(pk=run.pk).update(created_at=run.created_at - timedelta(days=days))
    return run


def two_models(suite):
    tests = [make_test(issue=make_issue(tags=("law",))) for _ in range(2)]
    kelp, aurora = make_model(name="kelp"), make_model(name="aurora")
    released(kelp, suite, [1], [1], tests=tests, release="1.0", days=3)
    released(aurora, suite, [1], [0], tests=tests, release="1.0", days=2)
    released(kelp, suite, [0], [0], tests=tests, release="1.1", days=1)
    released(aurora, suite, [1], [1], tests=tests, release="1.1")
    return kelp, aurora


def test_each_model_is_a_line_of_pass_rates(suite):
    two_models(suite)

    assert series(trend()[0]) == {"kelp": [(2, 2), (0, 2)], "aurora": [(1, 2), (2, 2)]}


def test_a_first_run_says_what_comes_next_and_draws_no_line(suite):
    released(make_model(name="kelp"), suite, [1], tests=[make_test()], release="1.0")
    document = trend()[0]

    assert "First run of 1.0. The next release will be compared with it." in document.sentences
    assert document.table("points").figure is None


def test_unscored_results_are_excluded_and_counted(suite):
    tests = [make_test() for _ in range(20)]
    released(make_model(name="kelp"), suite, *[[1]] * 19, [None], tests=tests)
    (newest,) = rows(trend()[0])

    assert (share(newest["rate"]), newest["rate"].total) == ((19, 19), 20)
    assert newest["excluded"] == "1 unscored"


def test_an_incomplete_run_is_on_no_line_and_listed(suite):
    tests = [make_test() for _ in range(20)]
    kelp = make_model(name="kelp")
    released(kelp, suite, *[[1]] * 20, tests=tests, days=1)
    released(kelp, suite, *[[1]] * 18, [None], [None], tests=tests)
    document, _ = trend()

    assert series(document) == {"kelp": [(20, 20)]}
    assert cells(document, "incomplete", "scored", "total", "lacks") == [(18, 20, "2 unscored")]


def test_a_live_run_is_left_out_and_counted(suite):
    kelp, _ = two_models(suite)
    run = Run.objects.filter(language_model=kelp).latest("pk")
    JudgeRun.objects.filter(run=run).update(state=BatchState.LIVE)
    document, _ = trend()

    assert series(document)["kelp"] == [(2, 2)]
    assert "Not shown: 1 unfinished run." in document.sentences


def test_the_suite_that_ran_last_is_shown_unless_another_is_chosen(suite):
    two_models(suite)
    other = Suite.objects.create(name="newer")
    clover, tests = make_model(name="clover"), [make_test()]
    released(clover, other, [1], tests=tests)
    assert set(series(trend()[0])) == {"kelp", "aurora"}
    released(clover, other, [1], tests=tests)

    assert list(series(trend()[0])) == ["clover"]
    assert set(series(trend(f"suite={suite.pk}")[0])) == {"kelp", "aurora"}
    assert series(trend("suite=none")[0]) == {}


def test_lines_can_be_of_chosen_models(suite):
    kelp, _ = two_models(suite)

    assert list(series(trend(f"models={kelp.pk}")[0])) == ["kelp"]


def test_variants_of_a_model_are_lines_with_names_of_their_own(suite):
    model = make_model(name="kelp")
    tests = [make_test()]
    released(model, suite, [1], tests=tests, params={"temperature": 0}, variant_key="cold")
    released(model, suite, [1], tests=tests, params={"temperature": 1}, variant_key="warm")

    assert set(series(trend()[0])) == {"kelp · temperature 0", "kelp · temperature 1"}


def test_a_family_is_one_line_of_its_models_together(suite):
    kelp, aurora = two_models(suite)
    for model in (kelp, aurora):
        model.family = "Sea"
        model.save()
    document, _ = trend("family=on")

    assert series(document) == {"Sea": [(3, 4), (2, 4)]}
    look = line_style(aurora.pk)
    (line,) = [one for one in document.tables[0].figure["data"] if one.get("name") == "Sea"]
    assert (line["line"]["color"], line["marker"]["symbol"]) == (look.colour, look.marker)
    # Answers of several models to a test are no further tests.
    found = rows(document)[0]["rate"]
    single = wilson_interval(found.passed, found.n)
    assert found.interval.high - found.interval.low > single.high - single.low


def test_a_rate_can_be_of_a_tag_or_an_issue(suite):
    law, maths = make_issue(tags=("law",)), make_issue(tags=("maths",))
    tests = [make_test(issue=law), make_test(issue=maths)]
    released(make_model(name="kelp"), suite, [1], [0], tests=tests)

    assert series(trend("tag=law")[0]) == {"kelp": [(1, 1)]}
    assert series(trend(f"issue={maths.pk}")[0]) == {"kelp": [(0, 1)]}
    assert trend("tag=law")[0].table("tags") is None


def test_tags_are_mapped_by_run_the_hardest_first(suite):
    law, maths = make_issue(tags=("law", "all")), make_issue(tags=("maths", "all"))
    tests = [make_test(issue=law), make_test(issue=maths)]
    run = released(make_model(name="kelp"), suite, [1], [0], tests=tests)
    found = cells(trend()[0], "tags", "tag", f"run_{run.pk}")

    assert [(tag.text, share(cell.value)) for tag, cell in found] == [
        ("maths", (0, 1)),
        ("all", (1, 2)),
        ("law", (1, 1)),
    ]
    assert found[0][1].url == f"/reports/runs/{run.pk}/?tag=maths#results"


def test_each_tag_has_a_small_chart_of_its_own_where_that_is_asked():
    make_workspace(releases=3)
    document, _ = trend("each=on")
    table = document.table("tag_lines")

    assert trend()[0].table("tag_lines") is None
    assert len(table.rows) == 4 * 2 * 3, "tags, models, releases"
    drawn = [note["text"] for note in table.figure["layout"]["annotations"]]
    assert set(drawn) == {"<b>kind 0</b>", "<b>kind 1</b>", "<b>kind 2</b>", "<b>facts</b>"}
    fell = {row[0].text for row in document.table("tag_changes").rows if row[2] < 0}
    assert {f"<b>{tag}</b>" for tag in fell} == set(drawn[: len(fell)])


def test_a_changed_jury_is_listed_and_marked(suite):
    model, tests = make_model(name="kelp"), [make_test()]
    old, new = make_jury(make_model(name="old judge")), make_jury(make_model(name="new judge"))
    for jury in (old, new):
        run = make_run(*tests, model=model, jury=jury, suite=suite, variant_key="kelp")
        answer(run)
        judge(run, [[1]])
        finish(run)
    document, _ = trend("over=time")

    ((kind, words, lines),) = cells(document, "changes", "kind", "words", "lines")
    assert (kind, lines) == ("jury", "kelp")
    assert "new judge" in words
    assert "old judge" in words
    assert len(document.table("points").figure["layout"]["shapes"]) == 1
    assert cells(document, "points", "changes") == [("1",), ("",)]
    assert cells(document, "latest", "measured") == [
        (("not comparable: different juries judged these runs",),)
    ]


def test_a_run_that_was_judged_under_two_versions_keeps_its_point(suite):
    released(make_model(name="kelp"), suite, [1], tests=[make_test()], release="1.0")
    JudgeRun.objects.update(provenance_parts={"verdict": [1, 2]})

    assert series(trend()[0]) == {"kelp": [(1, 1)]}


def two_models_and_a_test_more(suite):
    kelp, aurora = make_model(name="kelp"), make_model(name="aurora")
    first, second = make_test("One?"), make_test("Two?")
    for tests, mark in (([first], "a"), ([first, second], "b")):
        for model in (kelp, aurora):
            released(model, suite, *([1] for _ in tests), tests=tests, suite_fingerprint=mark)
    JudgeRun.objects.update(jury_fingerprint="same")


def test_a_change_of_several_lines_is_listed_once_and_marked_on_each(suite):
    two_models_and_a_test_more(suite)
    document, reading = trend()

    assert cells(document, "changes", "words", "lines") == [("1 test was added.", "aurora, kelp")]
    assert not reading.pending
    assert cells(document, "latest", "line", "measured") == [
        ("aurora", "on the shared tests"),
        ("kelp", "on the shared tests"),
    ]
    assert sorted(cells(document, "points", "line", "changes")) == [
        ("aurora", ""),
        ("aurora", "1"),
        ("kelp", ""),
        ("kelp", "1"),
    ]


def test_a_test_set_that_grew_is_drawn_on_the_shared_tests(suite):
    kelp, tests = make_model(name="kelp"), [make_test(f"Question {n}?") for n in range(6)]
    released(kelp, suite, [1], [1], tests=tests[:2], suite_fingerprint="a")
    votes = [1, 0, 1, 0, 0, 0]
    released(kelp, suite, *([one] for one in votes), tests=tests, suite_fingerprint="b")
    JudgeRun.objects.update(jury_fingerprint="same")
    document, _ = trend()

    assert series(document) == {"kelp": [(2, 2), (1, 2)]}
    assert "Drawn on the 2 tests that all runs shown have." in document.sentences
    assert "4 new tests: 1 of 4 passed with kelp." in document.sentences
    assert cells(document, "latest", "tests") == [(2,)]


def test_what_exactly_changed_is_found_out_at_a_second_request(suite):
    two_models_and_a_test_more(suite)
    document, reading = trend(computes=False)

    assert cells(document, "changes", "words") == [("The tests changed.",)]
    assert reading.pending


def test_a_change_that_may_be_chance_has_no_direction(suite):
    two_models(suite)
    document, _ = trend()

    said = [one for one in document.sentences if "since its previous run" in one]
    assert all("since its previous run: cannot tell: lost " in one for one in said)
    assert len(said) == 2
    assert cells(document, "latest", "line", "change") == [("aurora", 0.5), ("kelp", -1.0)]


def test_a_fall_is_named_with_its_counts(suite):
    tests = [make_test(f"{n}?") for n in range(9)]
    for line, after in (("kelp", [0]), ("aurora", [1])):
        model = make_model(name=line)
        released(model, suite, *[[1]] * 9, tests=tests, release="1.0")
        released(model, suite, *[after] * 9, tests=tests, release="1.1")
    document, _ = trend()

    said = [one for one in document.sentences if "since its previous run" in one]
    assert said == [
        "kelp since its previous run: judges rate it worse: lost 9, won 0 of the same 9 tests.",
        "aurora since its previous run: no outcome changed in 9 tests. A loss of more than 29.9 "
        "points is excluded.",
    ]
    found = cells(document, "latest", "line", "change", "tests", "conclusion", "p")
    assert ("kelp", -1.0, 9, "judges rate it worse", pytest.approx(1 / 2**9)) in found


def test_a_change_of_a_tag_is_tested_on_its_tests(suite):
    tagged = [make_test(f"{n}?", issue=make_issue(tags=("law",))) for n in range(6)]
    others = [make_test(f"other {n}?") for n in range(6)]
    model = make_model(name="kelp")
    released(model, suite, *[[1]] * 12, tests=[*tagged, *others], release="1.0")
    released(model, suite, *[[0]] * 6, *[[1]] * 6, tests=[*tagged, *others], release="1.1")

    (row,) = rows(trend("tag=law")[0], "latest")
    assert (row["change"], row["tests"], row["p"]) == (-1.0, 6, pytest.approx(1 / 2**6))


def test_points_beyond_the_limit_are_counted():
    make_workspace(releases=4)
    document, _ = trend("points=2")

    assert {len(rates) for rates in series(document).values()} == {2}
    assert "Not shown: 4 earlier runs; increase “Runs shown”." in document.sentences


def test_a_slide_that_no_single_step_shows_is_said(suite):
    issue, model = make_issue(), make_model(name="kelp")
    tests = [make_test(f"{n}?", issue=issue) for n in range(12)]
    for n in range(6):
        votes = [[0]] * 2 * n + [[1]] * (12 - 2 * n)
        released(model, suite, *votes, tests=tests, release=f"1.{n}")
    document, _ = trend()

    (row,) = rows(document, "slow")
    assert (row["slope"], row["releases"], row["tests"]) == ("fell", 6, 12)
    assert share(row["best"]) == (12, 12)
    assert any("fell over 6 releases, from 100% in 1.0" in one for one in document.sentences)


def test_repeats_of_a_test_are_no_further_tests(suite):
    tests = [make_test(issue=make_issue()) for _ in range(2)]
    released(make_model(name="kelp"), suite, [1], [1], [0], [0], tests=tests, repeats=2)
    rate = rows(trend()[0])[0]["rate"]

    assert share(rate) == (2, 4)
    assert rate.interval == wilson_interval(1, 2)


# One jury in a line -------------------------------------------------------------------------------


def test_a_fall_under_another_jury_is_not_called_one(suite):
    model, tests = make_model(name="kelp"), [make_test(f"{n}?") for n in range(9)]
    old = judged(*[[1]] * 9, tests=tests, model=model, suite=suite, variant_key="kelp")
    stern = make_jury(make_model())
    new = judged(*[[0]] * 9, tests=tests, model=model, suite=suite, variant_key="kelp", jury=stern)
    reading = Reading(make_user("maintainer"))
    document = TREND.build(TREND.form(QueryDict("over=time")).filters, reading)

    assert cells(document, "latest", "change", "measured") == [
        (
            None,
            (
                "not comparable: different juries judged these runs",
                Link("Re-judge", rejudge_url(new.pk, old.pk)),
            ),
        )
    ]
    assert not any("since the previous run" in sentence for sentence in document.sentences)


def test_a_point_of_a_family_adds_up_no_run_of_another_jury(suite):
    tests = [make_test()]
    for name, vote, jury in (("a", 1, shared_jury()), ("b", 0, make_jury(make_model()))):
        model = make_model(name=f"kelp-{name}", family="kelp")
        judged([vote], tests=tests, model=model, suite=suite, variant_key=name, jury=jury)
    document, _ = trend("over=time&family=on")

    assert [share(rate) for (rate,) in cells(document, "points", "rate")] == [(0, 1)]
    assert "Not shown: 1 run judged otherwise than the newest of the same point." in (
        document.sentences
    )
