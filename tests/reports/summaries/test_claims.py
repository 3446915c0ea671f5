"""A claim is checked against exactly the cell that it names."""

import json

import pytest

from evalhub.statistics.interval import Interval
from reports.summaries.analyst.claims import Claim, Evidence, Statement, checked
from reports.summaries.analyst.key import FigureCell, FigureTable, Key, Measure, Place
from reports.summaries.analyst.statements import CheckedStatement, check_statement, claim_line
from tests.bench.validity.claims import WRONG, share, true_claim
from tests.reports.summaries.keys import WORKED

GPT, CLAUDE, GEMINI = "MD_6002", "MD_6000", "MD_6001"
KEY = Key(**{**vars(WORKED), "groups": {"G_1": "All tests", "G_2": "maths", "G_3": "law"}})
WILSON = "Wilson by issue"


def cell(passed, scored=40, **fields):
    return FigureCell(passed, scored, 0.812, interval=Interval(0.5, 0.9), method=WILSON, **fields)


TABLE = FigureTable(
    {
        Place(0, "G_1"): cell(60, 80),
        Place(0, "G_2"): cell(24),
        Place(0, "G_3"): cell(36),
        Place(1, "G_1"): cell(10, 80),
        Place(1, "G_2"): FigureCell(0, 0, None, errors=4),
        Place(1, "G_3"): cell(10, 36, errors=4),
        Place(2, "G_1"): cell(69, 80),
        Place(2, "G_2"): cell(29),
        Place(2, "G_3"): cell(40),
    }
)
EVIDENCE = Evidence(0.012, "exact McNemar", 9, 40)


def claim(model=GPT, group="G_2", measure="pass_rate", value=72.5, **other):
    return Claim("c1", model, group, measure, value, **other)


def problem(*args, **fields):
    return checked(claim(*args, **fields), KEY, TABLE).problem


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        *(("pass_rate", 72.5), ("pass_rate", 73), ("pass_rate", 72), ("passed", 29)),
        *(("scored", 40), ("mean_score", 0.81), ("errors", 0), ("unscored", 0)),
    ],
)
def test_the_figure_of_the_cell_is_confirmed(measure, value):
    assert problem(measure=measure, value=value) == ""


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        *(("pass_rate", 60), ("pass_rate", 72.4), ("pass_rate", 0.725), ("pass_rate", 29)),
        *(("passed", 30), ("scored", 41), ("mean_score", 1), ("mean_score", 0.8), ("errors", 1)),
    ],
)
def test_any_other_figure_is_not(measure, value):
    assert "the table says" in problem(measure=measure, value=value)


def test_all_of_nearly_all_is_another_figure():
    table = FigureTable({**TABLE.cells, Place(2, "G_2"): cell(2039, 2040)})
    problems = [checked(claim(value=value), KEY, table).problem for value in (100, 99.9)]
    assert problems == ["c1 says 100; the table says >99.9 %.", ""]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"model": "MD_9999"}, "MD_9999 is no model of the table."),
        ({"model": "gpt-4o"}, "gpt-4o is no model of the table."),
        ({"model": "MK_5000/MD_6002"}, "is no model of the table."),
        ({"group": "G_9"}, "G_9 is no group of the table."),
        ({"group": ""}, "nothing is no group of the table."),
        ({"measure": "accuracy"}, "“accuracy” is no measure"),
        ({"value": None}, "c1 states no value."),
        ({"model": GEMINI}, "nothing is scored there."),
        ({"measure": "difference"}, "a difference needs another model or another group."),
        ({"measure": "difference", "other_model": GPT}, "two models in one group"),
        ({"measure": "difference", "other_model": CLAUDE, "other_group": "G_1"}, "two models in"),
    ],
)
def test_a_claim_on_no_cell_says_why(fields, says):
    assert says in problem(**fields)


def test_a_model_with_several_rows_is_named_with_its_settings():
    again = KEY.variants[2]._replace(temperature="T_8000", runs=(4,))
    key = Key(**{**vars(KEY), "variants": (*KEY.variants, again)})
    table = FigureTable({**TABLE.cells, Place(3, "G_2"): cell(8)})
    assert "several rows" in checked(claim(), key, table).problem
    assert checked(claim("MK_5002/MD_6002 (temp: T_8000)", value=20), key, table).problem == ""


def test_a_difference_is_of_two_cells_and_has_a_sign():
    # 72.5 % less 60.0 %.
    other = {"measure": "difference", "other_model": CLAUDE}
    assert problem(value=12.5, **other) == ""
    assert problem(value=12, **other) == problem(value=13, **other) == ""
    assert "+12.5 points" in problem(value=-12.5, **other)
    assert problem(value=-27.5, measure="difference", other_group="G_3") == ""


def test_a_difference_may_be_that_of_the_printed_rates():
    # 1/3 less 1/6 is 16.67, of the printed rates 33.3 and 16.7 it is 16.6.
    table = FigureTable({Place(2, "G_2"): cell(2, 6), Place(0, "G_2"): cell(1, 6)})
    for value in (16.7, 16.6):
        stated = claim(measure="difference", value=value, other_model=CLAUDE)
        assert checked(stated, KEY, table).problem == ""


