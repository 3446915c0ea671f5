"""Reading what a model that drafts replies, and what is sent to it."""

from collections import Counter

import pytest

from issues.drafting import documents
from issues.drafting.documents import UnreadableDocument, passages_of, split
from issues.drafting.edit_prompts import Selection, edit_request, place_of, spaced_like
from issues.drafting.replies import Fields, read_fields
from issues.drafting.settings import built_in_personas
from issues.limits import MAX_DOCUMENT_BYTES
from issues.similarity.near_duplicates import Compared, near_duplicates
from tests.issues.drafting.writers import make_settings

ANSWER = ["Answer"]


@pytest.mark.parametrize(
    ("reply", "text", "repaired"),
    [
        ('{"Answer": "At nine."}', "At nine.", False),
        ('Here:\n```json\n{"Answer": "At nine."}\n```\n```', "At nine.", False),
        ('{"answer": "At nine.", "more": 1}', "At nine.", False),
        (
            '{"Answer": "See http://a.example // b" // the answer\n}',
            "See http://a.example // b",
            True,
        ),
        ('{"Answer": /* here */ "At nine."}', "At nine.", True),
        ('{"Answer": At nine, or ten: come early.\n}', "At nine, or ten: come early.", True),
        ('{"Answer": "At nine.",}', "At nine.", True),
        ('{"Answer": "`code` and \\"quotes\\""}', '`code` and "quotes"', False),
        ('<think>{"Answer": "No"}</think>{"Answer": "At nine."}', "At nine.", False),
    ],
)
def test_a_reply_is_read_however_its_json_is_dressed(reply, text, repaired):
    assert read_fields(reply, ANSWER) == Fields({"Answer": text}, repaired)


@pytest.mark.parametrize(
    "reply", ["", "Sorry.", "{}", '{"Answer": null}', '{"Answer": ["a"]}', '{"Answer": "Half of it']
)
def test_nothing_is_made_up_for_a_text_that_is_not_there(reply):
    assert not isinstance(read_fields(reply, ANSWER), Fields)


def test_a_repair_that_would_lose_text_is_refused():
    reply = '{"Answer": "He said "no", then "yes, and {so} on", and left.", "rationale": "x"'
    assert not isinstance(read_fields(reply, ["Answer", "rationale"]), Fields)


# Settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"yes": 0, "no": 0}, "All quantities are 0"),
        ({"variables": ["User_text", "user text"]}, "Two fields have the same name"),
        ({"answer_name": "Question", "variables": ["question"]}, "Two fields have the same name"),
        ({"task": "summarisation", "variables": ["a", "b"]}, "has one input"),
    ],
)
def test_settings_that_cannot_be_drafted_are_refused(fields, problem):
    with pytest.raises(ValueError, match=problem):
        make_settings(**fields)


def test_each_domain_comes_with_personas():
    found = Counter(persona.domain for persona in built_in_personas())
    assert len(found) == 6
    assert set(found.values()) == {5}


def test_options_named_alike_are_refused():
    yes, no = make_settings().options
    with pytest.raises(ValueError, match="Two options are called"):
        make_settings(options=[yes, no.model_copy(update={"label": "yes "})])


# Documents ---------------------------------------------------------------------------------------


class File:
    def __init__(self, name, data, size=None):
        self.name, self.data = name, data
        self.size = len(data) if size is None else size

    def read(self):
        return self.data


def pdf(*pages):
    """Return a PDF with these texts, written by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects += [f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>"]
    objects += ["<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        place = f"/Parent 2 0 R /MediaBox [0 0 612 792] {resources}"
        objects += [f"<< /Type /Page {place} /Contents {5 + 2 * n} 0 R >>"]
        objects += [f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream"]
    body, places = "%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{each}\nendobj\n"
    start = len(body)
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    body += f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    body += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
    return body.encode("latin-1")


def test_a_passage_names_its_document_and_page():
    found = passages_of([File("hours.pdf", pdf("Open at nine.", "Closed on Mondays."))])
    assert [(p.source, p.text) for p in found] == [
        ("hours.pdf, page 1", "Open at nine."),
        ("hours.pdf, page 2", "Closed on Mondays."),
    ]
    (note,) = passages_of([File("a.md", b"# Hours\n\nNine to five.")])
    assert (note.source, note.text) == ("a.md", "# Hours\n\nNine to five.")


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (File("a.docx", b"x"), "no .txt, .md, .pdf file"),
        (File("a.txt", b"x", MAX_DOCUMENT_BYTES + 1), "larger than 5 MB"),
        (File("a.txt", b"\xff\xfe\x00"), "not UTF-8"),
        (File("a.txt", b" \n"), "has no text"),
        (File("a.pdf", b"%PDF-1.4 nothing"), "no PDF that can be read"),
        (File("a.pdf", pdf(*["x"] * 101)), "101 pages, more than 100"),
        (File("a.txt", b"word " * 50_000), "more than 200,000"),
    ],
)
def test_a_document_that_cannot_be_used_is_refused_with_the_reason(file, problem):
    with pytest.raises(UnreadableDocument, match=problem):
        passages_of([file])


def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(documents, "PDF_TIMEOUT_S", 1)
    slow = "(word) Tj T* " * 200_000
    with pytest.raises(UnreadableDocument, match=r"slow\.pdf cannot be read: it took more"):
        passages_of([File("slow.pdf", pdf(f"x) Tj {slow} (x"))])


def test_passages_keep_every_word():
    text = "\n\n".join("Sentence number one. " * n for n in (3, 200, 1))
    assert " ".join(split(text)).split() == text.split()
    assert max(map(len, split(text))) <= 1500


# Duplicates and edits ----------------------------------------------------------------------------


def test_only_texts_of_one_group_that_say_the_same_are_duplicates():
    one = "The shop opens at nine on weekdays."
    found = near_duplicates(
        [
            Compared(1, "Yes", ("Open?", one)),
            Compared(2, "Yes", ("Open?", "On weekdays the shop opens at nine!")),
            Compared(3, "No", ("Open?", one)),
            Compared(4, "Yes", ("Open?", "It never opens; ask the owner of the bakery.")),
            Compared(5, "Yes", ("Which languages does the museum guide speak?", one)),
        ],
        [],
    )
    assert found == {2: 1}


def test_the_selection_is_marked_once_and_its_text_cannot_close_the_marks():
    text = "no </selected> no"
    prompt = edit_request(Selection(text, 15, 17), "shorten").messages[0]["content"]
    assert "<text>no (/selected) <selected>no</selected></text>" in prompt


@pytest.mark.parametrize("action", ["feedback", "own"])
def test_what_a_judge_or_a_person_says_is_in_the_request(action):
    request = edit_request(Selection("ten or so", 0, 3), action, "Name the hour.")
    assert "Name the hour." in request.messages[0]["content"]


def test_an_edit_keeps_the_space_around_and_finds_its_words_again():
    assert spaced_like(" big\n", "large ") == " large\n"
    assert place_of("large", 6, "A dog large dog, large") == 6
    assert place_of("large", 0, "A dog large dog, large") is None
    assert place_of("large", 0, "A large dog") == 2
