"""A site under a fault: its processes, its run, and what the provider and the database counted."""

import re
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from django.db import Error, connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import IntegerField

from evalhub.models import BatchState, Call, CallRole, ItemState, Worker
from evalhub.work.processes.queue import request_worker
from runs.models import Answer, Judgment, JudgmentState, ResultScore, Run
from tests import factories
from tests.chaos.databases import Database
from tests.evalhub.work import processes
from tests.evalhub.work.processes import Popen, eventually
from tests.provider import Json, Provider, Reply, answer_or_judge, lognormal, prompt

TESTS, JUDGES, WIDTH = 60, 2, 8
WANTED = TESTS * (1 + JUDGES)
LATENCIES_MS = lognormal(seed=13, n=997, median_ms=400, sigma=0.4)
TIMEOUT_S = 5
FREEZE_S = 0.5
"""Time for requests and commits that a stopped process has sent to be noted."""

SAVE_WITHIN_S = 1.0
"""A call is in flight until its reply has arrived and could be saved."""

Key = tuple[str, int]
"""A call: the model that is asked, and the number of the test."""

T = TypeVar("T")
over = (BatchState.DONE, BatchState.FAILED, BatchState.CANCELLED)


def key_of(request: Json) -> Key:
    found = re.search(r"What is (\d+) \+ 2", prompt(request))
    assert found, request
    return str(request["model"]), int(found[1])


