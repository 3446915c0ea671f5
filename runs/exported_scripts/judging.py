"""A script that judges rows with litellm alone, without EvalHub. Pure."""

from collections.abc import Mapping, Sequence
from pprint import pformat
from string import Template
from typing import Any

SCRIPT = Template('''\
# %% [markdown]
# # $title
#
# Judges $rows with the prompts of an EvalHub workbench, and compares the verdicts with the
# expected options. It needs Python 3.10 and `pip install litellm`. Keys come from the
# environment: $keys.
$left_out
# %%
import json
import os
from collections import Counter

import litellm

# %% [markdown]
# The judges, the criteria ("" is the whole answer) and the options with their values.

# %%
LEFT_OUT = $left_out_list
for note in LEFT_OUT:
    print(f"Not as on the site: {note}")
HAS_SCORE = $has_score  # of rows: only where this script computes it as the site does
JUDGES = $judges
CRITERIA = $criteria
SCALES = $scales

# %% [markdown]
# The rows with the option that people expect of each criterion.

# %%
ROWS = $row_list

# %% [markdown]
# Each request is exactly what EvalHub would send. Order 1 has the options reversed.

# %%
REQUESTS = $requests


# %%
def ask(request):
    """Return the text of a judge's reply."""
    judge = JUDGES[request["judge"]]
    sent = dict(judge["params"], model=judge["model"], messages=request["messages"])
    if judge["api_base"]:
        sent.update(api_base=judge["api_base"], api_key="none")
    if judge["api_key_env"]:
        sent["api_key"] = os.environ[judge["api_key_env"]]
    if judge["model"].startswith("openai/"):
        sent["extra_body"] = dict(stream=False)  # some servers stream unless they are told not to
    if request["schema"]:
        form = dict(name="reply", schema=request["schema"], strict=True)
        sent["response_format"] = dict(type="json_schema", json_schema=form)
    return litellm.completion(**sent).choices[0].message.content or ""


def option_in(reply, labels):
    """Return the option that a reply chooses; None if it cannot be read: nothing is guessed."""
    chosen = reply
    if "{" in reply:
        try:
            found = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
            chosen = found.get("score")
        except ValueError:
            return None
    by_name = {label.casefold(): label for label in labels}
    return by_name.get(str(chosen).strip().casefold())


def majority(options):
    """Return the option with most votes; None for a tie or without votes."""
    votes = Counter(option for option in options if option is not None).most_common(2)
    if not votes or (len(votes) > 1 and votes[0][1] == votes[1][1]):
        return None
    return votes[0][0]


def score_of(values):
    """Return the weighted mean of the criteria that have a value; None without any.

    A required criterion that is not met (0.5 or less) makes it 0.
    """
    scored = [(c, values[c["key"]]) for c in CRITERIA if values.get(c["key"]) is not None]
    if any(c["mandatory"] and values.get(c["key"]) is None for c in CRITERIA):
        return None
    if any(c["mandatory"] and value <= 0.5 for c, value in scored):
        return 0.0
    total = sum(c["weight"] for c, _ in scored)
    return sum(c["weight"] * value for c, value in scored) / total if total else None


# %%
VERDICTS, FAILED = {}, 0
for request in REQUESTS:
    labels = SCALES[request["judge"]]
    options = []
    for _ in range(request["samples"]):
        try:
            option = option_in(ask(request), labels)
        except Exception as error:
            print(f"row {request['row']}, {request['judge']}: {error}")
            option = None
        FAILED += option is None
        options.append(option)
    place = request["row"], request["criterion"], request["judge"], request["order"]
    VERDICTS[place] = majority(options)

# %%
RESULTS = []
for row in ROWS:
    values = {}
    for criterion in CRITERIA:
        key = criterion["key"]
        found = []
        for request in REQUESTS:
            if (request["row"], request["criterion"], request["order"]) == (row["row"], key, 0):
                option = VERDICTS[row["row"], key, request["judge"], 0]
                if option is not None:
                    value = SCALES[request["judge"]][option]
                    value = float(option == criterion["target"]) if criterion["target"] else value
                    found.append(1 - value if criterion["inverted"] else value)
        if criterion["check"]:
            check = row["checks"].get(key)
            found = [] if check is None else [1 - check if criterion["inverted"] else check]
        values[key] = sum(found) / len(found) if found else None
    score = score_of(values) if HAS_SCORE else None
    RESULTS.append(dict(row=row["row"], score=score, criteria=values))
    print(f"row {row['row']}: score {RESULTS[-1]['score']}")

# %%
EXPECTED = {(row["row"], key): option for row in ROWS for key, option in row["expected"].items()}
AGREEMENT = {}
for judge in JUDGES:
    pairs = [
        (option, EXPECTED[row, key])
        for (row, key, name, order), option in VERDICTS.items()
        if name == judge and not order and option is not None and (row, key) in EXPECTED
    ]
    AGREEMENT[judge] = dict(agreed=sum(a == b for a, b in pairs), compared=len(pairs))
    turned = [
        option != VERDICTS[row, key, name, 1]
        for (row, key, name, order), option in VERDICTS.items()
        if name == judge and not order and option and VERDICTS.get((row, key, name, 1))
    ]
    bias = f"{sum(turned)} of {len(turned)} changed" if turned else "not measured"
    agreed = AGREEMENT[judge]["agreed"]
    print(f"{judge}: agrees {agreed} of {len(pairs)}, position bias {bias}")
print(f"{FAILED} failed")
''')


def judging_script(
    *,
    title: str,
    judges: Mapping[str, Mapping[str, Any]],
    criteria: Sequence[Mapping[str, Any]],
    scales: Mapping[str, Mapping[str, float]],
    rows: Sequence[Mapping[str, Any]],
    requests: Sequence[Mapping[str, Any]],
    left_out: Sequence[str] = (),
    has_score: bool = True,
) -> str:
    """Return the script.

    Args:
        judges: By name: "model", "params", "api_base", "api_key_env" (the name of a variable).
        criteria: "key", "text", "weight", "mandatory", "inverted", "target", "check".
        scales: Values of the options, by name of the judge.
        rows: "row", "expected" by key, "checks": values of checks by key, which it does not run.
        requests: "row", "criterion", "judge", "order", "samples", "schema", "messages".
        left_out: What the site does and this script does not.
        has_score: It scores rows as the site does.
    """
    names = sorted({j["api_key_env"] for j in judges.values() if j["api_key_env"]})
    return SCRIPT.substitute(
        title=one_line(title),
        rows=f"{len(rows)} row{'s' * (len(rows) != 1)}",
        keys=", ".join(f"`{name}`" for name in names) or "none is named here",
        judges=literal(judges),
        criteria=literal(criteria),
        scales=literal(scales),
        row_list=literal(rows),
        requests=literal(requests),
        left_out="".join(f"#\n# Not as on the site: {one_line(note)}\n" for note in left_out),
        left_out_list=literal([one_line(note) for note in left_out]),
        has_score=has_score,
    )


def one_line(text: str) -> str:
    """Return a text that stays within its line, which is a comment of the script."""
    return " ".join(text.split())


def literal(value: Any) -> str:
    """Return a JSON value as Python source."""
    return pformat(value, width=100, sort_dicts=False)
