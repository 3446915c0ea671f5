import json
import re
from itertools import combinations

import plotly.graph_objects as go
import pytest
from django.conf import settings

from evalhub.display import charts
from evalhub.display.charts import OutcomeRow, RateRow
from evalhub.display.outcomes import OUTCOMES, OutcomeStyle
from evalhub.statistics.interval import Interval
from evalhub.statistics.rates.wilson import wilson_interval
from reports.documents.cells import words
from reports.templatetags.document import outcome_label

SHEET = settings.BASE_DIR / "evalhub" / "static" / "evalhub" / "colours.css"
THEMES = {
    f"var({name})": colours
    for name, *colours in re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", SHEET.read_text())
}
"""The colours of each CSS variable in the light and in the dark theme."""
OUTCOME_COLOURS = {name: THEMES[style.colour] for name, style in OUTCOMES.items()}

COUNTS = {"passed": 12, "failed": 6, "unscored": 1, "error": 1, "pending": 0}
TAGS = [
    OutcomeRow("t1", "fine", {"passed": 9, "failed": 1}),
    OutcomeRow("t2", "poor", {"passed": 1, "failed": 3, "unscored": 2}),
    OutcomeRow("t3", "unknown", {"error": 2}),
]
ISSUES = [
    RateRow("i1", "Counts letters", 1, 10, wilson_interval(1, 10)),
    RateRow("i2", "Invents sources", 3, 4, Interval(0.3, 0.95)),
    RateRow("i3", "Never judged", 0, 0, None),
]

FIGURES = {
    "pie": charts.outcome_pie(COUNTS),
    "empty pie": charts.outcome_pie({}),
    "tags": charts.tag_bars(TAGS),
    "no tags": charts.tag_bars([]),
    "issues": charts.issue_bars(ISSUES),
    "no issues": charts.issue_bars([]),
}
EVERY_FIGURE = pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES)


@EVERY_FIGURE
def test_figure_is_strict_json_for_plotly_and_leaves_its_looks_to_the_page(figure):
    assert go.Figure(figure).data is not None
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
    layout = figure["layout"]
    assert "title" not in layout
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert '"font": {"color"' not in json.dumps(figure)


# Colours -----------------------------------------------------------------------------------------

# What people with normal, protan, deutan and tritan vision see of linear RGB, by Machado (2009).
VISIONS: dict[str, list[list[float]]] = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
DARK_BACKGROUND = "#111827"
TEXT_CONTRAST = 4.5
"""The least contrast of text, and of the thin lines of figures, by WCAG AA."""


