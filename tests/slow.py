"""Tests that only `dev.py test --all` runs, each with the fault that it alone finds."""

SLOW = {
    # A file, or a file and the beginning of its tests' names.
    "test_planted_word.py": "a search, filter or order of one list that tells sealed words",
    "test_query_leaks.py": "a lookup that no filter declares and that the address accepts",
    "test_sealed_everywhere.py::test_no_address": "an address that shows sealed words to one role",
    "test_sealed_everywhere.py::test_no_answer": "a refusal that repeats sealed words to one role",
    "test_sealed_everywhere.py::test_to_whom": "a reveal that opens more than its own test",
    "test_sealed_everywhere.py::test_who_may": "a sealed word that its own readers cannot find",
    "test_access_matrix.py::test_doors_are_open_to": "a role that enters where a higher may not",
    "test_access_matrix.py::test_plain_admin": "a page of the admin that ignores its model's right",
    "test_api_schema.py": "a reply that the schema does not describe, found by invented requests",
    "test_continuous_integration.py": "an instruction of the documents that does not work",
    "test_wheel.py": "a file or package that the wheel lacks",
    "test_validity.py": "an interval that does not cover, a conclusion drawn too often",
    "upgrade": "a migration that changes a figure of an older installation",
    "evalhub/test_api.py::test_the_schema_is_valid": "a schema that breaks the rules of OpenAPI",
    "evalhub/test_markup.py::test_hostile_code": "a language whose code is coloured for ever",
    "evalhub/test_unsaved_input.py::test_a_value_of": "a body of other kinds that the API fails on",
    "clients": "a schema from which other generators make no working client",
    "sample_data": "generated data that are not what they are said to be",
    "reports/gate/test_workflow.py": "a pipeline's file that does not run the gate",
    "runs/lifecycle/test_retention.py::test_no_page": "a page that breaks on a removed text",
    "runs/review/test_blind_everywhere.py::test_every_door": "a verdict shown and not recorded",
    "runs/review/test_blind_everywhere.py::test_no_page": "a page that tells a blind reviewer",
    "runs/review/test_pages.py::test_the_pages_take_as_many": "a queue that reads all its results",
    "runs/importers/weval/test_round_trip.py": "a blueprint that its import or export changes",
    "runs/laboratory/workbench/test_export.py::test_the_script": "a script that scores otherwise",
    "runs/laboratory/workbench/test_export.py::test_a_failure": "a script that scores errors",
    "runs/laboratory/trials/generation/test_generation.py::test_the_experiment": "a lost text",
    "runs/laboratory/trials/judges/test_trials.py::test_the_published": "a trial that counts amiss",
    "evalhub/llm/test_gateway.py::test_litellm_is_imported": "a provider that loads litellm late",
    "evalhub/llm/test_local_model.py::test_embedded": "a model server that does not answer",
    # Kills, which take half a minute each; `evalhub/work/test_kills.py` always runs.
    "evalhub/operations/test_restored_run.py": "a backup in which a run cannot go on",
    "issues/drafting/test_embedded_model.py": "drafts that a real model does not write in form",
    "runs/laboratory/tuning/test_kill.py": "an attempt that asks again what was saved",
    "runs/laboratory/trials/test_kill.py": "a stage that asks again what was saved",
    "runs/management/test_demo.py::test_the_demo_runs_on": "a demo that cannot start again",
}


def reason_of(node: str) -> str | None:
    """The fault that a test alone finds, by its name below `tests`; None where it always runs."""
    return next((why for start, why in SLOW.items() if node.startswith(start)), None)
