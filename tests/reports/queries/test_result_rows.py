import pytest
from django.http import QueryDict
from django.urls import reverse

from issues.models import Tag, TagKind
from reports.limits import RESULTS_PAGE_SIZE
from reports.queries.result_rows import ResultTable, prompt_of
from runs.models import Result
from runs.result_list.filters import Filters
from tests.factories import make_issue, make_run, make_test, make_user
from tests.reports import judged_runs
from tests.reports.judged_runs import current, fail

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator():
    return make_user("annotator")


def sheet(run, reader):
    return ResultTable(run, current(run), reader)


def shown(run, reader, query=""):
    """Ids of the tests whose results the grid shows, in its order."""
    grid = sheet(run, reader).page(Filters.read(QueryDict(query)))
    return [row.test_id for row in grid.rows]


def judged(*votes, tests=None):
    tests = tests or [make_test() for _ in votes]
    return judged_runs.judged(*votes, tests=tests, done=False), [test.pk for test in tests]


def test_failed_judgments_come_first_then_what_needs_a_look(annotator):
    run, (passed, failed, partly, error) = judged([1, 1], [0, 0], [1, None], [0, 0])
    fail(run, run.results.get(test=error))

    assert shown(run, annotator) == [partly, error, failed, passed]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("outcome=failed", [1]),
        ("outcome=failed&outcome=passed", [1, 0, 2]),
        ("failed_judgments=1", [2]),
        ("sort=score", [1, 0, 2]),
        ("sort=test", [0, 1, 2]),
    ],
)
def test_the_grid_shows_what_the_url_asks_for(annotator, query, wanted):
    run, tests = judged([1, 1], [0, 0], [1, None])
    found = [tests.index(pk) for pk in shown(run, annotator, query)]

    assert sorted(found) == sorted(wanted)
    assert "sort" not in query or found == wanted


def test_issue_and_tag_are_those_of_the_launch(annotator):
    maths, code = make_issue(tags=("maths",)), make_issue(tags=("code", "python"))
    run, (sums, loops) = judged([1], [0], tests=[make_test(issue=maths), make_test(issue=code)])
    maths.tags.clear()

    assert shown(run, annotator, f"issue={maths.pk}") == [sums]
    assert shown(run, annotator, "tag=maths") == [sums]
    assert shown(run, annotator, "tag=python") == [loops]


def test_overridden_and_disputed_results_can_be_picked(annotator):
    run, (first, second) = judged([1], [0])
    Result.objects.filter(test=first).update(is_overridden=True)
    Result.objects.filter(test=second).update(is_disputed=True)

    assert shown(run, annotator, "overridden=1") == [first]
    assert shown(run, annotator, "disputed=1") == [second]


@pytest.mark.parametrize("words", ["Zürich", "zÜRICH", 'a "b"', "100%"])
def test_search_finds_words_of_the_prompt_in_any_case(annotator, words):
    tests = [make_test('Where is Zürich? Say a "b" and 100%'), make_test("What is 2 + 2?")]
    run, (first, _) = judged([1], [0], tests=tests)
    query = QueryDict(mutable=True)
    query["q"] = words

    assert shown(run, annotator, query.urlencode()) == [first]


def test_search_does_not_find_the_names_of_roles(annotator):
    run, _ = judged([1])

    assert shown(run, annotator, "q=user") == []


def test_a_judges_failure_is_no_vote(annotator):
    run, _ = judged([1, None])
    row = sheet(run, annotator).page(Filters()).rows[0]

    assert [cell.value for cell in row.judges] == [1, None]
    assert (row.failed_judgments, row.score) == (1, 1)


def test_each_judge_has_its_place_whether_it_voted_or_not(annotator):
    run, _ = judged([1, None], [0, 1])
    grid = sheet(run, annotator).page(Filters(sort="test"))
    first, second = (judge.judge_id for judge in grid.judge_columns)

    assert [judge.is_backup for judge in grid.judge_columns] == [False, False]
    assert [row.judge_cell_of(first).value for row in grid.rows] == [1, 0]
    assert [row.judge_cell_of(second).value for row in grid.rows] == [None, 1]
    assert grid.rows[0].judge_cell_of(0) is None


def test_an_annotator_reads_sealed_texts(annotator):
    run, _ = judged([1], tests=[make_test("the secret", sealed=True)])
    row = sheet(run, annotator).page(Filters()).rows[0]

    assert (row.prompt, row.answer) == ("the secret", "An answer.")


