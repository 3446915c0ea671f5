from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models.functions import Now

from evalhub.history import History
from evalhub.limits import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT_S, JUDGE_TIMEOUT_S, MAX_TIMEOUT_S
from evalhub.llm.applications.application_fields import ApplicationFields, ModelKind
from evalhub.llm.completion import Completion
from evalhub.llm.costs.prices import cache_price
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.parameters import parameter_problems
from evalhub.llm.security.address_policy import ForbiddenAddress, check_base_url
from evalhub.llm.security.key_policy import key_problem
from evalhub.model_parts import RowWithPage, known

environment_name = RegexValidator(
    r"^[A-Z][A-Z0-9_]*$",
    "Enter the name of an environment variable, such as OPENAI_API_KEY, never the key itself.",
)


PRICED = "US dollars per million tokens. Empty: not known, so cost is not measured."
PRICED_AS_LISTED = (
    "Empty: the share of the input price that LiteLLM lists for this model, else all of it."
)


def _price(
    name: str, help_text: str = PRICED
) -> "models.DecimalField[Decimal | str | float | None, Decimal | None]":
    return models.DecimalField(
        name,
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal(0))],
        help_text=help_text,
    )


class LanguageModelQuerySet(models.QuerySet["LanguageModel"]):
    def active(self) -> "LanguageModelQuerySet":
        return self.filter(is_active=True)

    def not_applications(self) -> "LanguageModelQuerySet":
        """Those that can judge, analyse, generate, repair and embed, not only be tested."""
        return self.filter(kind=ModelKind.MODEL)

    @transaction.atomic
    def remember_refused(self, pk: int, learnt: dict[str, Any]) -> None:
        """Add parameters that a model's endpoint refused to those stored."""
        rows = self.select_for_update().filter(pk=pk)
        for stored in rows.values_list("refused_params", flat=True):
            rows.update(refused_params={**stored, **learnt})


