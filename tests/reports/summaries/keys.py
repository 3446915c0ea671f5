"""A key with known ids, for tests of what is read and restored by it."""

from reports.summaries.analyst.key import Key, Model, System, Variant
from reports.summaries.analyst.restore import placed, plain

WORKED = Key(
    developers={"MK_5000": "Anthropic", "MK_5001": "Google", "MK_5002": "OpenAI"},
    models={
        "MD_6000": Model("claude-3-sonnet", 1),
        "MD_6001": Model("Gemini Pro", 2),
        "MD_6002": Model("gpt-4o", 3),
    },
    systems={"S_7000": System("System 0", "Be brief."), "S_7001": System("System 1", "Be kind.")},
    temperatures={"T_8000": 0.7},
    variants=(
        Variant("MK_5000", "MD_6000", "S_7000", "", (1,)),
        Variant("MK_5001", "MD_6001", "S_7001", "T_8000", (2,)),
        Variant("MK_5002", "MD_6002", "", "", (3,)),
    ),
    tests={"P_1": 34},
)
"""The models of the worked cases of Weval's methodology."""

URLS = {
    "MD_6000": "#model-perf:anthropic:claude-3-sonnet[sys:0]",
    "MD_6001": "#model-perf:google:gemini-pro[sys:1][temp:0.7]",
    "MD_6002": "#model-perf:openai:gpt-4o",
    "S_7000": "#system-prompt:0",
    "P_1": "/tests/34/",
}


def url_of(target):
    return URLS.get(target.id, "")


def as_markdown(text):
    """Return the text with names for ids, as Markdown links where they have an address."""
    found = [
        (piece, piece.target and url_of(piece.target)) for piece, _ in placed(plain(text), WORKED)
    ]
    return "".join(f"[{piece.text}]({url})" if url else piece.text for piece, url in found)
