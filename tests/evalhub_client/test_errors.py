import httpx

from evalhub_client.errors import EvalHubError, error_of


def error(status, body=None, *, text="", **headers):
    content = {"json": body} if body is not None else {"text": text}
    request = httpx.Request("POST", "http://site/api/v1/runs/")
    return error_of(httpx.Response(status, headers=headers, request=request, **content))


def test_each_problem_becomes_a_sentence_with_its_field():
    named = {"field": "judges[1].samples", "message": "At most 9.", "code": "invalid"}
    whole = {"field": "", "message": "No model 9.", "code": "invalid"}

    found = error(400, {"title": "Invalid request", "code": "invalid", "problems": [named, whole]})

    assert found.problems == ["judges[1].samples: At most 9.", "No model 9."]
    assert all(problem in str(found) for problem in found.problems)


def test_title_and_code_of_a_problem_are_kept():
    found = error(409, {"title": "Conflict", "code": "conflict", "detail": "Run 3 is done."})

    assert (found.title, found.code) == ("Conflict", "conflict")
    assert str(found) == "Conflict (409): Run 3 is done."


def test_the_page_of_a_proxy_is_cut_short():
    assert len(str(error(502, text="<html>" + "x" * 5000))) < 400


def test_a_moved_site_names_its_address():
    found = error(301, text="", Location="https://site/api/v1/runs/")

    assert type(found) is EvalHubError
    assert "https://site/api/v1/runs/" in str(found)
