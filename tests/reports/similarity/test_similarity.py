"""How alike models answer one test: the figures, their page and the API."""

from array import array

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalhub.llm import embeddings
from evalhub.llm.word_vectors import NoWordVectors
from reports.similarity import query
from reports.similarity.query import similarity_of
from tests.api import client_of
from tests.factories import first_result, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, fail

pytestmark = pytest.mark.django_db

PARIS = "The capital of France is Paris."
ALSO_PARIS = "Paris is the capital city of France."
CAT = "A cat sleeps on the old sofa."


@pytest.fixture
def reader():
    return make_user("superuser")


def answered(test, text, **fields):
    """A run of a variant of its own that answered the test so."""
    model = fields.pop("model", None) or make_model()
    fields.setdefault("variant_key", f"variant of {model.pk}")
    run = make_run(test, model=model, **fields)
    answer(run, text)
    return run


def embedded(model, **vectors):
    """These texts' vectors were kept, of two numbers each."""
    made = {text: array("f", vector) for text, vector in vectors.items()}
    embeddings.store(model.endpoint(), made)


def measured_by(model):
    return {"similarity_endpoint": model.endpoint().to_json()}


def runs_of(found):
    return [variant.run for variant in found.variants]


# What is compared --------------------------------------------------------------------------------


def test_similar_answers_come_first_and_the_odd_one_last(reader):
    test = make_test(reference=PARIS)
    odd = answered(test, CAT)
    alike = {answered(test, PARIS), answered(test, ALSO_PARIS)}
    found = similarity_of(test, reader=reader)
    matrix = found.matrix

    assert set(runs_of(found)[:2]) == alike
    assert runs_of(found)[2] == odd
    assert matrix[0][1] > 0.8 > 0.5 > matrix[0][2]
    references = [variant.to_reference for variant in found.variants]
    assert max(references) == pytest.approx(1)
    assert references[2] < 0.5
    # The matrix is symmetric, with ones on its diagonal.
    assert [matrix[i][i] for i in range(3)] == pytest.approx([1, 1, 1])
    assert all(matrix[i][j] == matrix[j][i] for i in range(3) for j in range(3))


def test_only_the_latest_answer_of_a_variant_counts(reader):
    test, model = make_test(), make_model()
    answered(test, CAT, model=model)
    newer = answered(test, PARIS, model=model)
    other = answered(test, PARIS)
    found = similarity_of(test, reader=reader)

    assert set(runs_of(found)) == {newer, other}
    assert found.matrix[0][1] == pytest.approx(1)


def test_system_prompts_make_variants_of_one_model_and_of_repeats_the_first_counts(reader):
    test, model = make_test(), make_model()
    runs = [answered(test, PARIS, model=model, variant_key=key, repeats=2) for key in "ab"]
    found = {variant.result_id for variant in similarity_of(test, reader=reader).variants}

    assert found == {first_result(run).pk for run in runs}


def test_answers_to_another_question_are_left_out(reader):
    test = make_test("What is the capital of France?")
    old = answered(test, PARIS)
    test.messages = [{"role": "user", "content": "And of Italy?"}]
    test.save()
    new = answered(test, "Rome.")
    found = similarity_of(test, reader=reader)

    assert runs_of(found) == [new]
    assert [prompt_version.number for prompt_version in found.prompt_versions] == [2, 1]
    earlier = similarity_of(test, reader=reader, result_id=first_result(old).pk)
    assert runs_of(earlier) == [old]


def test_a_changed_rubric_leaves_the_question_the_same_and_no_answer_is_left_out(reader):
    test = make_test()
    answered(test, PARIS)
    test.guidelines = "Be strict."
    test.save()
    answered(test, PARIS)
    run = make_run(test, variant_key="other")
    fail(run, first_result(run))

    assert len(similarity_of(test, reader=reader).variants) == 2


def test_only_so_many_variants_are_compared_and_all_are_counted(reader, monkeypatch):
    monkeypatch.setattr(query, "MAX_SIMILAR_VARIANTS", 2)
    test = make_test()
    answered(test, PARIS)
    latest = {answered(test, PARIS), answered(test, PARIS)}
    found = similarity_of(test, reader=reader)

    assert set(runs_of(found)) == latest
    assert found.prompt_version.variants == 3


# What is measured --------------------------------------------------------------------------------


def test_blank_answer_is_not_measured(reader):
    test = make_test()
    for text in (PARIS, PARIS, "  "):
        answered(test, text)
    found = similarity_of(test, reader=reader)

    assert found.matrix[2] == (None, None, None)
    assert (found.measured, found.pairs) == (1, 3)
    assert [variant.compared for variant in found.variants] == [1, 1, 0]
    assert found.variants[2].mean is None


def test_mean_and_deviation_are_over_the_others(reader):
    test, model = make_test(), make_model()
    # Cosines of the first to the others: 0.6 and 0.8, mean 0.7, √(2 · 0.1² / 1) apart.
    embedded(model, a=[1, 0], b=[0.6, 0.8], c=[0.8, 0.6])
    runs = [answered(test, text, **measured_by(model)) for text in "abc"]
    found = similarity_of(test, reader=reader, embedder_id=model.pk)
    first = next(variant for variant in found.variants if variant.run == runs[0])

    assert (first.mean, first.deviation) == pytest.approx((0.7, 0.1414214))


