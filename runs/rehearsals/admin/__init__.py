from runs.rehearsals.admin.rehearsal import RehearsalAdmin

__all__ = ["RehearsalAdmin"]
