"""Larger programs composed of small ones by a dispatch table. Pure.

Each program becomes a part that is named by its number, and the table calls the parts in order.
The programs are not run, here or later: what counts is that they can be read as one.
"""

import re
from collections.abc import Callable, Sequence
from textwrap import indent

IMPORT = re.compile(r"^\s*(?:import|package)\s[^;\n]*;[ \t]*\n?", re.MULTILINE)
INCLUDE = re.compile(r"^\s*#\s*include[^\n]*\n?|^\s*using namespace std;[ \t]*\n?", re.MULTILINE)
MAIN_CLASS = re.compile(r"class\s+(\w+)[^{]*\{(?:(?!\bclass\b).)*?\bmain\s*\(", re.DOTALL)
PROGRAM_ID = re.compile(r"(PROGRAM-ID\.\s*)[\w-]+", re.IGNORECASE)


def compose(key: str, programs: Sequence[str]) -> str:
    """Return one program of several, by the key of their kind: one of COMPOSERS."""
    return COMPOSERS[key](programs)


def _python(programs: Sequence[str]) -> str:
    parts = [
        f"def program_{n}():\n{indent(text.strip() or 'pass', '    ')}\n"
        for n, text in enumerate(programs, 1)
    ]
    table = ", ".join(f"{n}: program_{n}" for n in range(1, len(programs) + 1))
    call = "for number in sorted(PROGRAMS):\n    PROGRAMS[number]()"
    return "\n\n".join([*parts, f"PROGRAMS = {{{table}}}\n\n{call}\n"])


def _java(programs: Sequence[str]) -> str:
    found = [line.group().strip() for text in programs for line in IMPORT.finditer(text)]
    imports = [line for line in found if line.startswith("import")]
    needed = ["import java.util.Map;", "import java.util.TreeMap;"]
    parts = [
        f"    static class Program{n} {{\n{indent(IMPORT.sub('', text).strip(), ' ' * 8)}\n    }}"
        for n, text in enumerate(programs, 1)
    ]
    calls = [
        f"        programs.put({n}, () -> Program{n}.{_main_class(text)}.main(args));"
        for n, text in enumerate(programs, 1)
    ]
    lines = [
        *dict.fromkeys([*imports, *needed]),
        "",
        "class Composed {",
        "\n\n".join(parts),
        "",
        "    public static void main(String[] args) {",
        "        Map<Integer, Runnable> programs = new TreeMap<>();",
        *calls,
        "        programs.values().forEach(Runnable::run);",
        "    }",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _main_class(text: str) -> str:
    found = MAIN_CLASS.search(text)
    return found.group(1) if found else "Main"


def _cpp(programs: Sequence[str]) -> str:
    includes = dict.fromkeys(
        found.group().strip() for text in programs for found in INCLUDE.finditer(text)
    )
    first = [line for line in includes if line.startswith("#")]
    rest = [line for line in includes if not line.startswith("#")]
    parts = [
        f"namespace program_{n} {{\n{INCLUDE.sub('', text).strip()}\n}}"
        for n, text in enumerate(programs, 1)
    ]
    table = ", ".join(f"program_{n}::main" for n in range(1, len(programs) + 1))
    last = [
        "using Program = int (*)();",
        f"const Program programs[] = {{{table}}};",
        "int main() {\n  for (Program program : programs) program();\n  return 0;\n}",
    ]
    return "\n\n".join(["\n".join([*first, *rest]), *parts, *last]).lstrip() + "\n"


def _cobol(programs: Sequence[str]) -> str:
    numbers = range(1, len(programs) + 1)
    calls = "\n".join(f"               WHEN {n} CALL 'PROGRAM-{n}'" for n in numbers)
    head = f"""\
       IDENTIFICATION DIVISION.
       PROGRAM-ID. COMPOSED.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 PROGRAM-NUMBER PIC 9(4).
       PROCEDURE DIVISION.
           PERFORM VARYING PROGRAM-NUMBER FROM 1 BY 1
               UNTIL PROGRAM-NUMBER > {len(programs)}
             EVALUATE PROGRAM-NUMBER
{calls}
             END-EVALUATE
           END-PERFORM
           STOP RUN.
       END PROGRAM COMPOSED.
"""
    parts = [
        PROGRAM_ID.sub(rf"\g<1>PROGRAM-{n}", text.strip("\n")) for n, text in enumerate(programs, 1)
    ]
    return "\n\n".join([head, *parts]) + "\n"


COMPOSERS: dict[str, Callable[[Sequence[str]], str]] = {
    "python": _python,
    "java": _java,
    "cpp": _cpp,
    "cobol": _cobol,
}
"""Composers by the key of a kind of code."""