def test_a_viewer_sees_the_figures_of_a_sealed_test_but_no_text():
    run, _ = judged([1], tests=[make_test("the secret", sealed=True)])
    row = sheet(run, make_user("viewer")).page(Filters()).rows[0]

    assert (row.outcome, row.prompt, row.answer) == ("passed", None, None)


def test_a_viewer_cannot_search_sealed_texts():
    run, _ = judged([1], tests=[make_test("the secret", sealed=True)])

    assert shown(run, make_user("viewer"), "q=secret") == []


def test_a_page_beyond_the_last_is_the_last(annotator):
    tests = [make_test(issue=make_issue())] * 1
    run = make_run(*tests, repeats=RESULTS_PAGE_SIZE + 1)
    grid = sheet(run, annotator).page(Filters(page=9))

    assert (grid.page, grid.pages, grid.first, grid.last) == (
        2,
        2,
        RESULTS_PAGE_SIZE + 1,
        RESULTS_PAGE_SIZE + 1,
    )


def test_all_rows_come_in_the_order_of_the_pages(annotator):
    run, _ = judged([1, 1], [0, 0], [1, None])
    judged_runs = list(sheet(run, annotator).rows(Filters()))

    assert [row.test_id for row in judged_runs] == shown(run, annotator)


def test_a_pages_queries_do_not_grow_with_its_rows(annotator, django_assert_num_queries):
    annotator.has_perm("issues.read_sealed_test")
    small, large = judged([1, 0])[0], judged(*[[1, 0]] * RESULTS_PAGE_SIZE)[0]

    for run, results in ((small, 1), (large, RESULTS_PAGE_SIZE)):
        sheet(run, annotator).page(Filters())  # what is shown for the first time is recorded
        asked = sheet(run, annotator)
        with django_assert_num_queries(9):
            page = asked.page(Filters())
        assert len(page.rows) == results


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        ([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hi"}], "Hi"),
        ([{"role": "user", "content": "A"}, {"role": "assistant", "content": None}], "A"),
        ([{"role": "assistant", "content": None}], ""),
        ([], ""),
    ],
)
def test_the_prompt_is_the_last_thing_that_the_user_says(messages, prompt):
    assert prompt_of(messages) == prompt


def test_a_domain_holds_the_results_of_all_that_lies_in_it(annotator):
    law = Tag.objects.create(name="law", kind=TagKind.DOMAIN)
    Tag.objects.create(name="rent law", kind=TagKind.DOMAIN, parent=law)
    names = (("law",), ("rent law", "urgent"), ("urgent",))
    tests = [make_test(issue=make_issue(tags=tags)) for tags in names]
    run, (broad, narrow, _) = judged([1], [1], [1], tests=tests)

    assert sorted(shown(run, annotator, "domain=law")) == [broad, narrow]
    assert shown(run, annotator, "domain=rent+law") == [narrow]
    assert shown(run, annotator, "domain=urgent") == []


def test_the_results_of_one_test_can_be_picked(annotator):
    run, (first, _) = judged([1], [0])

    assert shown(run, annotator, f"test={first}") == [first]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        (
            "run_csv",
            "result_id,test_id,repeat,issue_id,issue,tags,outcome,score,lowest_score,highest_score,"
            "lowest_passed,highest_passed,agreement,deviation,answered,expected,replaced,judges,"
            "criteria,failed_judgments,is_overridden,is_disputed,weight,"
            "input_tokens,output_tokens,cost_usd,latency_ms,error_kind,ending,finish_reason,"
            "prompt,answer",
        ),
        (
            "run_judgments_csv",
            "result_id,test_id,repeat,criterion,text,polarity,weight,alternative,mandatory,check,judge,"
            "sample,is_backup,state,option,value,failure,taken_from,consensus,criterion_score,"
            "deviation,is_split,justification",
        ),
    ],
)
def test_files_keep_their_columns(client, name, columns):
    """Spreadsheets and programs read them by name."""
    client.force_login(make_user("maintainer"))
    response = client.get(reverse(f"reports:{name}", args=[judged([1])[0].pk]))

    header = b"".join(response.streaming_content).decode("utf-8-sig").splitlines()[0]
    assert header == f"{columns},report_models,report_runs,report_url,report_made_at"
