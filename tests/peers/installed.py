"""The peers, each installed apart from us: in an environment or npm folder of its own.

They are what the bench compares with and what makes the files that the importers are tested on.
"""

import json
import subprocess
from pathlib import Path

import dev

FOLDER = dev.ROOT / ".peers"
PYTHON_PACKAGES = {
    "inspect": ("inspect-ai==0.3.285", "openai==3.57.0"),
    "lm_eval": ("lm_eval[api]==0.4.13",),
    "traces": (
        "arize-phoenix==20.26.1",
        "langfuse==5.0.4",
        "openai==3.57.0",
        "openinference-instrumentation-openai==0.1.66",
    ),
}
NPM_PACKAGES = {"promptfoo": {"promptfoo": "0.121.20"}}
STAMP = "installed.json"


def is_installed(name: str) -> bool:
    stamp = FOLDER / name / STAMP
    return stamp.exists() and stamp.read_text() == _wanted(name)


def install(name: str) -> None:
    """Install a peer unless it is there; ends the program where that is not possible."""
    if is_installed(name):
        return
    dev.say(f"Installing {name} into {FOLDER.name}/{name}, which can take minutes ...")
    if name in NPM_PACKAGES:
        _install_from_npm(FOLDER / name, NPM_PACKAGES[name])
    else:
        dev.tool(*PYTHON_PACKAGES[name], folder=FOLDER / name)
    (FOLDER / name / STAMP).write_text(_wanted(name))


def python(name: str) -> Path:
    return FOLDER / name / dev.PYTHON.relative_to(dev.VENV)


def script(package: str, path: str) -> Path:
    """A file of a package that npm installed."""
    return FOLDER / package / "node_modules" / package / path


def _wanted(name: str) -> str:
    return json.dumps(NPM_PACKAGES.get(name) or PYTHON_PACKAGES[name])


def _install_from_npm(folder: Path, packages: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": packages}))
    options = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
    try:
        done = subprocess.run(["npm", "install", *options], cwd=folder, check=False).returncode
    except FileNotFoundError:
        raise SystemExit("There is no npm: apt-get install nodejs npm") from None
    if done:
        raise SystemExit(f"{', '.join(packages)} could not be installed; npm says why above.")