class LanguageModel(ApplicationFields, RowWithPage):
    """A callable endpoint, in the role of candidate, judge, analyst or generator.

    An HTTP application (`kind`) is a candidate only.

    Deactivated, never deleted: its old answers still refer to it.
    """

    name = models.CharField(max_length=100, unique=True, help_text="Name shown on pages.")
    developer = models.CharField(
        max_length=100, blank=True, help_text="Organisation that made the model."
    )
    family = models.CharField(max_length=100, blank=True, help_text="Models that share a design.")
    identity = models.CharField(
        max_length=100,
        blank=True,
        help_text="What leaderboards group by. Empty: derived from the name.",
    )
    litellm_model = models.CharField(
        "LiteLLM model",
        max_length=200,
        blank=True,
        help_text="Provider and model as LiteLLM names them, such as openai/gpt-5-mini.",
    )
    api_base = models.CharField(
        "base URL",
        max_length=300,
        blank=True,
        help_text="Empty: the provider's own; an HTTP application needs the URL that is called. "
        "Private addresses must be allowed by the "
        "EVALHUB_ALLOWED_ADDRESSES setting.",
    )
    api_key_env = models.CharField(
        "key variable",
        max_length=100,
        blank=True,
        validators=[environment_name],
        help_text="Name of the environment variable that holds the key, bound to its host by the "
        "EVALHUB_KEYS setting. The key is not stored.",
    )
    params = models.JSONField(
        "parameters",
        default=dict,
        blank=True,
        help_text='Sent with every call, such as {"temperature": 0}. A run\'s own override them.',
    )
    refused_params = models.JSONField(
        "refused parameters",
        default=dict,
        blank=True,
        editable=False,
        help_text="Parameters that the endpoint refused by name, with its words, which are not "
        "sent any more. “Test connection” tries them again.",
    )
    structured_output = models.BooleanField(
        default=True,
        help_text="As a judge, it is sent a JSON schema. Switch off where the provider refuses it.",
    )
    takes_images = models.BooleanField(
        default=False,
        help_text="It is sent the images of tests. Otherwise such a test is an error as a model "
        "under test, and a failed judgment as a judge.",
    )
    max_concurrency = models.PositiveIntegerField(
        default=DEFAULT_CONCURRENCY,
        validators=[MinValueValidator(1)],
        help_text="Calls in flight at once, over all workers.",
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Empty: no limit."
    )
    timeout_s = models.PositiveIntegerField(
        "time-out (s)",
        default=DEFAULT_TIMEOUT_S,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TIMEOUT_S)],
    )
    judge_timeout_s = models.PositiveIntegerField(
        "time-out as a judge (s)",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TIMEOUT_S)],
        help_text=f"Empty: the other time-out, but at most {JUDGE_TIMEOUT_S} s.",
    )
    input_usd_per_mtok = _price("input price")
    output_usd_per_mtok = _price("output price")
    cached_usd_per_mtok = _price("price of cached input", PRICED_AS_LISTED)
    cache_write_usd_per_mtok = _price("price of input written to the cache", PRICED_AS_LISTED)
    is_scripted = models.BooleanField(
        "scripted",
        default=False,
        help_text="Gives prepared answers; its figures are labelled everywhere.",
    )
    is_active = models.BooleanField(
        "active",
        default=True,
        help_text="Inactive models are kept for what they answered, but not offered.",
    )
    note = models.TextField(blank=True, help_text="Shown wherever this model judges.")
    created_at = models.DateTimeField(auto_now_add=True)

    history = History()
    objects = LanguageModelQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                name="evalhub_languagemodel_concurrency_positive",
                condition=models.Q(max_concurrency__gte=1),
            ),
            known("evalhub_languagemodel_kind_known", "kind", ModelKind),
            models.CheckConstraint(
                name="evalhub_languagemodel_called_somewhere",
                condition=(models.Q(kind=ModelKind.MODEL) & ~models.Q(litellm_model=""))
                | (models.Q(kind=ModelKind.APPLICATION) & ~models.Q(api_base="")),
                violation_error_message="A language model needs its LiteLLM model, an HTTP "
                "application its URL.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        problems: dict[str, list[str]] = {}
        if not isinstance(self.params, dict):
            problems["params"] = [f"Enter an object of parameters, not {self.params!r}."]
        elif found := parameter_problems(self.params):
            problems["params"] = found
        try:
            if self.api_base:
                check_base_url(self.api_base)
        except ForbiddenAddress as error:
            problems["api_base"] = [str(error)]
        problems |= self._kind_problems()
        field = "headers" if self.is_application else "api_key_env"
        if field not in problems:
            host = "" if "api_base" in problems else self.api_base
            found = [key_problem(name, host) for name in self.key_variables]
            problems[field] = [problem for problem in found if problem]
        if problems := {name: found for name, found in problems.items() if found}:
            raise ValidationError(problems)

    def _kind_problems(self) -> dict[str, list[str]]:
        if not self.is_application:
            missing = "Enter the provider and model, such as openai/gpt-5-mini."
            return {} if self.litellm_model else {"litellm_model": [missing]}
        application = self.application()
        problems = application.problems()
        if self.params and not problems and "params" not in application.placeholders:
            problems["params"] = [
                "They are not sent: remove them, or add {{ params }} to the body."
            ]
        if self.takes_images and not problems and "messages" not in application.placeholders:
            problems["takes_images"] = [
                "Images go in messages only: add {{ messages }} to the body, or switch this off."
            ]
        if not self.api_base:
            problems["api_base"] = ["Enter the URL that is called."]
        if self.api_key_env:
            problems["api_key_env"] = ["Name the variable in a header instead."]
        return problems

    @property
    def key_variables(self) -> list[str]:
        """Return the environment variables whose values are sent to it."""
        if self.is_application:
            return self.application().variables
        return [self.api_key_env] if self.api_key_env else []

    @property
    def has_prices(self) -> bool:
        return self.input_usd_per_mtok is not None and self.output_usd_per_mtok is not None

    def _cache_price(self, act: str, own: Decimal | None) -> Decimal | None:
        return (
            own
            if own is not None
            else cache_price(self.litellm_model, act, self.input_usd_per_mtok)
        )

    def judge_endpoint(self) -> Endpoint:
        """Return the endpoint for a judge, which has its own time-out."""
        timeout_s = self.judge_timeout_s or min(self.timeout_s, JUDGE_TIMEOUT_S)
        return replace(self.endpoint(), timeout_s=timeout_s)

    def endpoint(self) -> Endpoint:
        """Return a frozen copy of everything that a call needs; a run keeps this, not the row."""
        return Endpoint(
            language_model_id=self.pk,
            name=self.name,
            developer=self.developer,
            family=self.family,
            litellm_model=self.litellm_model,
            api_base=self.api_base,
            api_key_env=self.api_key_env,
            params=self.params,
            timeout_s=self.timeout_s,
            max_concurrency=self.max_concurrency,
            requests_per_minute=self.requests_per_minute,
            input_usd_per_mtok=self.input_usd_per_mtok,
            output_usd_per_mtok=self.output_usd_per_mtok,
            cached_usd_per_mtok=self._cache_price("read", self.cached_usd_per_mtok),
            cache_write_usd_per_mtok=self._cache_price("creation", self.cache_write_usd_per_mtok),
            structured_output=self.structured_output,
            takes_images=self.takes_images,
            is_scripted=self.is_scripted,
            application=self.frozen_application(),
        )


class CallRole(models.TextChoices):
    CANDIDATE = "candidate"
    JUDGE = "judge"
    REPAIR = "repair"
    PROBE = "probe"
    ANALYST = "analyst"
    GENERATOR = "generator"
    EMBEDDING = "embedding"


class Call(models.Model):
    """A request to a provider, with its cost. Append-only; failures included.

    Answers and judgments point here. The prompt itself is rendered again from frozen rows and
    compared with `request_digest`.
    """

    sealed_fields = ("reply", "error_message", "unsaved")
    completion: Completion | None = None
    """The reply as it arrived, while it is only in memory."""

    language_model = models.ForeignKey(LanguageModel, models.PROTECT, related_name="calls")
    role = models.CharField(max_length=10, choices=CallRole)
    batch = models.CharField(
        max_length=40, blank=True, help_text="The work it was made for, such as 'run 12'."
    )
    item_id = models.BigIntegerField(null=True, blank=True)
    request_digest = models.CharField(max_length=64)
    request_id = models.CharField(max_length=200, blank=True, help_text="The provider's own.")
    reply = models.TextField(blank=True, help_text="Raw text of the reply.")
    finish_reason = models.CharField(max_length=50, blank=True)
    error_kind = models.CharField(max_length=30, blank=True, help_text="Empty: it succeeded.")
    error_message = models.TextField(blank=True)
    attempt = models.PositiveSmallIntegerField(default=1)
    sent_params = models.JSONField(
        "parameters sent",
        null=True,
        help_text="As they were really sent, without tools and the text of a schema. Null: not "
        "recorded.",
    )
    refused_params = models.JSONField(
        "parameters refused",
        null=True,
        help_text="Left out, with their values, because the endpoint refuses them. Null: none.",
    )
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.DecimalField(max_digits=14, decimal_places=8, null=True, blank=True)
    latency_ms = models.PositiveIntegerField(null=True, blank=True)
    started_at = models.DateTimeField()
    unsaved = models.JSONField(
        null=True,
        editable=False,
        help_text="The parsed reply while it could not be saved with the item, whose next try "
        "takes it instead of asking again. Null: it was saved, or there is none.",
    )

    class Meta:
        ordering = ("-pk",)
        indexes = [
            models.Index(fields=("batch", "item_id"), name="evalhub_call_item"),
            models.Index(
                fields=("batch", "item_id"),
                name="evalhub_call_unsaved",
                condition=models.Q(unsaved__isnull=False),
            ),
            models.Index(
                fields=("batch", "error_kind"),
                name="evalhub_call_errors",
                condition=~models.Q(error_kind=""),
            ),
            models.Index(
                fields=("batch",),
                name="evalhub_call_refused_params",
                condition=models.Q(refused_params__isnull=False),
            ),
        ]
        constraints = [known("evalhub_call_role_known", "role", CallRole)]

    def __str__(self) -> str:
        return f"{self.get_role_display()} call {self.pk} to model {self.language_model_id}"

    def keep_reply(self) -> None:
        """Keep the reply in the record, for the item's next try: it could not be saved.

        One that was taken from a record is used once: it may be why saving fails.
        """
        if self.completion is not None and self.role != CallRole.EMBEDDING and self.pk is None:
            self.unsaved = self.completion.stored()

    def kept_completion(self) -> Completion:
        """Return the kept reply as it was when it arrived."""
        assert self.unsaved is not None
        return Completion.of(
            self.unsaved,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
            latency_ms=self.latency_ms or 0,
            request_id=self.request_id,
            reply=self.reply,
        )


class Embedding(models.Model):
    """A text's vector, cached by content, so that none is paid for twice.

    `digest` covers the text and the embedding model's settings; `vector` holds
    `dimensions` numbers of 32 bits, the lowest byte first.
    """

    digest = models.CharField(max_length=64, unique=True)
    model_name = models.CharField(max_length=200)
    dimensions = models.PositiveIntegerField()
    vector = models.BinaryField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="evalhub_embedding_dimensions_positive", condition=models.Q(dimensions__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimensions} numbers by {self.model_name}"