def linear(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(first, second):
    dark, light = sorted(luminance(linear(colour)) for colour in (first, second))
    return (light + 0.05) / (dark + 0.05)


def lab(colour, vision):
    r, g, b = (
        min(1, max(0, sum(m * c for m, c in zip(row, linear(colour), strict=True))))
        for row in VISIONS[vision]
    )
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        luminance((r, g, b)),
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("pair", list(combinations(OUTCOME_COLOURS, 2)), ids="-".join)
def test_outcomes_are_distinct_with_any_colour_vision(pair, vision):
    # A difference of 2 is just seen side by side; 30 is seen at a glance.
    first, second = (lab(OUTCOME_COLOURS[name][0], vision) for name in pair)
    assert sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5 > 30


@pytest.mark.parametrize(("theme", "background"), [(0, "#FFFFFF"), (1, DARK_BACKGROUND)])
@pytest.mark.parametrize("outcome", ["passed", "failed", "unscored", "error"])
def test_outcome_stands_out_from_the_page(outcome, theme, background):
    assert contrast(OUTCOME_COLOURS[outcome][theme], background) >= 3


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_numbers_on_an_outcome_are_legible(outcome, theme):
    fill = OUTCOMES[outcome].colour
    assert contrast(THEMES[charts.on_fill(fill)][theme], THEMES[fill][theme]) >= TEXT_CONTRAST


@pytest.mark.parametrize(("theme", "background"), [(0, "#FFFFFF"), (1, DARK_BACKGROUND)])
def test_neutral_marks_are_legible(theme, background):
    assert contrast(THEMES[charts.NEUTRAL][theme], background) >= TEXT_CONTRAST


def test_every_bar_says_in_which_colour_its_numbers_are():
    for trace in charts.tag_bars(TAGS)["data"]:
        assert trace["insidetextfont"]["color"] == charts.on_fill(trace["marker"]["color"])


def test_an_outcome_looks_and_reads_the_same_everywhere(monkeypatch):
    style = OutcomeStyle("Fine", "var(--eh-fine)")
    monkeypatch.setitem(OUTCOMES, "passed", style)

    ring = charts.outcome_pie({"passed": 1})["data"][0]
    stack = charts.tag_bars([OutcomeRow("t", "t", {"passed": 1})])["data"][0]

    assert (ring["labels"], ring["marker"]["colors"]) == (["Fine"], [style.colour])
    assert (stack["name"], stack["marker"]["color"]) == ("Fine", style.colour)
    assert outcome_label("passed") == "Fine"
    assert words("passed", "outcome") == "Fine"


def test_a_colour_is_written_in_one_place():
    names = [name.removeprefix("var(").removesuffix(")") for name in THEMES]
    for path in SHEET.parent.glob("*.*s"):
        if path != SHEET:
            assert not [name for name in names if f"{name}:" in path.read_text()], path


# Pie ---------------------------------------------------------------------------------------------


def test_slice_says_its_count_and_share_and_a_click_knows_its_outcome():
    (ring,) = charts.outcome_pie(COUNTS)["data"]
    shares = ["Passed: 12 (60%)", "Failed: 6 (30%)", "Unscored: 1 (5%)", "Error: 1 (5%)"]
    assert ring["text"] == shares
    assert ring["customdata"] == ["passed", "failed", "unscored", "error"]


def test_the_middle_of_the_pie_is_the_pass_rate():
    assert _middle({"passed": 7, "failed": 3, "error": 5}) == "<b>70%</b><br>7 of 10"
    assert _middle({"error": 5}) == "none scored"


def _middle(counts):
    return charts.outcome_pie(counts)["layout"]["annotations"][0]["text"]


def test_slice_keeps_its_colour_whatever_else_there_is():
    ring = charts.outcome_pie({"error": 1, "failed": 2})["data"][0]
    assert ring["marker"]["colors"] == [OUTCOMES["failed"].colour, OUTCOMES["error"].colour]


def test_count_of_no_outcome_is_refused():
    with pytest.raises(ValueError, match=r"unknown outcomes \['skipped'\]; expected passed"):
        charts.outcome_pie({"skipped": 1})
    with pytest.raises(ValueError, match="skipped"):
        charts.tag_bars([OutcomeRow("t", "t", {"skipped": 1})])


# Bars --------------------------------------------------------------------------------------------


def test_tags_are_stacks_of_outcomes_sorted_by_failure_rate_and_unscored_ones_come_last():
    figure = charts.tag_bars(TAGS)
    tags = ["poor (n = 6)", "fine (n = 10)", "unknown (n = 2)"]
    assert figure["layout"]["yaxis"]["ticktext"] == tags
    stacks = {trace["name"]: trace["x"] for trace in figure["data"]}
    done = {"Passed": [1, 9, 0], "Failed": [3, 1, 0]}
    assert stacks == done | {"Unscored": [2, 0, 0], "Error": [0, 0, 2]}
    assert figure["data"][1]["customdata"][0] == ["t2", "failed"]  # what a click opens


def test_issue_label_says_k_of_n_and_what_was_not_judged_has_no_bar():
    figure = charts.issue_bars(ISSUES)
    labels = ["Invents sources (3 of 4)", "Counts letters (1 of 10)", "Never judged (none scored)"]
    assert figure["layout"]["yaxis"]["ticktext"] == labels
    assert figure["data"][0]["x"] == [0.75, 0.1, None]


def test_error_bars_span_the_interval():
    # 0.75 - 0.3 and 0.95 - 0.75; the issue that nobody judged has neither bar nor interval.
    bars = charts.issue_bars([ISSUES[1], ISSUES[2]])["data"][0]
    assert bars["error_x"]["arrayminus"] == [pytest.approx(0.45), None]
    assert bars["error_x"]["array"] == [pytest.approx(0.2), None]


def test_without_an_interval_no_error_bar_claims_certainty():
    rows = [RateRow("a", "A", 1, 2, None), RateRow("b", "B", 1, 2, Interval(0.1, 0.9))]

    assert not charts.issue_bars(rows[:1])["data"][0]["error_x"]["visible"]
    assert charts.issue_bars(rows)["data"][0]["error_x"]["visible"]


def test_label_from_user_input_cannot_be_markup():
    figure = charts.issue_bars([RateRow("i", "<a href='https://x'>x</a>", 1, 2, None)])
    assert "<a" not in json.dumps(figure)


def test_labels_alike_once_cut_stay_two_rows():
    rows = [OutcomeRow(str(n), "x" * 80 + str(n), {"passed": 1}) for n in range(2)]
    figure = charts.tag_bars(rows)
    assert figure["data"][0]["y"] == [0, 1]
    assert [len(text) for text in figure["layout"]["yaxis"]["ticktext"]] == [60 + 8] * 2
