"""Ids in an analyst's text become names and links; what is unknown stays visible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.summaries.analyst.free_text import Mark
from reports.summaries.analyst.key import Key
from reports.summaries.analyst.restore import ClaimLine, named, plain
from reports.summaries.query import html
from tests.reports.summaries.keys import WORKED, as_markdown, url_of

GPT = "[gpt-4o](#model-perf:openai:gpt-4o)"
CLAUDE = "[claude-3-sonnet](#model-perf:anthropic:claude-3-sonnet[sys:0])"
GEMINI = "[Gemini Pro (System 1, Temperature 0.7)](#model-perf:google:gemini-pro[sys:1][temp:0.7])"
TEXTS = st.text(
    st.sampled_from("<>&;/=\"' \n`*[]()!ref model MD_6002 MK_5001 lt gt amp x-data \ue000 0 1 %")
)


@pytest.mark.parametrize(
    ("written", "restored"),
    [
        (
            'Models from <ref maker="MK_5002" /> performed well.',
            "Models from OpenAI performed well.",
        ),
        (
            'However, <ref maker="MK_5001" model="MD_6001" sys="S_7001" temp="T_8000" /> '
            "struggled.",
            f"However, {GEMINI} struggled.",
        ),
        (
            'The <ref sys="S_7000" /> system prompt, but <ref temp="T_8000" /> was too creative.',
            "The [System 0](#system-prompt:0) system prompt, but temperature 0.7 was too creative.",
        ),
        ('<ref model="MD_6002" /> and <ref model="MD_6000" />', f"{GPT} and {CLAUDE}"),
        (
            '<ref maker="unclosed" model="also_unclosed"',
            '<ref maker="unclosed" model="also_unclosed"',
        ),
        ("<ref maker='MK_5000' />", "Anthropic"),
    ],
)
def test_worked_cases_of_the_methodology(written, restored):
    assert as_markdown(written) == restored


@pytest.mark.parametrize(
    ("written", "restored"),
    [
        ("&lt;ref model=&quot;MD_6002&quot; /&gt; led", f"{GPT} led"),
        ("<REF Model=MD_6002></ref> led", f"{GPT} led"),
        ("MD_6002 led, by MK_5002", f"{GPT} led, by OpenAI"),
        ('see <ref prompt="P_1"/>', "see [test 34](/tests/34/)"),
        ("XMD_6002 and MD_60021", "XMD_6002 and MD_60021"),
    ],
)
def test_ids_are_read_however_they_are_written(written, restored):
    assert as_markdown(written) == restored


@pytest.mark.parametrize(
    "written",
    [
        '<ref model="MD_9999" />',
        '<ref maker="MK_5000" model="MD_6002" />',
        "<ref />",
        '<ref prompt="P_7" />',
        '<ref style="x" />',
        "MD_9999",
    ],
)
def test_an_unknown_id_stays_visible(written):
    assert as_markdown(written) == written
    shown = html(written, WORKED, url_of)
    assert '<code class="eh-unknown"' in shown
    assert written.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;") in shown


def test_a_developer_whom_nobody_knows_is_called_so():
    key = Key(developers={"MK_5000": ""}, models={}, variants=WORKED.variants[:1])
    assert named("<ref maker='MK_5000'/>", key) == "an unknown developer"


def test_names_cannot_write_markup():
    models = {"MD_6002": WORKED.models["MD_6002"]._replace(name="a](http://evil) **b**<script>")}
    key = Key(WORKED.developers, models, variants=WORKED.variants[2:])
    shown = html("<ref model='MD_6002'/>", key, url_of)
    assert "<script" not in shown
    assert "evil) **b**&lt;script&gt;</a>" in shown


def test_links_lead_to_pages_of_this_site():
    shown = html(
        "<ref model='MD_6002'/> and [x](http://example.org)", WORKED, lambda _: "/m/?a=1&b=2"
    )
    assert '<a href="/m/?a=1&amp;b=2">gpt-4o</a>' in shown


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](http://a/<ref model='MD_6002'/>)",
        '<ref model="MD_6002" onclick="alert(1)" />',
        "<div x-data='alert(1)'>",
        '[a"onmouseover="alert(1)](http://x"y)',
    ],
)
def test_hostile_text_writes_no_markup(hostile):
    shown = html(hostile, WORKED, url_of)
    assert not any(word in shown for word in ("<script", "<img", "<div", 'href="javascript'))
    assert '" on' not in shown.replace("&quot;", "'")


def test_flagged_figures_are_marked_where_they_stand_with_the_reason():
    text = "MD_6002 passed 85 % and 12 %"
    start = plain(text).index("85")
    shown = html(text, WORKED, url_of, flagged=[Mark(start, start + 2, 'no "claim"')])
    assert '<mark class="eh-unsupported" title="no &quot;claim&quot;">85</mark> % and 12 %' in shown


def line(variants, text, problem="", **fields):
    said = ClaimLine("", "", "pass_rate", "", "", None, problem)
    return said._replace(variants=variants, text=text, **fields)


GPT_CLAIM = {
    "c1": line(WORKED.variants[2:], "72.5 % of 40 passed on “<b>”", low=1.0, high=2.0, method="W")
}


def test_a_claim_is_written_as_the_names_and_the_figure_of_its_cell():
    text = named("So it is with {c1}.", WORKED, GPT_CLAIM)
    assert text == "So it is with gpt-4o (72.5 % of 40 passed on “<b>”)."
    shown = html("So it is with {c1}.", WORKED, url_of, claims=GPT_CLAIM)
    assert '<span class="eh-claim" title="95 % interval 1.0 to 2.0 %, W"><a href="' in shown
    assert "passed on “&lt;b&gt;”)</span>" in shown


def test_a_claim_that_its_cell_contradicts_is_marked_with_the_figure_of_the_cell():
    problem = "c1 says 80; the table says 72.5 %."
    shown = html("{c1}", WORKED, url_of, [Mark(0, 4, problem)], GPT_CLAIM)
    assert f'<mark class="eh-unsupported" title="{problem}"><a' in shown
    assert "72.5 %" in shown


def test_a_place_without_a_claim_or_cell_stays_visible():
    claims = {"c1": line((), "", "c1: MD_9 is no model of the table.")}
    text = named("{c1}, {c2}", WORKED, claims)
    assert text == "[c1: MD_9 is no model of the table.], [no such claim]"


def test_both_models_of_a_difference_are_named():
    claims = {"c1": line(WORKED.variants[1:], "+2.0 points")}
    text = named("{c1}", WORKED, claims)
    assert text.startswith("Gemini Pro (System 1, Temperature 0.7) against gpt-4o (+2.0 points)")


@given(TEXTS)
def test_restoring_is_total_and_leaves_no_place_empty(text):
    assert named(text, Key({}, {})) == plain(text)
    assert "\ue000" not in html(text, WORKED, url_of)


@pytest.mark.parametrize(
    "forged",
    [
        "&#xe000;9&#xe000;",
        "&#57344;0&#57344",
        "&#XE0&#xe000;00;9&#xe000;",
        "&lt;ref &lt; &amp;#xe000;9&amp;#xe000; &gt;",
        "&lt;ref &amp;&gt;#xe000;9&amp;#xe000;",
    ],
)
def test_a_reply_cannot_write_a_place_that_is_filled(forged):
    assert "\ue000" not in html(forged, WORKED, url_of)
