"""More runs for a workspace: copies of those that were generated, written by COPY.

Generating ten million results takes hours, copying a million of them nine times takes minutes. Each
copy is a period later than the one before it, with releases of its own; the newest copy ends where
the generated runs ended.
"""

import sys
from collections.abc import Mapping

import psycopg

PERIOD_DAYS = 181
Columns = Mapping[str, str]
"""SQL of the columns that differ in a copy; {by} is what the ids of a table are raised by."""

PARTS: dict[str, Columns] = {
    "runs_run": {
        "id": "id + {runs_run}",
        "label": "replace(label, 'release 1.', 'release {release}.')",
        "release": "replace(release, '1.', '{release}.')",
        "created_at": "created_at + {later}",
        "started_at": "started_at + {later}",
        "finished_at": "finished_at + {later}",
    },
    "runs_judgerun": {
        "id": "id + {runs_judgerun}",
        "run_id": "run_id + {runs_run}",
        "created_at": "created_at + {later}",
        "started_at": "started_at + {later}",
        "finished_at": "finished_at + {later}",
    },
    "runs_result": {"id": "id + {runs_result}", "run_id": "run_id + {runs_run}"},
    "runs_answer": {"result_id": "result_id + {runs_result}"},
    "runs_resultscore": {
        "id": "id + {runs_resultscore}",
        "judge_run_id": "judge_run_id + {runs_judgerun}",
        "result_id": "result_id + {runs_result}",
    },
    "runs_judgment": {
        "id": "id + {runs_judgment}",
        "judge_run_id": "judge_run_id + {runs_judgerun}",
        "result_id": "result_id + {runs_result}",
    },
    "runs_humanevaluation": {
        "id": "id + {runs_humanevaluation}",
        "result_id": "result_id + {runs_result}",
        "created_at": "created_at + {later}",
    },
}


def copy_runs(url: str, times: int) -> None:
    """Add so many copies of all runs, with what belongs to them, to a workspace on PostgreSQL."""
    with psycopg.connect(url, autocommit=True) as reader, psycopg.connect(url) as writer:
        ids = {table: _highest_id(reader, table) for table in PARTS if table != "runs_answer"}
        # Rows are copies of rows that were checked: no foreign key is checked again.
        writer.execute("SET session_replication_role = replica")
        for number in range(1, times + 1):
            values = {table: str(number * highest) for table, highest in ids.items()}
            values["later"] = f"interval '{number * PERIOD_DAYS} days'"
            values["release"] = str(1 + number)
            for table, changed in PARTS.items():
                where = f"WHERE result_id <= {ids['runs_result']}"
                if table != "runs_answer":
                    where = f"WHERE id <= {ids[table]}"
                _copy(reader, writer, table, changed, values, where)
            writer.commit()
            sys.stderr.write(f"copy {number} of {times}\n")
        earlier = f"interval '{times * PERIOD_DAYS} days'"
        for table, columns in PARTS.items():
            shifted = [name for name in columns if name.endswith("_at")]
            if shifted:
                moved = ", ".join(f"{name} = {name} - {earlier}" for name in shifted)
                writer.execute(f"UPDATE {table} SET {moved}")
        for table in ids:
            writer.execute(
                f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table}"
            )
        writer.commit()
        reader.execute("VACUUM ANALYZE")


def _highest_id(connection: psycopg.Connection, table: str) -> int:
    row = connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def _copy(
    reader: psycopg.Connection,
    writer: psycopg.Connection,
    table: str,
    changed: Columns,
    values: Mapping[str, str],
    where: str,
) -> None:
    """Read the rows with other ids and write them, in the database's own form."""
    columns = [
        name
        for (name,) in reader.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 "
            "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [table],
        )
    ]
    names = ", ".join(f'"{name}"' for name in columns)
    taken = ", ".join(
        changed[name].format_map(values) if name in changed else f'"{name}"' for name in columns
    )
    source = f"COPY (SELECT {taken} FROM {table} {where}) TO STDOUT"
    target = f"COPY {table} ({names}) FROM STDIN"
    with reader.cursor().copy(source) as rows, writer.cursor().copy(target) as written:
        for block in rows:
            written.write(block)


if __name__ == "__main__":
    copy_runs(sys.argv[1], int(sys.argv[2]))