def test_vectors_that_were_not_kept_are_not_measured(reader):
    test, model = make_test(), make_model()
    embedded(model, a=[1, 0], b=[0, 1])
    for text in ("a", "b", "never embedded"):
        answered(test, text, **measured_by(model))
    found = similarity_of(test, reader=reader, embedder_id=model.pk)

    assert found.measured == 1
    assert found.matrix[0][1] == pytest.approx(0)


def test_a_model_that_measured_none_of_them_cannot_be_chosen(reader):
    test = make_test()
    answered(test, PARIS)
    found = similarity_of(test, reader=reader, embedder_id=make_model().pk)

    assert found.embedders == (query.BUILT_IN,)
    assert found.embedder == query.BUILT_IN


def test_without_the_built_in_embedding_nothing_is_measured(reader, monkeypatch):
    def missing(text):
        raise NoWordVectors("Install it.")

    monkeypatch.setattr(embeddings.word_vectors, "embed", missing)
    test = make_test()
    answered(test, PARIS)
    answered(test, PARIS)
    found = similarity_of(test, reader=reader)

    assert (found.measured, found.pairs) == (0, 1)


def test_the_number_of_queries_does_not_grow(reader):
    def queries(test):
        similarity_of(test, reader=reader, result_id=1)  # shown for the first time: recorded
        with CaptureQueriesContext(connection) as found:
            similarity_of(test, reader=reader, result_id=1)
        return len(found)

    few, many = make_test(), make_test()
    answered(few, PARIS)
    for text in (PARIS, ALSO_PARIS, CAT, PARIS):
        answered(many, text)

    assert queries(few) == queries(many) <= 7


# Page --------------------------------------------------------------------------------------------


def page_of(client, test, role="viewer", **query):
    client.force_login(make_user(role))
    return client.get(reverse("reports:similarity", args=[test.pk]), query)


def test_the_page_shows_cosines_with_how_many_were_measured(client):
    test = make_test()
    for text in (PARIS, PARIS, ""):
        answered(test, text, is_scripted=not text)
    text = page_of(client, test).content.decode()

    assert "scripted model" in text
    assert "1 of 3 pairs measured" in text
    assert "--share: 100%" in text
    assert 'title="not measured">—' in text


def test_the_page_shows_what_was_asked_and_not_what_is_asked_now(client):
    test = make_test("The old question?")
    answered(test, PARIS)
    test.messages = [{"role": "user", "content": "The new question?"}]
    test.save()

    assert "The old question?" in page_of(client, test).content.decode()


def test_with_too_few_answers_the_page_says_what_to_do(client):
    test = make_test()
    for _ in ("no answer", "one answer"):
        text = page_of(client, test, "maintainer").content.decode()
        assert f"{reverse('admin:runs_launch_add')}?tests={test.pk}" in text
        answered(test, PARIS)


def test_sealed_answers_are_for_those_who_may_read_them(client):
    test = make_test(sealed=True)
    answered(test, PARIS)

    assert page_of(client, test, "viewer").status_code == 404
    assert page_of(client, test, "annotator").status_code == 200


def test_strange_choices_show_the_usual(client):
    test = make_test()
    answered(test, PARIS)
    for strange in ({"result": "x"}, {"result": "9" * 30}, {"by": "-1"}):
        assert page_of(client, test, **strange).status_code == 200, strange


def test_the_tests_page_and_the_runs_page_lead_there(client):
    test = make_test()
    run = answered(test, PARIS)
    address = reverse("reports:similarity", args=[test.pk])
    client.force_login(make_user("viewer"))
    from_run = client.get(f"{run.get_absolute_url()}?tab=results").content.decode()
    on_test = client.get(reverse("admin:issues_test_change", args=[test.pk])).content.decode()

    assert f"{address}?result={first_result(run).pk}" in from_run
    assert f'href="{address}"' in on_test


# API ---------------------------------------------------------------------------------------------


def asked(test, **query):
    return client_of("viewer").get(f"/api/v1/tests/{test.pk}/similarity/", query)


def test_the_api_gives_what_the_page_shows(reader):
    test = make_test(reference="")
    for text in (PARIS, PARIS, ""):
        answered(test, text)
    shown = similarity_of(test, reader=reader)
    found = asked(test).json()

    assert found["matrix"] == [list(row) for row in shown.matrix]
    assert [v["run"] for v in found["variants"]] == [run.pk for run in runs_of(shown)]
    assert (found["measured"], found["pairs"], found["revision"]) == (1, 3, 1)
    assert found["embedding"]["language_model"] is None
    assert found["variants"][2]["mean"] is None


def test_the_api_compares_by_kept_vectors():
    test, model = make_test(), make_model(name="Embedder")
    embedded(model, a=[1, 0], b=[0.6, 0.8])
    for text in "ab":
        answered(test, text, **measured_by(model))
    found = asked(test, language_model=model.pk).json()

    assert found["embedding"] == {"language_model": model.pk, "name": "Embedder"}
    assert found["matrix"][0][1] == pytest.approx(0.6)


def test_the_api_refuses_what_it_cannot_compare():
    test = make_test()
    answered(test, PARIS)
    other = first_result(answered(make_test(), PARIS))

    for parameters in ({"result": other.pk}, {"language_model": 99}, {"result": "x"}, {"y": 1}):
        assert asked(test, **parameters).status_code == 400


def test_the_api_hides_sealed_tests():
    test = make_test(sealed=True)

    assert asked(test).status_code == 404
