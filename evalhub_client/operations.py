"""What a script does with the site, as flows of requests. `Client` and `AsyncClient` run them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic
from typing import Any, Literal, NamedTuple, Unpack
from uuid import uuid4

from evalhub_client.errors import EvalHubError, NotDone
from evalhub_client.flow import Flow, Pause, Request, sent
from evalhub_client.result_rows import row_of
from evalhub_client.shapes import (
    FeedbackBatchResult,
    GateResult,
    ImportedAnswerBody,
    Launch,
    Run,
    RunProgress,
    Test,
)
from evalhub_client.shapes import LaunchSpecRequest as LaunchSpec
from evalhub_client.test_files import body_of

Body = Mapping[str, Any]
Watch = Callable[[Sequence[RunProgress]], object]
NAMED = {
    "suites": "suite",
    "juries": "jury",
    "language-models": "language model",
    "tags": "tag",
}
"""Lists whose rows are found by name, and how a row of each is called."""

LONGEST_PAGE = 1000
MOST_FEEDBACK, MOST_TESTS = 500, 200
GATE_WAIT_S = 20
"""Longest time for which the site holds a request to the gate."""

FIRST_POLL_S, LONGEST_POLL_S = 1.0, 10.0


class GateReport(NamedTuple):
    """A gate's decision as text; `exit` is 0 all rules hold, 1 one does not, 2 cannot tell."""

    exit: int
    text: str


