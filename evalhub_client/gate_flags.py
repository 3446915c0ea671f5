"""The flags of a gate's rules, for `evalhub gate` and `manage.py gate`."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

OFF = "off"


def share(text: str) -> float | str:
    """Parse a share such as 5% or 0.05."""
    if text == OFF:
        return OFF
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ArgumentTypeError(f"{text!r} is not a share from 0 to 1; example: 0.05.")
    return value


def amount(text: str) -> float | str:
    """Parse a limit."""
    if text == OFF:
        return OFF
    try:
        return float(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a number; example: 2.5.") from error


def number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError(f"{text!r} is not a whole number; example: 600.")
    return int(text)


def milliseconds(text: str) -> int | str:
    return OFF if text == OFF else number(text)


def switch(text: str) -> bool:
    if text not in ("on", OFF):
        raise ArgumentTypeError(f"{text!r} is neither on nor {OFF}.")
    return text == "on"


class Flag(NamedTuple):
    read: Callable[[str], Any]
    metavar: str


FLAGS: Mapping[str, Flag] = {
    "conclusion": Flag(switch, "on|off"),
    "level": Flag(share, "P"),
    "against_reference": Flag(switch, "on|off"),
    "blind_spot_points": Flag(amount, "POINTS"),
    "max_worsening_points": Flag(amount, "POINTS"),
    "max_net_loss_points": Flag(amount, "POINTS"),
    "failing_severity": Flag(str, "SEVERITY"),
    "min_pass_rate": Flag(share, "SHARE"),
    "max_p90_latency_ms": Flag(milliseconds, "MS"),
    "max_mean_cost_usd": Flag(amount, "USD"),
}


def add_flags(parser: ArgumentParser, help_of: Callable[[str], str]) -> None:
    """Add a flag for each rule."""
    for name, flag in FLAGS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=flag.read,
            metavar=flag.metavar,
            help=help_of(name).replace("%", "%%"),
        )


def changes_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rules that the flags set; None turns one off."""
    given = {name: options[name] for name in FLAGS if options[name] is not None}
    return {name: None if value == OFF else value for name, value in given.items()}
