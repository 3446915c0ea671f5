import httpx
import pytest

from evalhub_client.errors import EvalHubError, error_of


def error(status, body=None, *, text="", **headers):
    content = {"json": body} if body is not None else {"text": text}
    request = httpx.Request("POST", "http://site/api/v1/runs/")
    return error_of(httpx.Response(status, headers=headers, request=request, **content))


@pytest.mark.parametrize(
    ("body", "problems", "detail"),
    [
        ({"label": ["Too long.", "Twice."]}, ["label: Too long.", "label: Twice."], ""),
        ({"problems": ["No model 9."]}, ["No model 9."], ""),
        ({"criteria": [{}, {"text": ["Empty."]}]}, ["criteria.text: Empty."], ""),
        ({"detail": "Not found."}, [], "Not found."),
        (
            {
                **{"type": "about:blank", "title": "Invalid request", "status": 400},
                **{"code": "invalid", "detail": "Two fields are wrong."},
                "problems": [{"field": "label", "message": "Too long."}, "No model 9."],
            },
            ["label: Too long.", "No model 9."],
            "Two fields are wrong.",
        ),
    ],
)
def test_every_form_of_error_becomes_sentences(body, problems, detail):
    found = error(400, body)

    assert (found.problems, found.detail) == (problems, detail)
    assert all(problem in str(found) for problem in problems)


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
