"""Scripts that repeat a run, or run a suite or tests, through the API. Pure."""

from collections.abc import Mapping
from string import Template
from typing import Any

from runs.exported_scripts.judging import literal, one_line

SCRIPT = Template("""\
# %% [markdown]
# # $title
#
# Launches what is described below on an EvalHub site, waits, and prints what failed. It needs
# `evalhub_client`: EvalHub's wheel, which may be installed without its dependencies, and httpx.
# Set `EVALHUB_URL` and `EVALHUB_TOKEN` (Settings, Tokens) first.

# %%
import os

from evalhub_client import Client, ProgressBar

SITE = os.environ.get("EVALHUB_URL", $site)

# %% [markdown]
# $about

# %%
LAUNCH = $launch

# %%
evalhub = Client(SITE)
launch = evalhub.launch(**LAUNCH)
runs = evalhub.wait(launch["runs"], watch=ProgressBar())

# %%
for run in runs:
    results = evalhub.results(run["id"])
    passed = sum(result["outcome"] == "passed" for result in results)
    scored = sum(result["outcome"] in ("passed", "failed") for result in results)
    total = len(results)
    print(f"{SITE}{run['page']}: {passed} of {scored} scored passed, {total} in all")
    for result in results:
        if result["outcome"] != "passed":
            print(f"  test {result['test']}: {result['outcome']}")
""")


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
