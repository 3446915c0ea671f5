"""Prints one table of all simulations, and ends with 1 where a bound is missed."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tests.bench.validity import checks

DRAWS = 10_000
"""Draws of each simulation; the standard error of a share of 0.95 is then 0.2 points."""


def main(named: Sequence[str], draws: int = DRAWS) -> int:
    """Measure all, or those whose names begin with one of these; 2 where none does."""
    table = Table("simulation", "measured", "bound", "holds", title="Conclusions, simulated")
    missed = 0
    for check in checks():
        if named and not check.name.startswith(tuple(named)):
            continue
        figure = check.measure(draws)
        missed += not check.holds(figure)
        holds = "–" if check.caveat else "yes" if check.holds(figure) else "NO"
        table.add_row(check.name, f"{figure:.1%}", check.bound, holds)
    if not table.rows:
        print(f"No simulation is named {', '.join(named)} …; without a name, all are run.")
        return 2
    Console(width=110).print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