class Operations:
    """The operations of a client. `retries`: how often a failed request is sent again."""

    def __init__(self, retries: int) -> None:
        self.retries = retries

    def _json(self, request: Request) -> Flow[Any]:
        reply = yield from sent(request, self.retries)
        if not reply.content:
            return None
        try:
            return reply.json()
        except ValueError:
            kind = reply.headers.get("Content-Type", "something else")
            raise EvalHubError(f"{reply.request.url} answered {kind}, not JSON.") from None

    # Any address ----------------------------------------------------------------------------------

    def get(self, path: str, /, **params: Any) -> Flow[Any]:
        """Return the JSON at an address below `/api/v1/`, such as `runs/12/report/`."""
        return (yield from self._json(Request("GET", path, params, repeatable=True)))

    def post(self, path: str, body: Any = None, *, idempotency_key: str = "") -> Flow[Any]:
        """POST and return the JSON of the response.

        Args:
            body: JSON; None for none.
            idempotency_key: Your name for this request: sent again with it within a day, nothing
                is done twice. Without one, each call has its own, so that its repeats are safe.
        """
        headers = {"Idempotency-Key": idempotency_key or uuid4().hex}
        request = Request("POST", path, body=body, headers=headers, repeatable=True)
        return (yield from self._json(request))

    def patch(self, path: str, body: Body, *, if_match: str = "") -> Flow[Any]:
        """PATCH and return the row; with `if_match`, only if its ETag is still that."""
        headers = {"If-Match": if_match} if if_match else None
        return (yield from self._json(Request("PATCH", path, body=body, headers=headers)))

    def page(self, path: str, params: Body | str) -> Flow[tuple[list[Any], str]]:
        """Return a page of a list, and the query of its next page or ""."""
        page = yield from self._json(Request("GET", path, params, repeatable=True))
        # Only the query: the token goes to no other host, whatever a proxy makes of addresses.
        return page["results"], (page["next"] or "").partition("?")[2]

    def all(self, path: str, /, **filters: Any) -> Flow[list[Any]]:
        """Return all rows of a list, page by page."""
        found: list[Any] = []
        query: Body | str = {"page_size": LONGEST_PAGE, **filters}
        while query:
            rows, query = yield from self.page(path, query)
            found += rows
        return found

    def find(self, path: str, name: str | int) -> Flow[int]:
        """Return the id of the row with this name, or of this id.

        Raises:
            EvalHubError: There is none, or there are several.
        """
        if isinstance(name, int) or (name.isascii() and name.isdigit()):
            return int(name)
        kind = NAMED[path]
        rows = yield from self.all(f"{path}/", name=name)
        if len(rows) != 1:
            ids = ", ".join(str(row["id"]) for row in rows)
            known = f"Several are called {name!r}: give one of the ids {ids}."
            raise EvalHubError(known if rows else f"There is no {kind} {name!r}.")
        return int(rows[0]["id"])

    # Runs -----------------------------------------------------------------------------------------

    def launch(self, *, idempotency_key: str = "", **spec: Unpack[LaunchSpec]) -> Flow[Launch]:
        """Start one run for each model, system prompt and temperature; `runs` has their ids."""
        launch: Launch = yield from self.post("runs/", spec, idempotency_key=idempotency_key)
        return launch

    def run(self, run: int) -> Flow[Run]:
        """Return a run."""
        found: Run = yield from self.get(f"runs/{run}/")
        return found

    def progress(self, run: int) -> Flow[RunProgress]:
        """Return how far a run is: small, to be polled."""
        found: RunProgress = yield from self.get(f"runs/{run}/progress/")
        return found

    def wait(
        self,
        runs: int | Iterable[int],
        *,
        timeout_s: float | None = None,
        watch: Watch | None = None,
    ) -> Flow[list[Run]]:
        """Return the runs as soon as none is at work: done, paused, failed or cancelled.

        Args:
            timeout_s: None waits as long as it takes.
            watch: Is called with the progress of each run, again and again.

        Raises:
            NotDone: The time is over; the runs go on.
        """
        numbers = [runs] if isinstance(runs, int) else list(runs)
        until = None if timeout_s is None else monotonic() + timeout_s
        pause_s = FIRST_POLL_S
        while True:
            progress = []
            for number in numbers:
                progress.append((yield from self.progress(number)))
            if watch is not None:
                watch(progress)
            if not any(one["is_live"] for one in progress):
                break
            if until is not None and monotonic() >= until:
                named = ", ".join(map(str, numbers))
                raise NotDone(f"Not done after {timeout_s:g} s: run {named}. It goes on.")
            yield Pause(pause_s)
            pause_s = min(pause_s * 1.2, LONGEST_POLL_S)
        found = []
        for number in numbers:
            found.append((yield from self.run(number)))
        return found

    def results(self, run: int, /, **filters: Any) -> Flow[list[dict[str, Any]]]:
        """Return the results of a run as flat rows: `pandas.DataFrame(client.results(12))`.

        Each has label, release and model of its run, and the test's `source_id`; None is not
        measured. Filters are those of the list of results, such as `outcome=["failed", "error"]`.
        """
        yield from self.run(run)  # which refuses one that is not there
        rows = yield from self.all("results/", run=run, **filters)
        return [row_of(row) for row in rows]

    # The gate -------------------------------------------------------------------------------------

    def gate(
        self,
        run: int | str,
        *,
        against: int | str = "",
        policy: Body | None = None,
        wait_s: float = 0,
    ) -> Flow[GateResult]:
        """Decide whether a run passes; `exit` is 0 all rules hold, 1 one does not, 2 cannot tell.

        Args:
            run: Its id or label; `against` likewise, by default the baseline of its suite.
            policy: Rules that replace the suite's; None turns a rule off.
            wait_s: How long to wait for a run that is still at work.
        """
        until = monotonic() + wait_s
        while True:
            left_s = max(0.0, until - monotonic())
            body = _gate_body(run, against, policy) | {"wait": int(min(GATE_WAIT_S, left_s))}
            request = Request("POST", "gates/", body=body, repeatable=True)
            reply = yield from sent(request, self.retries)
            result: GateResult = reply.json()
            if not result["is_running"] or monotonic() >= until:
                return result
            asked_s = float(reply.headers.get("Retry-After", FIRST_POLL_S))
            yield Pause(min(asked_s, max(0.0, until - monotonic())))

    def gate_report(
        self,
        run: int | str,
        format: Literal["junit", "markdown", "text"],
        *,
        against: int | str = "",
        policy: Body | None = None,
    ) -> Flow[GateReport]:
        """Return the decision as a document."""
        body = _gate_body(run, against, policy)
        request = Request("POST", "gates/", {"format": format}, body=body, repeatable=True)
        reply = yield from sent(request, self.retries)
        return GateReport(int(reply.headers["Gate-Exit"]), reply.text)

    # Tests, answers, feedback ---------------------------------------------------------------------

    def move(self, path: str, move: str, /, **sent: Any) -> Flow[Any]:
        """Change the state of a row, such as `client.move("issues/4/", "approve")`."""
        return (yield from self.post(f"{path.rstrip('/')}/move/", {"move": move, **sent}))

    def push_tests(self, tests: Iterable[Body]) -> Flow[dict[str, list[int]]]:
        """Create tests, or change those of the same `source_id`: 200 at a time, each all or none.

        Nothing is changed in a test that is as sent. A change of an approved test sends it back to
        review.

        Returns:
            The ids of those `made`, `changed` and the `same` before.

        Raises:
            ApiError: Names each row that is wrong.
        """
        pushed: dict[str, list[int]] = {"made": [], "changed": [], "same": []}
        rows = list(tests)
        for start in range(0, len(rows), MOST_TESTS):
            answer = yield from self.post("tests/bulk/", rows[start : start + MOST_TESTS])
            for row in answer["results"]:
                pushed[row["outcome"]].append(row["id"])
        return pushed

    def pull_tests(self, /, **filters: Any) -> Flow[list[dict[str, Any]]]:
        """Return tests as `push_tests` takes them, oldest first."""
        rows: list[Test] = yield from self.all("tests/", **filters)
        return [body_of(row) for row in reversed(rows)]

    def push_answers(
        self,
        answers: Sequence[ImportedAnswerBody],
        *,
        idempotency_key: str = "",
        **spec: Unpack[LaunchSpec],
    ) -> Flow[Run]:
        """Make a run of answers made elsewhere, which its jury judges like any others."""
        body = {**spec, "answers": list(answers)}
        path = "runs/import_answers/"
        run: Run = yield from self.post(path, body, idempotency_key=idempotency_key)
        return run

    def send_feedback(self, feedback: Sequence[Body]) -> Flow[FeedbackBatchResult]:
        """Send feedback of any number of rows, 500 at a time."""
        total: FeedbackBatchResult = {"added": 0, "duplicates": 0, "results": []}
        for start in range(0, len(feedback), MOST_FEEDBACK):
            rows = list(feedback[start : start + MOST_FEEDBACK])
            answer: FeedbackBatchResult = yield from self.post(
                "feedback/batch/", {"feedback": rows}
            )
            total["added"] += answer["added"]
            total["duplicates"] += answer["duplicates"]
            total["results"] += answer["results"]
        return total


def _gate_body(run: int | str, against: int | str, policy: Body | None) -> dict[str, Any]:
    return {"run": str(run), "against": str(against), "policy": dict(policy or {})}
