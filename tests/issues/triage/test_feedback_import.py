"""Files of feedback: read as they are, with all that is wrong named by its place. Pure."""

import json

import pytest

from issues.importers import feedback as files
from issues.importers import records
from issues.importers.feedback import columns_of, read


def csv(*lines, name="f.csv"):
    return read(name, "\r\n".join(lines).encode())


def places(sheet):
    return [problem.place for problem in sheet.problems]


def test_a_csv_is_read_by_the_names_of_its_columns():
    sheet = csv(
        "Question,user_comment,thumbs,id,session", '2+2?,"It is 4,\nnot 5.",thumbs_down,a1,7'
    )

    (row,) = sheet.rows
    assert row.place == "line 2"
    assert row.fields == {
        "prompt": "2+2?",
        "comment": "It is 4,\nnot 5.",
        "rating": "down",
        "source_id": "a1",
        "raw": {"session": "7"},
    }


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_are_known(delimiter):
    sheet = csv(delimiter.join(["prompt", "comment"]), delimiter.join(["a, b", "c"]))

    assert sheet.rows[0].fields["prompt"] == "a, b"


def test_lines_are_counted_as_an_editor_counts_them():
    sheet = csv("comment,rating", '"two\nlines",up', "wrong,sideways")

    (problem,) = sheet.problems
    assert str(problem) == 'line 4: rating: expected up, down or nothing, not "sideways".'


def test_bad_rows_are_left_out_and_good_ones_kept():
    sheet = csv("comment,rating", "good,up", ",", "a,b,c", ",,", "fine,")

    assert [row.place for row in sheet.rows] == ["line 2", "line 6"]
    assert places(sheet) == ["line 4"]
    assert sheet.bad == 1


def test_a_json_list_and_lines_of_json_say_the_same():
    rows = [{"comment": "a", "rating": "up"}, {"comment": "b", "extra": {"n": 1}}]

    as_list = read("f.json", json.dumps(rows).encode())
    as_lines = read("f.jsonl", "\n".join(map(json.dumps, rows)).encode())

    assert [row.fields for row in as_list.rows] == [row.fields for row in as_lines.rows]
    assert as_list.rows[1].fields["raw"] == {"extra": {"n": 1}}


def test_feedback_as_grafite_keeps_it_is_read():
    raw = {"user_rating": "THUMBS_DOWN", "user_comment": "No.", "model_input": "?", "mode": "chat"}
    item = {"_id": {"$oid": "6941e7"}, "model_id": "heron", "raw_feedback": raw}

    (row,) = read("f.json", json.dumps([item]).encode()).rows

    assert row.fields["rating"] == "down"
    assert (row.fields["comment"], row.fields["prompt"]) == ("No.", "?")
    assert (row.fields["source_id"], row.fields["model"]) == ("6941e7", "heron")


def test_each_bad_line_of_json_is_named():
    sheet = read(
        "f.jsonl", b'{"comment": "a"}\n{broken\n[1]\n{"comment": ["x"]}\n{"comment": "\\u0000"}'
    )

    assert len(sheet.rows) == 1
    assert places(sheet) == ["line 2", "line 3", "line 4", "line 5"]


def test_equal_rows_without_an_id_each_have_one_of_their_own_and_the_same_again():
    def ids():
        return [row.fields["source_id"] for row in csv("comment", "bad", "bad", "worse").rows]

    assert ids() == ids()
    assert len(set(ids())) == 3


def test_an_id_that_stands_twice_is_a_problem():
    sheet = csv("comment,source_id", "a,1", "b,1")

    assert str(sheet.problems[0]) == 'line 3: has the id "1", like line 2.'


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("f.xlsx", b"PK", "unknown format"),
        ("f.csv", b"comment\n\xff\xfe", "not UTF-8"),
        ("f.csv", b"", "holds no feedback"),
        ("f.csv", b"a,a\n1,2", "more than once"),
        ("f.csv", b'comment\n"open', "from line 2 on"),
        ("f.json", b"{", "not JSON"),
        ("f.json", b'{"a": 1}', "expected a list"),
        ("f.json", b"[" * 200_000, "nested too deeply"),
        ("f.json", b'[{"comment": NaN}]', "NaN is not a JSON number"),
        ("f.json", b'[{"comment": "a", "k": 1e999}]', "1e999 is too large a number"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(name, data, words):
    sheet = read(name, data)

    assert not sheet.rows
    assert words in str(sheet.unreadable[0])


def test_files_are_bounded(monkeypatch):
    monkeypatch.setattr(files, "MAX_FEEDBACK_ROWS", 2)
    assert "more than 2 rows" in str(csv("comment", "a", "b", "c").unreadable[0])
    monkeypatch.setattr(records, "MAX_FILE_BYTES", 5)
    assert "maximum is 5" in str(csv("comment", "a").unreadable[0])


def test_long_values_are_named_by_their_length():
    sheet = csv("comment,model", f"a,{'x' * 201}")

    assert "model has 201 characters; the maximum is 200" in str(sheet.problems[0])


def test_what_a_column_is_taken_for_can_be_chosen():
    assert columns_of(["text", "note"], {}) == {"text": "comment", "note": ""}
    assert columns_of(["text", "note"], {"note": "comment", "text": ""}) == {
        "text": "",
        "note": "comment",
    }


def test_no_two_columns_are_the_same_field():
    assert columns_of(["prompt", "question"], {}) == {"prompt": "prompt", "question": ""}