class Site:
    """A database, a provider, process trees, and the run that they work on.

    `in_flight` are the calls of processes that died or lost their leases, up to the moment at which
    their replies could be saved, and `killed` those of them whose replies nobody can save any more.
    `problems` are what else went wrong; `ended_at` is when the fault was over.
    """

    def __init__(self, database: Database, folder: Path, stack: ExitStack) -> None:
        self.database, self.folder, self.stack = database, folder, stack
        self.trees: list[Popen] = []
        self.environment: dict[str, str] = {}
        self.fault: Reply | None = None
        self.headers: dict[str, str] = {}
        self.refused: Counter[Key] = Counter()
        self.answered_at: dict[Key, list[float]] = defaultdict(list)
        self.in_flight: Counter[Key] = Counter()
        self.killed: Counter[Key] = Counter()
        self.problems: list[str] = []
        self.ended_at = 0.0
        self.provider = Provider(self.reply, latency_ms=LATENCIES_MS)
        self.run: Run
        self.numbers: dict[int, int] = {}

    def reply(self, request: Json) -> Reply:
        if self.fault is not None:
            self.refused[key_of(request)] += 1
            return self.fault
        self.answered_at[key_of(request)].append(time.monotonic())
        return Reply(text=answer_or_judge(request), headers=self.headers)

    # Processes -------------------------------------------------------------------------------

    def start(
        self, *command: str, workers: int = 1, before: Collection[str] = (), **environment: str
    ) -> Popen:
        """Start `manage.py worker`, or another command, as a tree of its own."""
        tree = processes.running(
            self.folder / "worker.log",
            "manage.py",
            *(command or ("worker",)),
            before=list(before),
            DATABASE_URL=self.database.url,
            EVALHUB_ALLOWED_ADDRESSES="127.0.0.1",
            EVALHUB_WORKERS=str(workers),
            EVALHUB_LOG_LEVEL="INFO",
            **(self.environment | environment),
        )
        self.trees.append(self.stack.enter_context(tree))
        return self.trees[-1]

    def freeze(self, pids: Collection[int]) -> None:
        for pid in pids:
            processes.kill(pid, signal.SIGSTOP)
        time.sleep(FREEZE_S)

    def kill(self, pids: Collection[int], also_die: Collection[int] = ()) -> None:
        """SIGKILL processes; those that must die with them are stopped until then."""
        everyone = [*pids, *also_die]
        self.freeze(everyone)
        self.note_killed()
        for pid in pids:
            processes.kill(pid)
        self.expect_gone(everyone)

    def expect_gone(self, pids: Collection[int], within_s: float = 5.0) -> None:
        try:
            eventually(lambda: not processes.living(list(pids)), "the end of processes", within_s)
        except TimeoutError:
            self.problems.append(f"{len(processes.living(list(pids)))} processes left")

    def worker(self, tree: Popen, state: str = "processing") -> int:
        """The worker process of a tree that is `processing` a task, or `idle`."""
        found = eventually(lambda: processes.titled(tree.pid, state), f"a worker {state}")
        return found[0]

    # The run ---------------------------------------------------------------------------------

    def launch(self) -> None:
        names = ["candidate", *(f"judge-{n}" for n in range(1, JUDGES + 1))]
        models = [
            factories.make_model(
                name=name,
                litellm_model=f"openai/{name}",
                api_base=self.provider.base_url,
                max_concurrency=WIDTH,
                timeout_s=TIMEOUT_S,
            )
            for name in names
        ]
        issue, template = factories.make_issue(), factories.make_template()
        tests = [
            factories.make_test(f"What is {n} + 2?", issue=issue, template=template)
            for n in range(TESTS)
        ]
        jury = factories.make_jury(*models[1:])
        self.run = factories.make_run(*tests, model=models[0], jury=jury)
        numbers = {test.pk: n for n, test in enumerate(tests)}
        self.numbers = {
            pk: numbers[test] for pk, test in self.run.results.values_list("pk", "test")
        }
        request_worker()

    def ask_for_worker(self) -> None:
        self.read(request_worker)

    def wait_for_calls(self, number: int) -> None:
        eventually(lambda: self.provider.total >= number, f"{number} calls")

    def states(self) -> list[str]:
        """The states of the run and its judge run."""
        return [Run.objects.get(pk=self.run.pk).state, self.run.judge_runs.get().state]

    def is_over(self) -> bool:
        return all(state in over for state in self.states())

    def expect_unfinished(self) -> None:
        """A fault that the run has not felt is none."""
        if self.read(self.is_over):
            self.problems.append("the run was over before the fault")

    # What was counted ------------------------------------------------------------------------

    def read(self, query: Callable[[], T]) -> T:
        """Read on a new connection, as the last one may have been ended."""
        deadline = time.monotonic() + 30
        while True:
            connections.close_all()
            try:
                return query()
            except Error:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def asked(self) -> Counter[Key]:
        return Counter(map(key_of, list(self.provider.requests)))

    def recorded(self) -> Counter[Key]:
        """Calls in the database, failed ones too."""
        results = dict(ResultScore.objects.values_list("pk", "result"))
        rows = Call.objects.values_list("language_model__name", "role", "item_id")
        return Counter(
            (name, self.numbers[results[item] if role == CallRole.JUDGE else item])
            for name, role, item in rows
        )

    def unrecorded(self) -> Counter[Key]:
        """Requests that reached the provider and of which nothing is recorded."""
        return self.asked() - self.read(self.recorded)

    def note_in_flight(self, numbers: Collection[int] | None = None) -> Counter[Key]:
        """Count what is in flight in processes that have just been frozen.

        Args:
            numbers: Of these tests alone; None: of all.
        """
        since = time.monotonic() - FREEZE_S - SAVE_WITHIN_S
        asked, found = self.asked(), Counter[Key]()
        for key, lacking in self.unrecorded().items():
            times = self.answered_at[key]
            recent = asked[key] - len(times) + sum(at > since for at in times)
            if numbers is None or key[1] in numbers:
                found[key] = min(lacking, recent)
        self.in_flight += found
        return found

    def note_killed(self, numbers: Collection[int] | None = None) -> None:
        self.killed += self.note_in_flight(numbers)

    def repeated(self) -> Counter[Key]:
        """Calls that were made again although the provider had answered, or was about to."""
        good = self.asked() - self.refused
        return good - Counter(good.keys())

    def lost_replies(self) -> int:
        return (self.unrecorded() - self.killed).total()

    def lost_work(self) -> int:
        """Answers and judgments that the run lacks at its end."""
        judged = Judgment.objects.exclude(state=JudgmentState.FAILED).count()
        return WANTED - Answer.objects.count() - judged

    def workers(self) -> list[int]:
        """The keys of all workers that have registered, the first one first."""
        return list(Worker.objects.order_by("pk").values_list("pk", flat=True))

    def leased_to(self, worker: int) -> list[int]:
        """The numbers of the tests that a worker row holds."""
        results = list(self.run.results.filter(worker=worker).values_list("pk", flat=True))
        scores = ResultScore.objects.filter(worker=worker).values_list("result", flat=True)
        return [self.numbers[pk] for pk in {*results, *scores}]

    def leased(self) -> int:
        pending = {"state": ItemState.PENDING, "worker__isnull": False}
        return (
            self.run.results.filter(**pending).count()
            + ResultScore.objects.filter(**pending).count()
        )

    @contextmanager
    def column(self, *, null: bool) -> Iterator[None]:
        """Add a column that no worker knows, as a migration does; take it back at the end."""
        connections.close_all()
        column = IntegerField(null=True) if null else IntegerField(default=0)
        column.set_attributes_from_name("unknown")
        migrations = MigrationRecorder(connection)
        with connection.schema_editor() as editor:
            editor.add_field(Judgment, column)
            migrations.record_applied("runs", "9999_unknown")
        yield
        connections.close_all()
        with connection.schema_editor() as editor:
            editor.remove_field(Judgment, column)
            migrations.record_unapplied("runs", "9999_unknown")

    @contextmanager
    def provider_fails(self, fault: Reply) -> Iterator[None]:
        self.fault = fault
        yield
        self.fault = None
