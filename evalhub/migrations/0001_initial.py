from decimal import Decimal

import django.contrib.auth.models
import django.contrib.auth.validators
import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
import simple_history.models
from django.conf import settings
from django.db import migrations, models

import evalhub.access.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.CharField(max_length=100, primary_key=True, serialize=False)),
                ("at", models.DateTimeField(verbose_name="when")),
                ("kind", models.CharField(max_length=100, verbose_name="what")),
                ("number", models.BigIntegerField(null=True)),
                (
                    "act",
                    models.CharField(
                        choices=[
                            ("added", "added"),
                            ("changed", "changed"),
                            ("deleted", "deleted"),
                            ("logged_in", "logged in"),
                            ("refused", "login refused"),
                            ("revealed", "sealed text revealed"),
                            ("sent", "sealed text sent"),
                            ("opened", "sealed text opened"),
                            ("ended", "access to sealed text ended"),
                        ],
                        max_length=10,
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("address", models.CharField(max_length=100)),
                ("reason", models.TextField()),
                ("recipient", models.TextField()),
                ("message", models.TextField()),
                ("version", models.BigIntegerField(null=True)),
            ],
            options={
                "verbose_name": "audit entry",
                "verbose_name_plural": "audit entries",
                "db_table": "evalhub_audit",
                "ordering": ("-at", "-id"),
                "permissions": [("read_audit", "Can read who did what")],
                "managed": False,
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="CachedValue",
            fields=[
                ("key", models.CharField(max_length=250, primary_key=True, serialize=False)),
                ("value", models.TextField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "default_permissions": (),
            },
        ),
        migrations.CreateModel(
            name="FinishedTask",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("queued_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField()),
                ("succeeded", models.BooleanField()),
                (
                    "detail",
                    models.TextField(blank=True, help_text="Items done by batch, or the error."),
                ),
            ],
            options={
                "ordering": ("-ended_at", "-pk"),
            },
        ),
        migrations.CreateModel(
            name="LanguageModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("model", "language model"), ("application", "HTTP application")],
                        default="model",
                        help_text="An HTTP application is tested as a whole. It never judges.",
                        max_length=11,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[("POST", "POST"), ("PUT", "PUT"), ("PATCH", "PATCH")],
                        default="POST",
                        max_length=5,
                    ),
                ),
                (
                    "headers",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='Such as {"Authorization": "Bearer {{ SUPPORT_KEY }}"}, with the name of the variable that holds the secret, bound to its host by the EVALHUB_KEYS setting.',
                    ),
                ),
                (
                    "body",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="JSON with placeholders: {{ messages }} is the conversation so far, {{ prompt }} its last message for applications that remember the rest by {{ session_id }}. Also {{ system_prompt }}, {{ documents }}, {{ tools }} and {{ params }}.",
                    ),
                ),
                (
                    "answer_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="JSONPath in the reply, such as $.answer.",
                        max_length=300,
                        verbose_name="answer",
                    ),
                ),
                (
                    "documents_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.sources[*]. Shown to judges that ask.",
                        max_length=300,
                        verbose_name="retrieved documents",
                    ),
                ),
                (
                    "tool_calls_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.steps[*].tool.",
                        max_length=300,
                        verbose_name="tool calls",
                    ),
                ),
                (
                    "input_tokens_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.input.",
                        max_length=300,
                        verbose_name="input tokens",
                    ),
                ),
                (
                    "output_tokens_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.output.",
                        max_length=300,
                        verbose_name="output tokens",
                    ),
                ),
                (
                    "cost_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.cost. Empty: tokens times the prices.",
                        max_length=300,
                        verbose_name="cost (USD)",
                    ),
                ),
                (
                    "session_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="If the application chooses it itself, such as $.session.",
                        max_length=300,
                        verbose_name="session id",
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="Name shown on pages.", max_length=100, unique=True),
                ),
                (
                    "developer",
                    models.CharField(
                        blank=True, help_text="Organisation that made the model.", max_length=100
                    ),
                ),
                (
                    "family",
                    models.CharField(
                        blank=True, help_text="Models that share a design.", max_length=100
                    ),
                ),
                (
                    "identity",
                    models.CharField(
                        blank=True,
                        help_text="What leaderboards group by. Empty: derived from the name.",
                        max_length=100,
                    ),
                ),
                (
                    "litellm_model",
                    models.CharField(
                        blank=True,
                        help_text="Provider and model as LiteLLM names them, such as openai/gpt-5-mini.",
                        max_length=200,
                        verbose_name="LiteLLM model",
                    ),
                ),
                (
                    "api_base",
                    models.CharField(
                        blank=True,
                        help_text="Empty: the provider's own; an HTTP application needs the URL that is called. Private addresses must be allowed by the EVALHUB_ALLOWED_ADDRESSES setting.",
                        max_length=300,
                        verbose_name="base URL",
                    ),
                ),
                (
                    "api_key_env",
                    models.CharField(
                        blank=True,
                        help_text="Name of the environment variable that holds the key, bound to its host by the EVALHUB_KEYS setting. The key is not stored.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Z][A-Z0-9_]*$",
                                "Enter the name of an environment variable, such as OPENAI_API_KEY, never the key itself.",
                            )
                        ],
                        verbose_name="key variable",
                    ),
                ),
                (
                    "params",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='Sent with every call, such as {"temperature": 0}. A run\'s own override them.',
                        verbose_name="parameters",
                    ),
                ),
                (
                    "refused_params",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        editable=False,
                        help_text="Parameters that the endpoint refused by name, with its words, which are not sent any more. “Test connection” tries them again.",
                        verbose_name="refused parameters",
                    ),
                ),
                (
                    "structured_output",
                    models.BooleanField(
                        default=True,
                        help_text="As a judge, it is sent a JSON schema. Switch off where the provider refuses it.",
                    ),
                ),
                (
                    "takes_images",
                    models.BooleanField(
                        default=False,
                        help_text="It is sent the images of tests. Otherwise such a test is an error as a model under test, and a failed judgment as a judge.",
                    ),
                ),
                (
                    "max_concurrency",
                    models.PositiveIntegerField(
                        default=8,
                        help_text="Calls in flight at once, over all workers.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "requests_per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty: no limit.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "timeout_s",
                    models.PositiveIntegerField(
                        default=120,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="time-out (s)",
                    ),
                ),
                (
                    "judge_timeout_s",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty: the other time-out, but at most 45 s.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="time-out as a judge (s)",
                    ),
                ),
                (
                    "input_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="US dollars per million tokens. Empty: not known, so cost is not measured.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="input price",
                    ),
                ),
                (
                    "output_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="US dollars per million tokens. Empty: not known, so cost is not measured.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="output price",
                    ),
                ),
                (
                    "cached_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="Empty: the share of the input price that LiteLLM lists for this model, else all of it.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="price of cached input",
                    ),
                ),
                (
                    "cache_write_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="Empty: the share of the input price that LiteLLM lists for this model, else all of it.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="price of input written to the cache",
                    ),
                ),
                (
                    "is_scripted",
                    models.BooleanField(
                        default=False,
                        help_text="Gives prepared answers; its figures are labelled everywhere.",
                        verbose_name="scripted",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Inactive models are kept for what they answered, but not offered.",
                        verbose_name="active",
                    ),
                ),
                (
                    "note",
                    models.TextField(blank=True, help_text="Shown wherever this model judges."),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "ordering": ("name",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("max_concurrency__gte", 1)),
                        name="evalhub_languagemodel_concurrency_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["model", "application"])),
                        name="evalhub_languagemodel_kind_known",
                        violation_error_message="Choose one of: model, application.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("kind", "model"), models.Q(("litellm_model", ""), _negated=True)
                            ),
                            models.Q(
                                ("kind", "application"), models.Q(("api_base", ""), _negated=True)
                            ),
                            _connector="OR",
                        ),
                        name="evalhub_languagemodel_called_somewhere",
                        violation_error_message="A language model needs its LiteLLM model, an HTTP application its URL.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Call",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("candidate", "Candidate"),
                            ("judge", "Judge"),
                            ("repair", "Repair"),
                            ("probe", "Probe"),
                            ("analyst", "Analyst"),
                            ("generator", "Generator"),
                            ("embedding", "Embedding"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "batch",
                    models.CharField(
                        blank=True,
                        help_text="The work it was made for, such as 'run 12'.",
                        max_length=40,
                    ),
                ),
                ("item_id", models.BigIntegerField(blank=True, null=True)),
                ("request_digest", models.CharField(max_length=64)),
                (
                    "request_id",
                    models.CharField(blank=True, help_text="The provider's own.", max_length=200),
                ),
                ("reply", models.TextField(blank=True, help_text="Raw text of the reply.")),
                ("finish_reason", models.CharField(blank=True, max_length=50)),
                (
                    "error_kind",
                    models.CharField(blank=True, help_text="Empty: it succeeded.", max_length=30),
                ),
                ("error_message", models.TextField(blank=True)),
                ("attempt", models.PositiveSmallIntegerField(default=1)),
                (
                    "sent_params",
                    models.JSONField(
                        help_text="As they were really sent, without tools and the text of a schema. Null: not recorded.",
                        null=True,
                        verbose_name="parameters sent",
                    ),
                ),
                (
                    "refused_params",
                    models.JSONField(
                        help_text="Left out, with their values, because the endpoint refuses them. Null: none.",
                        null=True,
                        verbose_name="parameters refused",
                    ),
                ),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "cost_usd",
                    models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True),
                ),
                ("latency_ms", models.PositiveIntegerField(blank=True, null=True)),
                ("started_at", models.DateTimeField()),
                (
                    "unsaved",
                    models.JSONField(
                        editable=False,
                        help_text="The parsed reply while it could not be saved with the item, whose next try takes it instead of asking again. Null: it was saved, or there is none.",
                        null=True,
                    ),
                ),
                (
                    "language_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="evalhub.languagemodel",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "indexes": [
                    models.Index(fields=["batch", "item_id"], name="evalhub_call_item"),
                    models.Index(
                        condition=models.Q(("unsaved__isnull", False)),
                        fields=["batch", "item_id"],
                        name="evalhub_call_unsaved",
                    ),
                    models.Index(
                        condition=models.Q(("error_kind", ""), _negated=True),
                        fields=["batch", "error_kind"],
                        name="evalhub_call_errors",
                    ),
                    models.Index(
                        condition=models.Q(("refused_params__isnull", False)),
                        fields=["batch"],
                        name="evalhub_call_refused_params",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "role__in",
                                [
                                    "candidate",
                                    "judge",
                                    "repair",
                                    "probe",
                                    "analyst",
                                    "generator",
                                    "embedding",
                                ],
                            )
                        ),
                        name="evalhub_call_role_known",
                        violation_error_message="Choose one of: candidate, judge, repair, probe, analyst, generator, embedding.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Host, process id and a random part.", max_length=100, unique=True
                    ),
                ),
                (
                    "process",
                    models.CharField(
                        blank=True,
                        help_text="Where the process can be looked for: machine, namespace, id and start.",
                        max_length=200,
                    ),
                ),
                ("started_at", models.DateTimeField()),
                (
                    "beat_at",
                    models.DateTimeField(
                        help_text="By the database's clock.", verbose_name="last heartbeat"
                    ),
                ),
                (
                    "models_in_use",
                    models.JSONField(default=dict, help_text="Its calls of each model, by key."),
                ),
                (
                    "problem",
                    models.TextField(blank=True, help_text="Why it takes no work. Empty: it does."),
                ),
                ("stopped_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ("-pk",),
            },
        ),
        migrations.CreateModel(
            name="CostReservation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=60)),
                ("amount_usd", models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cost_reservations",
                        to="evalhub.worker",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("key", "worker"), name="evalhub_cost_reserved_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                ("preferences", models.JSONField(blank=True, default=dict)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Roles grant the user's rights.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="roles",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
            },
            managers=[
                ("objects", django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("run_finished", "a run finished"),
                            ("regression", "a run fails its gate"),
                            ("assigned", "an issue was assigned"),
                            ("sent_back", "a review was sent back"),
                            ("reopening", "a resolved issue fails again"),
                            ("report", "a scheduled report was made"),
                            ("security", "a login was locked, or a model's connection changed"),
                        ],
                        max_length=12,
                    ),
                ),
                ("key", models.CharField(max_length=100)),
                ("title", models.CharField(max_length=200)),
                ("text", models.TextField(blank=True)),
                ("url", models.CharField(blank=True, max_length=300)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                (
                    "recipient",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("read_at__isnull", True)),
                        fields=["recipient"],
                        name="evalhub_notification_unread",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "run_finished",
                                    "regression",
                                    "assigned",
                                    "sent_back",
                                    "reopening",
                                    "report",
                                    "security",
                                ],
                            )
                        ),
                        name="evalhub_notification_kind_known",
                        violation_error_message="Choose one of: run_finished, regression, assigned, sent_back, reopening, report, security.",
                    ),
                    models.UniqueConstraint(
                        fields=("recipient", "key"), name="evalhub_notification_once"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("page", models.CharField(help_text="URL name of the list.", max_length=100)),
                ("name", models.CharField(max_length=80)),
                ("query", models.TextField(blank=True, help_text="The query string of the list.")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_filters",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("page", "name"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "page", "name"),
                        name="evalhub_savedfilter_once",
                        violation_error_message="This list already has a saved filter with this name.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Token",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="Name the script that uses it.", max_length=100),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("read", "read only"),
                            ("write", "read and write"),
                            ("feedback", "send feedback only"),
                        ],
                        default="read",
                        max_length=8,
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("prefix", models.CharField(editable=False, max_length=10)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True,
                        default=evalhub.access.models.default_end,
                        help_text="Leave empty for no expiry.",
                        null=True,
                    ),
                ),
                (
                    "networks",
                    models.CharField(
                        blank=True,
                        help_text="Addresses and CIDR ranges from which it works, such as 192.0.2.7, 10.0.0.0/8. Empty: all.",
                        max_length=500,
                        validators=[evalhub.access.models.check_networks],
                        verbose_name="addresses",
                    ),
                ),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("scope__in", ["read", "write", "feedback"])),
                        name="evalhub_token_scope_known",
                        violation_error_message="Choose one of: read, write, feedback.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Webhook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True)),
                ("url", models.CharField(max_length=300, verbose_name="URL")),
                (
                    "secret_env",
                    models.CharField(
                        help_text="Name of the environment variable with the signing secret.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Z][A-Z0-9_]*$",
                                "Enter the name of an environment variable, such as OPENAI_API_KEY, never the key itself.",
                            )
                        ],
                        verbose_name="secret variable",
                    ),
                ),
                ("kinds", models.JSONField(default=list, help_text="Events to send.")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("name",),
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("address", models.EmailField(blank=True, max_length=254)),
                ("key", models.CharField(help_text="Identifies the event.", max_length=100)),
                ("payload", models.JSONField(blank=True, default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("done", "delivered"),
                            ("failed", "given up"),
                        ],
                        default="pending",
                        max_length=7,
                    ),
                ),
                (
                    "attempts",
                    models.PositiveSmallIntegerField(
                        default=0, validators=[django.core.validators.MaxValueValidator(100)]
                    ),
                ),
                ("next_try_at", models.DateTimeField(blank=True, null=True)),
                ("status_code", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("problem", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("done_at", models.DateTimeField(blank=True, null=True)),
                (
                    "notification",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="evalhub.notification",
                    ),
                ),
                (
                    "webhook",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="evalhub.webhook",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "ordering": ("-pk",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["next_try_at"],
                        name="evalhub_delivery_waiting",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["pending", "done", "failed"])),
                        name="evalhub_delivery_state_known",
                        violation_error_message="Choose one of: pending, done, failed.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("address", ""),
                                ("notification__isnull", True),
                                ("webhook__isnull", False),
                            ),
                            models.Q(
                                ("address", ""),
                                ("notification__isnull", False),
                                ("webhook__isnull", True),
                            ),
                            models.Q(
                                ("notification__isnull", True),
                                ("webhook__isnull", True),
                                models.Q(("address", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="evalhub_delivery_one_way",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("webhook__isnull", False)),
                        fields=("webhook", "key"),
                        name="evalhub_delivery_webhook_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("notification__isnull", False)),
                        fields=("notification",),
                        name="evalhub_delivery_mail_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("address", ""), _negated=True),
                        fields=("address", "key"),
                        name="evalhub_delivery_address_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("model_name", models.CharField(max_length=200)),
                ("dimensions", models.PositiveIntegerField()),
                ("vector", models.BinaryField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("dimensions__gte", 1)),
                        name="evalhub_embedding_dimensions_positive",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Exposure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("test", models.BigIntegerField(db_index=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("revealed", "revealed to a user"),
                            ("sent", "sent to an endpoint"),
                            ("opened", "open to all readers"),
                        ],
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "endpoint",
                    models.CharField(
                        blank=True, help_text="Host and port of the recipient.", max_length=300
                    ),
                ),
                (
                    "purpose",
                    models.CharField(blank=True, help_text="The role of the call.", max_length=20),
                ),
                ("day", models.DateField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "ended_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exposures",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "language_model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exposures",
                        to="evalhub.languagemodel",
                    ),
                ),
            ],
            options={
                "ordering": ("-pk",),
                "permissions": [("reveal_sealed", "Can reveal sealed tests to users")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["revealed", "sent", "opened"])),
                        name="evalhub_exposure_kind_known",
                        violation_error_message="Choose one of: revealed, sent, opened.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("endpoint", ""), ("kind", "revealed"), ("user__isnull", False)
                            ),
                            models.Q(
                                ("kind", "sent"),
                                ("user__isnull", True),
                                models.Q(("endpoint", ""), _negated=True),
                            ),
                            models.Q(("endpoint", ""), ("kind", "opened"), ("user__isnull", True)),
                            _connector="OR",
                        ),
                        name="evalhub_exposure_one_recipient",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "sent")),
                        fields=("test", "endpoint", "day"),
                        name="evalhub_exposure_sent_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at__isnull", True), ("kind", "revealed")),
                        fields=("test", "user"),
                        name="evalhub_exposure_revealed_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HistoricalGroup",
            fields=[
                (
                    "id",
                    models.IntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=150, verbose_name="name")),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical group",
                "verbose_name_plural": "historical groups",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalGroup_permissions",
            fields=[
                (
                    "id",
                    models.IntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="auth.group",
                    ),
                ),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="evalhub.historicalgroup",
                    ),
                ),
                (
                    "permission",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="auth.permission",
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalGroup_permissions",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalLanguageModel",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[("model", "language model"), ("application", "HTTP application")],
                        default="model",
                        help_text="An HTTP application is tested as a whole. It never judges.",
                        max_length=11,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[("POST", "POST"), ("PUT", "PUT"), ("PATCH", "PATCH")],
                        default="POST",
                        max_length=5,
                    ),
                ),
                (
                    "headers",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='Such as {"Authorization": "Bearer {{ SUPPORT_KEY }}"}, with the name of the variable that holds the secret, bound to its host by the EVALHUB_KEYS setting.',
                    ),
                ),
                (
                    "body",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="JSON with placeholders: {{ messages }} is the conversation so far, {{ prompt }} its last message for applications that remember the rest by {{ session_id }}. Also {{ system_prompt }}, {{ documents }}, {{ tools }} and {{ params }}.",
                    ),
                ),
                (
                    "answer_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="JSONPath in the reply, such as $.answer.",
                        max_length=300,
                        verbose_name="answer",
                    ),
                ),
                (
                    "documents_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.sources[*]. Shown to judges that ask.",
                        max_length=300,
                        verbose_name="retrieved documents",
                    ),
                ),
                (
                    "tool_calls_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.steps[*].tool.",
                        max_length=300,
                        verbose_name="tool calls",
                    ),
                ),
                (
                    "input_tokens_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.input.",
                        max_length=300,
                        verbose_name="input tokens",
                    ),
                ),
                (
                    "output_tokens_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.output.",
                        max_length=300,
                        verbose_name="output tokens",
                    ),
                ),
                (
                    "cost_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Such as $.usage.cost. Empty: tokens times the prices.",
                        max_length=300,
                        verbose_name="cost (USD)",
                    ),
                ),
                (
                    "session_path",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="If the application chooses it itself, such as $.session.",
                        max_length=300,
                        verbose_name="session id",
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        db_index=True, help_text="Name shown on pages.", max_length=100
                    ),
                ),
                (
                    "developer",
                    models.CharField(
                        blank=True, help_text="Organisation that made the model.", max_length=100
                    ),
                ),
                (
                    "family",
                    models.CharField(
                        blank=True, help_text="Models that share a design.", max_length=100
                    ),
                ),
                (
                    "identity",
                    models.CharField(
                        blank=True,
                        help_text="What leaderboards group by. Empty: derived from the name.",
                        max_length=100,
                    ),
                ),
                (
                    "litellm_model",
                    models.CharField(
                        blank=True,
                        help_text="Provider and model as LiteLLM names them, such as openai/gpt-5-mini.",
                        max_length=200,
                        verbose_name="LiteLLM model",
                    ),
                ),
                (
                    "api_base",
                    models.CharField(
                        blank=True,
                        help_text="Empty: the provider's own; an HTTP application needs the URL that is called. Private addresses must be allowed by the EVALHUB_ALLOWED_ADDRESSES setting.",
                        max_length=300,
                        verbose_name="base URL",
                    ),
                ),
                (
                    "api_key_env",
                    models.CharField(
                        blank=True,
                        help_text="Name of the environment variable that holds the key, bound to its host by the EVALHUB_KEYS setting. The key is not stored.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Z][A-Z0-9_]*$",
                                "Enter the name of an environment variable, such as OPENAI_API_KEY, never the key itself.",
                            )
                        ],
                        verbose_name="key variable",
                    ),
                ),
                (
                    "params",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text='Sent with every call, such as {"temperature": 0}. A run\'s own override them.',
                        verbose_name="parameters",
                    ),
                ),
                (
                    "refused_params",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        editable=False,
                        help_text="Parameters that the endpoint refused by name, with its words, which are not sent any more. “Test connection” tries them again.",
                        verbose_name="refused parameters",
                    ),
                ),
                (
                    "structured_output",
                    models.BooleanField(
                        default=True,
                        help_text="As a judge, it is sent a JSON schema. Switch off where the provider refuses it.",
                    ),
                ),
                (
                    "takes_images",
                    models.BooleanField(
                        default=False,
                        help_text="It is sent the images of tests. Otherwise such a test is an error as a model under test, and a failed judgment as a judge.",
                    ),
                ),
                (
                    "max_concurrency",
                    models.PositiveIntegerField(
                        default=8,
                        help_text="Calls in flight at once, over all workers.",
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "requests_per_minute",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty: no limit.",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                (
                    "timeout_s",
                    models.PositiveIntegerField(
                        default=120,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="time-out (s)",
                    ),
                ),
                (
                    "judge_timeout_s",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Empty: the other time-out, but at most 45 s.",
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(600),
                        ],
                        verbose_name="time-out as a judge (s)",
                    ),
                ),
                (
                    "input_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="US dollars per million tokens. Empty: not known, so cost is not measured.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="input price",
                    ),
                ),
                (
                    "output_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="US dollars per million tokens. Empty: not known, so cost is not measured.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="output price",
                    ),
                ),
                (
                    "cached_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="Empty: the share of the input price that LiteLLM lists for this model, else all of it.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="price of cached input",
                    ),
                ),
                (
                    "cache_write_usd_per_mtok",
                    models.DecimalField(
                        blank=True,
                        decimal_places=6,
                        help_text="Empty: the share of the input price that LiteLLM lists for this model, else all of it.",
                        max_digits=12,
                        null=True,
                        validators=[django.core.validators.MinValueValidator(Decimal("0"))],
                        verbose_name="price of input written to the cache",
                    ),
                ),
                (
                    "is_scripted",
                    models.BooleanField(
                        default=False,
                        help_text="Gives prepared answers; its figures are labelled everywhere.",
                        verbose_name="scripted",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Inactive models are kept for what they answered, but not offered.",
                        verbose_name="active",
                    ),
                ),
                (
                    "note",
                    models.TextField(blank=True, help_text="Shown wherever this model judges."),
                ),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical language model",
                "verbose_name_plural": "historical language models",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalToken",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(help_text="Name the script that uses it.", max_length=100),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[
                            ("read", "read only"),
                            ("write", "read and write"),
                            ("feedback", "send feedback only"),
                        ],
                        default="read",
                        max_length=8,
                    ),
                ),
                ("prefix", models.CharField(editable=False, max_length=10)),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                (
                    "expires_at",
                    models.DateTimeField(
                        blank=True,
                        default=evalhub.access.models.default_end,
                        help_text="Leave empty for no expiry.",
                        null=True,
                    ),
                ),
                (
                    "networks",
                    models.CharField(
                        blank=True,
                        help_text="Addresses and CIDR ranges from which it works, such as 192.0.2.7, 10.0.0.0/8. Empty: all.",
                        max_length=500,
                        validators=[evalhub.access.models.check_networks],
                        verbose_name="addresses",
                    ),
                ),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical token",
                "verbose_name_plural": "historical tokens",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalUser",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        db_index=True,
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                (
                    "first_name",
                    models.CharField(blank=True, max_length=150, verbose_name="first name"),
                ),
                (
                    "last_name",
                    models.CharField(blank=True, max_length=150, verbose_name="last name"),
                ),
                (
                    "email",
                    models.EmailField(blank=True, max_length=254, verbose_name="email address"),
                ),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                (
                    "date_joined",
                    models.DateTimeField(
                        default=django.utils.timezone.now, verbose_name="date joined"
                    ),
                ),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical user",
                "verbose_name_plural": "historical users",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalUser_groups",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="auth.group",
                    ),
                ),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="evalhub.historicaluser",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalUser_groups",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalUser_user_permissions",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("m2m_history_id", models.AutoField(primary_key=True, serialize=False)),
                (
                    "history",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="evalhub.historicaluser",
                    ),
                ),
                (
                    "permission",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="auth.permission",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_tablespace="",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "HistoricalUser_user_permissions",
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="HistoricalWebhook",
            fields=[
                (
                    "id",
                    models.BigIntegerField(
                        auto_created=True, blank=True, db_index=True, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(db_index=True, max_length=100)),
                ("url", models.CharField(max_length=300, verbose_name="URL")),
                (
                    "secret_env",
                    models.CharField(
                        help_text="Name of the environment variable with the signing secret.",
                        max_length=100,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[A-Z][A-Z0-9_]*$",
                                "Enter the name of an environment variable, such as OPENAI_API_KEY, never the key itself.",
                            )
                        ],
                        verbose_name="secret variable",
                    ),
                ),
                ("kinds", models.JSONField(default=list, help_text="Events to send.")),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
                ("created_at", models.DateTimeField(blank=True, editable=False)),
                ("history_id", models.AutoField(primary_key=True, serialize=False)),
                ("history_date", models.DateTimeField(db_index=True)),
                ("history_change_reason", models.CharField(max_length=100, null=True)),
                (
                    "history_type",
                    models.CharField(
                        choices=[("+", "Created"), ("~", "Changed"), ("-", "Deleted")], max_length=1
                    ),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "history_user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "historical webhook",
                "verbose_name_plural": "historical webhooks",
                "ordering": ("-history_date", "-history_id"),
                "get_latest_by": ("history_date", "history_id"),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name="Image",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                (
                    "media_type",
                    models.CharField(
                        choices=[
                            ("image/png", "Png"),
                            ("image/jpeg", "Jpeg"),
                            ("image/webp", "Webp"),
                            ("image/gif", "Gif"),
                        ],
                        max_length=10,
                    ),
                ),
                ("width", models.PositiveIntegerField()),
                ("height", models.PositiveIntegerField()),
                ("content", models.BinaryField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "media_type__in",
                                ["image/png", "image/jpeg", "image/webp", "image/gif"],
                            )
                        ),
                        name="evalhub_image_media_type_known",
                        violation_error_message="Choose one of: image/png, image/jpeg, image/webp, image/gif.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("request_digest", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(default=0)),
                (
                    "body",
                    models.JSONField(
                        encoder=django.core.serializers.json.DjangoJSONEncoder, null=True
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(fields=("user", "key"), name="evalhub_keptanswer_once")
                ],
            },
        ),
        migrations.CreateModel(
            name="SharedRate",
            fields=[
                (
                    "language_model",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="shared_rate",
                        serialize=False,
                        to="evalhub.languagemodel",
                    ),
                ),
                ("share", models.FloatField(default=1.0)),
                ("cut_at", models.DateTimeField(blank=True, null=True)),
                (
                    "not_before",
                    models.DateTimeField(
                        blank=True, help_text="No call starts until then.", null=True
                    ),
                ),
                (
                    "down_since",
                    models.DateTimeField(
                        blank=True,
                        help_text="Calls have only failed since then. Null: not down.",
                        null=True,
                    ),
                ),
                (
                    "down_reason",
                    models.TextField(blank=True, help_text="The error of the last call."),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("share__gt", 0), ("share__lte", 1)),
                        name="evalhub_pace_share_range",
                    )
                ],
            },
        ),
    ]