def test_cells_of_which_less_than_95_percent_is_scored_are_not_compared():
    stated = {"measure": "difference", "group": "G_3", "other_model": GEMINI}
    assert "less than 95 % is scored" in problem(value=72.2, **stated)


# Statements --------------------------------------------------------------------------------------


def compared(bound):
    return EVIDENCE


def flagged(text, *claims, test=compared):
    found = check_statement(Statement(text, claims), KEY, TABLE, test)
    return [(text[start:end], reason) for start, end, reason in found.flagged]


def test_a_true_statement_is_not_flagged():
    assert flagged("Sums go wrong for {c1}. It guesses.", claim()) == []
    assert flagged("<ref model='MD_6002'/> guesses: {c1}.", claim()) == []


def test_a_figure_beside_another_models_name_is_flagged():
    assert flagged("MD_6000 guesses: {c1}.", claim())[0][0] == "MD_6000"
    both = [claim(), claim(CLAUDE, value=60)._replace(id="c2")]
    assert flagged("MD_6002 {c1}, MD_6000 {c2}.", *both) == []
    assert [text for text, _ in flagged("MD_6002 {c2}, MD_6000 {c1}.", *both)] == ["{c2}", "{c1}"]


def test_a_comparison_needs_its_difference():
    difference = claim(measure="difference", value=12.5, other_model=CLAUDE)
    assert flagged("It is ahead, with {c1}.", difference) == []
    assert [text for text, _ in flagged("It is ahead, with {c1}.", claim())] == ["ahead"]


def test_what_may_not_be_compared_is_flagged():
    difference = claim(measure="difference", value=12.5, other_model=CLAUDE)
    (found,) = flagged("{c1}.", difference, test=lambda bound: "Other juries.")
    assert found == ("{c1}", "Other juries.")


def test_places_without_a_claim_and_claims_that_stand_twice_are_flagged():
    assert "not among the claims" in flagged("{c2}", claim())[0][1]
    assert "is given twice" in flagged("{c1}", claim(), claim())[0][1]


def shown(text, *claims, test=compared):
    line = check_statement(Statement(text, claims), KEY, TABLE, test).to_json()
    table = FigureTable.from_json(json.loads(json.dumps(TABLE.to_json())))
    found = CheckedStatement.from_json(json.loads(json.dumps(line)), KEY, table)
    (claim,) = found.claims.values()
    return claim_line(claim, KEY, table), found.flagged


@pytest.mark.parametrize(
    ("measure", "value", "figure"),
    [
        ("pass_rate", 72.5, "72.5 % of 40 passed on “maths”"),
        ("passed", 29, "29 of 40 passed on “maths”"),
        ("mean_score", 0.81, "mean score 0.81 of 40 on “maths”"),
        ("errors", 0, "0 of 40 ended in errors on “maths”"),
    ],
)
def test_the_program_writes_the_figure_of_the_cell(measure, value, figure):
    assert shown("{c1}", claim(measure=measure, value=value))[0].text == figure


def test_the_figure_says_what_is_not_scored_and_its_interval():
    text, _ = shown("{c1}", claim(GEMINI, "G_3", value=27.8))
    assert text.text == "27.8 % of 36 scored, 4 not passed on “law”"
    assert text.details == "95 % interval 50.0 to 90.0 %, Wilson by issue"


def test_a_wrong_value_is_replaced_by_that_of_the_cell_and_flagged():
    line, flagged = shown("{c1}", claim(value=60))
    assert line.text.startswith("72.5 %")
    assert len(flagged) == 1


def test_a_difference_is_written_with_its_evidence():
    line, _ = shown("{c1}", claim(measure="difference", value=12.5, other_model=CLAUDE))
    assert line.text == (
        "+12.5 points: 72.5 % of 40 against 60.0 % of 40 on “maths”; p = 0.012, exact McNemar on "
        "40 tests, corrected for 9 possible comparisons"
    )


def test_what_may_not_be_compared_shows_no_difference():
    stated = claim(measure="difference", value=12.5, other_model=CLAUDE)
    line, _ = shown("{c1}", stated, test=lambda bound: "Other juries.")
    assert (line.text, line.figure) == ("not comparable", None)


def test_a_difference_of_groups_is_written_with_both_intervals():
    line, _ = shown("{c1}", claim(measure="difference", value=-27.5, other_group="G_3"))
    assert line.text.startswith("\u221227.5 points: 72.5 % of 40 on “maths” against 100.0 % of")
    assert "not tested, 95 % intervals 50.0 to 90.0 %" in line.text


def test_every_measure_is_written():
    for measure in Measure:
        other = {"other_model": CLAUDE} if measure == Measure.DIFFERENCE else {}
        assert shown("{c1}", claim(measure=measure, **other))[0].text


def test_a_table_survives_being_stored():
    assert FigureTable.from_json(json.loads(json.dumps(TABLE.to_json()))) == TABLE
    assert FigureTable.from_json({}) == FigureTable({})
    assert TABLE.comparisons == 9  # three pairs in each of three groups


# Simulated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WRONG.values(), ids=WRONG)
def test_invented_and_swapped_figures_are_flagged(kind):
    assert share(kind, 500) >= 0.99


def test_true_claims_are_not_flagged():
    assert share(true_claim, 500) <= 0.01
