"""Scripts that repeat a run, or run a suite or tests, through the API. Pure."""

from collections.abc import Mapping
from string import Template
from typing import Any

from runs.scripts.judging import literal, one_line

SCRIPT = Template('''\
# %% [markdown]
# # $title
#
# Launches what is described below on an EvalHub site, waits, and prints what failed. It needs
# Python 3.10 and nothing else. Set `EVALHUB_URL` and `EVALHUB_TOKEN` (Settings, Tokens) first.

# %%
import json
import os
import sys
import time
import urllib.error
import urllib.request

SITE = os.environ.get("EVALHUB_URL", $site).rstrip("/")
TOKEN = os.environ["EVALHUB_TOKEN"]

# %% [markdown]
# $about

# %%
LAUNCH = $launch


# %%
def api(path, body=None):
    """Return the JSON of an address of the API; POST where there is a body."""
    address = path if path.startswith("http") else f"{SITE}/api/v1/{path}"
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    request = urllib.request.Request(address, data, headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"{address} answered {error.code}: {error.read().decode(errors='replace')}")


def pages(path):
    """Yield the rows of a list, all pages of it."""
    while path:
        page = api(path)
        yield from page["results"]
        path = page["next"]


# %%
started = api("runs/", LAUNCH)
RUNS = [api(f"runs/{number}/") for number in started["runs"]]
while any(run["state"] in ("live", "paused") for run in RUNS):
    time.sleep(float(os.environ.get("EVALHUB_POLL_S", "5")))
    RUNS = [api(f"runs/{run['id']}/") for run in RUNS]

# %%
for run in RUNS:
    results = list(pages(f"results/?run={run['id']}"))
    passed = sum(result["outcome"] == "passed" for result in results)
    scored = sum(result["outcome"] in ("passed", "failed") for result in results)
    total = len(results)
    print(f"{SITE}{run['page']}: {passed} of {scored} scored passed, {total} in all")
    for result in results:
        if result["outcome"] != "passed":
            print(f"  test {result['test']}: {result['outcome']}")
''')


def api_script(*, title: str, about: str, site: str, launch: Mapping[str, Any]) -> str:
    """Return the script.

    Args:
        about: What is launched, in a sentence, and what to change.
        site: Address of this installation, unless the environment names another.
        launch: The body of POST runs/.
    """
    return SCRIPT.substitute(
        title=one_line(title), about=one_line(about), site=repr(site), launch=literal(launch)
    )
