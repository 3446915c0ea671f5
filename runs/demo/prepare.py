"""Data of the demo: sample data, a model to call, and its runs."""

import os
import secrets
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.utils import get_random_secret_key
from django.utils import timezone
from django.utils.module_loading import import_string

from evalhub.llm import local_model
from evalhub.models import LanguageModel, User
from issues.models import Test
from issues.sample_data import load_sample
from runs.demo.plan import DATES
from runs.importers.weval.batch_import import import_all
from runs.importers.weval.blueprint.files import find
from runs.judging.jury_builder import JuryBuilder
from runs.launching.launch import launch
from runs.launching.launch_options import read_spec
from runs.models import Jury, Result, Run

LABEL = "Demo"
BLUEPRINT = Path(__file__).with_name("sample") / "library_desk.yml"
LOGIN = "admin"
AUTHOR = "sample-maintainer"
NOTE = (
    "A model of 135 million parameters judges at chance: its verdicts show how judging works, "
    "not how good an answer is."
)

# Secrets -----------------------------------------------------------------------------------------


def secret_key_file() -> Path:
    """Return a file with a secret key, created on first use."""
    path = settings.DATA_DIR / "secret_key"
    kept(path, get_random_secret_key)
    return path


def kept(path: Path, make: Callable[[], str]) -> str:
    """Return the content of a file that only its owner may read; create it if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    with os.fdopen(descriptor, "w") as file:
        file.write(secret := make())
    return secret


def admin() -> tuple[User, str]:
    """Return the demo's user and password; "" if the password was changed."""
    password = kept(settings.DATA_DIR / "admin_password", lambda: secrets.token_urlsafe(12))
    user = User.objects.filter(username=LOGIN).first()
    if user is None:
        user = User.objects.create_superuser(LOGIN, password=password)
    return user, password if user.check_password(password) else ""


def author() -> User:
    """Return the user who made the demo's data, so that whoever logs in has done nothing yet."""
    found = User.objects.filter(username=AUTHOR).first()
    return found or User.objects.create_user(AUTHOR, is_active=False)


# The model ---------------------------------------------------------------------------------------


def is_embedded() -> bool:
    """Return whether the demo serves its own model."""
    return not settings.EVALHUB_DEMO_MODEL


def allowed_address(model_port: int) -> str:
    """Return the address of the demo's model for EVALHUB_ALLOWED_ADDRESSES; "" if public.

    Who sets the demo's base URL means it to be called.
    """
    if is_embedded():
        return f"{local_model.HOST}:{model_port}"
    url = urlsplit(settings.EVALHUB_DEMO_BASE_URL)
    port = url.port or (443 if url.scheme == "https" else 80)
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    return f"{host}:{port}" if url.hostname else ""


def model() -> LanguageModel:
    """Return the demo's model; keep users' changes except to its address.

    Raises:
        ValidationError: The settings do not make a model that can be called.
    """
    wanted: dict[str, Any] = {
        "name": settings.EVALHUB_DEMO_MODEL,
        "litellm_model": settings.EVALHUB_DEMO_MODEL,
        "api_base": settings.EVALHUB_DEMO_BASE_URL,
        "api_key_env": settings.EVALHUB_DEMO_KEY_VARIABLE,
    }
    if is_embedded():
        wanted = {
            "name": "SmolLM2 135M (embedded)",
            "developer": "Hugging Face",
            "family": "SmolLM2",
            "litellm_model": local_model.LITELLM_MODEL,
            "api_base": local_model.base_url(settings.EVALHUB_MODEL_PORT),
            "params": {"max_tokens": 128, "temperature": 0},
            "max_concurrency": local_model.SLOTS,
            "judge_timeout_s": 120,
            "note": NOTE,
        }
    found = LanguageModel.objects.filter(name=wanted["name"]).first() or LanguageModel(**wanted)
    if found.pk is None or found.api_base != wanted["api_base"]:
        found.api_base = wanted["api_base"]
        found.full_clean()
        found.save()
    return found


# The history -------------------------------------------------------------------------------------


def load_history(user: User) -> None:
    """Load sample data of several models and releases, so that each report shows something."""
    for path in settings.EVALHUB_DEMO_HISTORY:
        import_string(path)(user)


# The runs ----------------------------------------------------------------------------------------


def prepare(user: User) -> list[Run]:
    """Load missing data; return the demo's runs, launched the first time.

    Raises:
        ValidationError: See `model`.
    """
    load_sample(user)
    candidate = model()
    if not (runs := _runs_of(candidate)):
        _launch(candidate, user)
        _launch_blueprint(candidate, user)
        runs = _runs_of(candidate)
    for path in settings.EVALHUB_DEMO_ALSO:
        import_string(path)(runs, user)
    return runs


def _runs_of(candidate: LanguageModel) -> list[Run]:
    return list(Run.objects.filter(language_model=candidate, launch__label=LABEL).order_by("pk"))


def _launch(candidate: LanguageModel, user: User) -> None:
    tests = Test.objects.runnable().filter(source_id__startswith="sample:")
    tests = tests.exclude(issue__source_id=f"sample:{DATES}")
    spec = {
        "label": LABEL,
        "tests": list(tests.values_list("pk", flat=True)),
        "models": [candidate.pk],
        "system_prompts": [
            "You are a helpful assistant. Answer in one or two sentences.",
            "Work out the answer step by step. Check it. Then say it in one sentence.",
        ],
        "jury": _jury(candidate).pk,
        "allow_self_evaluation": True,
    }
    launch(read_spec(spec), by=user)


def _launch_blueprint(candidate: LanguageModel, user: User) -> None:
    """Launch tests with rubrics: criteria, checks, alternatives, generated turns."""
    (outcome,) = import_all(find([BLUEPRINT]), by=user, approve=True)
    if outcome.loaded is None:
        raise ValueError(f"{BLUEPRINT} cannot be read: {outcome.problems}")
    suite = outcome.loaded.suite
    spec = {
        **suite.defaults,
        "label": f"{LABEL}: {suite}",
        "suite": suite.pk,
        "models": [candidate.pk],
        "jury": _jury(candidate).pk,
        "allow_self_evaluation": True,
    }
    launched = launch(read_spec(spec), by=user)
    # The sample goes first: its first judgments arrive soon.
    later = timezone.now() + timedelta(seconds=45)
    Result.objects.filter(run__launch=launched).update(next_try_at=later)


def _jury(judge: LanguageModel) -> Jury:
    """Return the default jury of the demo's model.

    One of its judges is asked about the sample's tests, which have no rubric: on two cores the
    embedded model has time for no more.
    """
    name = "Embedded judge" if is_embedded() else f"{judge.name} as judge"
    jury, is_new = Jury.objects.get_or_create(name=name)
    if is_new:
        # At temperature 0, the embedded model gives every answer the same verdict.
        params = {"temperature": 1} if is_embedded() else {}
        jury.judges.set(JuryBuilder([judge], params=params).judges())
    return jury
