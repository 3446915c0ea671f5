"""Criteria that come with a release: loaded once, upgraded unless the team changed them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalhub.values.digest import digest
from issues.models.library import CONTENT, LibraryCriterion, content_of, set_content

FOLDER = Path(__file__).parent / "builtin"
REASON = "Version {}: shipped with EvalHub"


def builtin_criteria() -> list[tuple[str, dict[str, Any]]]:
    """Return key and content of each criterion of this release."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]
    return [(row["key"], {name: row[name] for name in CONTENT}) for rows in files for row in rows]


@transaction.atomic
def load_builtin_criteria(
    criteria: Any = LibraryCriterion, versions: Any = None, *, shipped: Any = None
) -> Counter[str]:
    """Add missing criteria, upgrade unchanged ones, and propose the rest; count each.

    Args:
        criteria: The historical model when called by a migration.
        versions: The model of its history; None: that of `criteria`.
        shipped: Keys and contents; None: those of this release.
    """
    versions = versions or criteria.history.model
    rows = {row.key: row for row in criteria.objects.select_for_update()}
    done: Counter[str] = Counter()
    for key, content in builtin_criteria() if shipped is None else shipped:
        row = rows.get(key)
        if row is None:
            _store(criteria(key=key), content, versions, "+")
            done["added"] += 1
        elif row.shipped_digest == digest(content) or row.proposal == content:
            continue
        elif row.shipped_digest and row.shipped_digest == digest(content_of(row)):
            row.version += 1
            _store(row, content, versions, "~")
            done["upgraded"] += 1
        else:
            criteria.objects.filter(pk=row.pk).update(proposal=content)
            done["proposed"] += 1
    return done


def _store(row: Any, content: dict[str, Any], versions: Any, kind: str) -> None:
    """Save a row and its version without the model's own code, which a migration lacks."""
    set_content(row, content)
    row.shipped_digest, row.proposal = digest(content), None
    row.skip_history_when_saving = True
    row.save_base()
    names = {field.attname for field in versions._meta.concrete_fields}
    fields = [f.attname for f in row._meta.concrete_fields if f.attname in names]
    versions.objects.create(
        **{name: getattr(row, name) for name in fields},
        history_date=timezone.now(),
        history_type=kind,
        history_change_reason=REASON.format(row.version),
    )
