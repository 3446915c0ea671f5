"""A Python script with cells as a Jupyter notebook. Pure.

A cell begins with a line `# %%`, one of prose with `# %% [markdown]`, as editors know it.
"""

import json
from typing import Any

CELL = "# %%"
PROSE = "# %% [markdown]"


def notebook_of(script: str) -> str:
    """Return the notebook, in format 4.5, without outputs."""
    cells = [_cell(number, text) for number, text in enumerate(_parts(script), 1)]
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _parts(script: str) -> list[list[str]]:
    parts: list[list[str]] = []
    for line in script.strip().splitlines():
        if line.startswith(CELL):
            parts.append([])
        elif not parts:
            parts.append([CELL])
        parts[-1].append(line)
    return parts


def _cell(number: int, part: list[str]) -> dict[str, Any]:
    is_prose = part[0].startswith(PROSE)
    text = "\n".join(part[1:]).strip()
    if is_prose:
        text = "\n".join(line.removeprefix("#").removeprefix(" ") for line in text.splitlines())
    cell: dict[str, Any] = {
        "id": f"cell-{number}",
        "cell_type": "markdown" if is_prose else "code",
        "metadata": {},
        "source": text.splitlines(keepends=True),
    }
    return cell if is_prose else cell | {"execution_count": None, "outputs": []}
