"""All settings, read from the environment once and checked where they are read.

docs/configuration.md lists every variable. Two modes run the same code:
`embedded` (SQLite, a worker in threads of the web process) and `production`
(PostgreSQL, Redis, as many processes as one likes).
"""

from pathlib import Path
from typing import Any

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from evaluation.data_sets.places import read_places
from judgments.outgoing.rules import read_origins
from judgments.secrets.private_files import make_secret_file
from judgments.sign_on.rules import provider_id, read_grants

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = Path(env.str("TOUCHSTONE_HOME", default=str(BASE_DIR / "var"))).resolve()
MODE = env.str("TOUCHSTONE_MODE", default="embedded")
if MODE not in ("embedded", "production"):
    raise ImproperlyConfigured(f"TOUCHSTONE_MODE is {MODE!r}: use embedded or production")
PRODUCTION = MODE == "production"
DEBUG = False


def _secret_key() -> str:
    """The given key; embedded without one, a generated key kept in a private file."""
    given = env.str("TOUCHSTONE_SECRET_KEY", default="")
    if given:
        if len(given) < 50:
            raise ImproperlyConfigured("TOUCHSTONE_SECRET_KEY must have at least 50 characters")
        return str(given)
    if PRODUCTION:
        raise ImproperlyConfigured("TOUCHSTONE_SECRET_KEY must be set in production")
    path = HOME / "secret_key"
    make_secret_file(path)
    return path.read_text().strip()


def _whole(name: str, *, default: int, least: int, most: int, unit: str) -> int:
    """A whole number from the environment, within bounds."""
    value: int = env.int(name, default=default)
    if not least <= value <= most:
        raise ImproperlyConfigured(f"{name} must be from {least} to {most} {unit}, not {value}")
    return value


def _database() -> dict[str, Any]:
    """The database of DATABASE_URL, with what each engine needs to be durable."""
    default = f"sqlite:///{HOME / 'touchstone.sqlite3'}"
    url = env.str("DATABASE_URL", default="") or default
    if not url.startswith(("sqlite://", "postgres://", "postgresql://")):
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:// or postgres://")
    database: dict[str, Any] = env.db_url_config(url)
    if database["ENGINE"] == "django.db.backends.sqlite3":
        if PRODUCTION:
            raise ImproperlyConfigured("DATABASE_URL must name a PostgreSQL server in production")
        if str(database["NAME"]).startswith(str(HOME)):
            HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
        database["ENGINE"] = "config.sqlite"
        database["OPTIONS"] = {
            "timeout": 20,
            "transaction_mode": "IMMEDIATE",
            # FULL: with NORMAL an acknowledged label can be lost in a power cut
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
            "PRAGMA cache_size=-64000; PRAGMA temp_store=MEMORY; "
            # else INSERT OR REPLACE would delete rows without asking the triggers
            "PRAGMA recursive_triggers=ON;",
        }
    else:
        database["ENGINE"] = "config.postgresql"
        database["CONN_MAX_AGE"] = 600
        database["CONN_HEALTH_CHECKS"] = True
        # whatever the server's own habit: what was committed outlives a crash of the server
        durable = "-c synchronous_commit=on"
        given = database.get("OPTIONS", {})
        database["OPTIONS"] = {
            **given,
            "connect_timeout": 5,
            "options": f"{given.get('options', '')} {durable}".strip(),
        }
    return database


SECRET_KEY = _secret_key()
DATABASES = {"default": _database()}
REDIS_URL = env.str("REDIS_URL", default="")
if PRODUCTION and not REDIS_URL:
    raise ImproperlyConfigured("REDIS_URL must be set in production")

ALLOWED_HOSTS = env.list("TOUCHSTONE_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
if PRODUCTION and "TOUCHSTONE_HOSTS" not in env.ENVIRON:
    raise ImproperlyConfigured("TOUCHSTONE_HOSTS must be set in production")
HTTPS = env.bool("TOUCHSTONE_HTTPS", default=PRODUCTION)
_scheme = "https" if HTTPS else "http"
CSRF_TRUSTED_ORIGINS = env.list(
    "TOUCHSTONE_ORIGINS",
    default=[f"{_scheme}://{host}" for host in ALLOWED_HOSTS if PRODUCTION and host != "*"],
)

INSTALLED_APPS = [
    "config",
    "annotation",
    "evaluation",
    "judgments",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "csp",
    "django_htmx",
    "heroicons",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "config.logs.AccessLogMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "judgments.middleware.PolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # before those that refuse: their answer is a page too
    "judgments.middleware.LanguageMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # before those that read a body: the next one looks for a token in it
    "judgments.middleware.BodyLimitMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "judgments.middleware.ThrottleMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "judgments.middleware.SecondFactorMiddleware",
    "judgments.middleware.ConfirmMiddleware",
    "judgments.middleware.RefusalMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "judgments.messages.header_parts.bell",
            ],
            "builtins": ["django.templatetags.static"],
        },
    }
]

# people

AUTH_USER_MODEL = "judgments.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "config.passwords.CommonPasswordMadeLongerValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "config.passwords.PredictablePasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_ENGINE = "judgments.accounts.sessions"
# seconds: since a session was last used, and since the sign-in
SESSION_COOKIE_AGE = 3600 * _whole(
    "TOUCHSTONE_SESSION_IDLE", default=14 * 24, least=1, most=365 * 24, unit="hours"
)
SESSION_LIFETIME = 3600 * _whole(
    "TOUCHSTONE_SESSION_LIFETIME", default=90 * 24, least=1, most=365 * 24, unit="hours"
)
TOKEN_DAYS = _whole("TOUCHSTONE_TOKEN_DAYS", default=365, least=1, most=365, unit="days")
# the roles whose members must have a second factor
SECOND_FACTOR_ROLES: list[str] = env.list("TOUCHSTONE_SECOND_FACTOR", default=[])
if unknown := set(SECOND_FACTOR_ROLES) - {"annotator", "researcher", "lead", "administrator"}:
    raise ImproperlyConfigured(
        f"TOUCHSTONE_SECOND_FACTOR has {min(unknown)!r}: use annotator, researcher, lead or "
        "administrator"
    )
# for how long a password or a code counts before it is asked for again
CONFIRM_MINUTES = _whole(
    "TOUCHSTONE_CONFIRM_MINUTES", default=60, least=1, most=1440, unit="minutes"
)
PASSWORD_RESET_TIMEOUT = 24 * 3600
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
if HTTPS:  # browsers take cookies of such a name from this host alone, over https
    SESSION_COOKIE_NAME = "__Host-sessionid"
    CSRF_COOKIE_NAME = "__Host-csrftoken"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
# address and account together, so that no one can lock a colleague out from elsewhere
AXES_LOCKOUT_PARAMETERS = [["ip_address", "username"]]
# an address that tries many accounts is locked out as a whole: config/lockout.py
AXES_HANDLER = "config.lockout.LockoutHandler"
AXES_CLIENT_IP_CALLABLE = "config.lockout.client_address"
AXES_USERNAME_CALLABLE = "config.lockout.attempted_username"
# axes keeps the fields of a refused form; it leaves out "password" by itself
AXES_SENSITIVE_PARAMETERS = [
    "username",
    "ip_address",
    "csrfmiddlewaretoken",
    "old_password",
    "new_password1",
    "new_password2",
    "confirm_secret",
    # what people write into forms that ask for the password again
    "name",
    "email",
    "note",
    "notes",
]
LOCKOUT_ADDRESS_LIMIT = 100
# attempts made while locked out do not extend the lock-out of the account's owner
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_TEMPLATE = "registration/locked_out.html"
AXES_VERBOSE = False
AXES_DISABLE_ACCESS_LOG = True

# sign-on with an identity provider: off, and django-allauth not installed, unless one is named
SIGN_ON_ISSUER = env.str("TOUCHSTONE_SIGN_ON_ISSUER", default="")
SIGN_ON_ONLY = env.bool("TOUCHSTONE_SIGN_ON_ONLY", default=False)
# who signs in with a password even then
BREAK_GLASS = env.str("TOUCHSTONE_BREAK_GLASS", default="")
if SIGN_ON_ONLY and not (SIGN_ON_ISSUER and BREAK_GLASS):
    raise ImproperlyConfigured(
        "TOUCHSTONE_SIGN_ON_ONLY needs TOUCHSTONE_SIGN_ON_ISSUER and TOUCHSTONE_BREAK_GLASS"
    )


def sign_on_settings(
    *, issuer: str, client: str, secret: str, groups: list[str], **more: Any
) -> dict[str, Any]:
    """The settings of sign-on with an identity provider, among them apps and middleware to add."""
    is_local = issuer.startswith(("http://127.0.0.1:", "http://localhost:")) and not PRODUCTION
    if not (issuer.startswith("https://") or is_local):
        raise ImproperlyConfigured("TOUCHSTONE_SIGN_ON_ISSUER must begin with https://")
    try:
        grants = read_grants(groups)
    except ValueError as error:
        raise ImproperlyConfigured(f"TOUCHSTONE_SIGN_ON_GROUPS: {error}") from error
    name = provider_id(issuer)
    scopes = more.get("scopes", ["openid", "profile", "email"])
    app = {
        "provider_id": name,
        "name": more.get("name", ""),
        "client_id": client,
        "secret": secret,
        "settings": {"server_url": issuer, "scope": scopes},
    }
    return {
        "SIGN_ON_ISSUER": issuer,
        "SIGN_ON_NAME": more.get("name", ""),
        "SIGN_ON_CREATES": more.get("creates", True),
        "SIGN_ON_GROUPS_CLAIM": more.get("claim", "groups"),
        "SIGN_ON_PROVIDER": name,
        "SIGN_ON_GRANTS": grants,
        "INSTALLED_APPS": [
            "allauth",
            "allauth.account",
            "allauth.socialaccount",
            "allauth.socialaccount.providers.openid_connect",
        ],
        "MIDDLEWARE": ["allauth.account.middleware.AccountMiddleware"],
        "ACCOUNT_ADAPTER": "judgments.sign_on.adapters.AccountAdapter",
        "ACCOUNT_EMAIL_VERIFICATION": "none",
        "ACCOUNT_LOGIN_METHODS": {"username"},
        "ACCOUNT_SIGNUP_FIELDS": ["username*", "password1*"],
        "SOCIALACCOUNT_ADAPTER": "judgments.sign_on.adapters.SignOnAdapter",
        "SOCIALACCOUNT_PROVIDERS": {"openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]}},
    }


SIGN_ON_NAME = SIGN_ON_PROVIDER = ""
SIGN_ON_CREATES = True
SIGN_ON_GROUPS_CLAIM = "groups"
SIGN_ON_GRANTS = read_grants(())
if SIGN_ON_ISSUER:
    _sign_on = sign_on_settings(
        issuer=SIGN_ON_ISSUER,
        client=env.str("TOUCHSTONE_SIGN_ON_CLIENT"),
        secret=env.str("TOUCHSTONE_SIGN_ON_SECRET", default=""),
        groups=env.list("TOUCHSTONE_SIGN_ON_GROUPS", default=[]),
        name=env.str("TOUCHSTONE_SIGN_ON_NAME", default=""),
        creates=env.bool("TOUCHSTONE_SIGN_ON_CREATE", default=True),
        claim=env.str("TOUCHSTONE_SIGN_ON_GROUPS_CLAIM", default="groups"),
        scopes=env.list("TOUCHSTONE_SIGN_ON_SCOPES", default=["openid", "profile", "email"]),
    )
    INSTALLED_APPS += _sign_on.pop("INSTALLED_APPS")
    MIDDLEWARE += _sign_on.pop("MIDDLEWARE")
    vars().update(_sign_on)

# a factor on judgments/rate_limits.py; 0: no one is throttled
THROTTLE = env.float("TOUCHSTONE_THROTTLE", default=1.0)
if not 0 <= THROTTLE < float("inf"):
    raise ImproperlyConfigured("TOUCHSTONE_THROTTLE must be a number, 0 or more")
MAKES_COLLECTIONS = env.str("TOUCHSTONE_COLLECTIONS", default="everyone")
if MAKES_COLLECTIONS not in ("everyone", "administrators"):
    raise ImproperlyConfigured(
        f"TOUCHSTONE_COLLECTIONS is {MAKES_COLLECTIONS!r}: use everyone or administrators"
    )

# the browser's side of safety

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
# these are requested from inside the proxy
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
# browsers take a domain off their preload lists only after months, so its owner decides
SECURE_HSTS_PRELOAD = env.bool("TOUCHSTONE_HSTS_PRELOAD", default=False)
BEHIND_PROXY = env.bool("TOUCHSTONE_BEHIND_PROXY", default=False)
PROXY_COUNT = env.int("TOUCHSTONE_PROXY_COUNT", default=1)
if PROXY_COUNT < 1:
    raise ImproperlyConfigured("TOUCHSTONE_PROXY_COUNT must be 1 or more")
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
        "report-uri": "/csp-reports",
    }
}
# what a page does not use, no script in it may ask for
PERMISSIONS_POLICY = ", ".join(
    [
        *(
            f"{feature}=()"
            for feature in (
                "accelerometer",
                "camera",
                "display-capture",
                "geolocation",
                "gyroscope",
                "hid",
                "magnetometer",
                "microphone",
                "midi",
                "payment",
                "serial",
                "usb",
            )
        ),
        "publickey-credentials-create=(self)",
        "publickey-credentials-get=(self)",
    ]
)

# files

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = HOME / "static"
WHITENOISE_USE_FINDERS = not PRODUCTION
if not PRODUCTION:  # whitenoise warns where it is missing, though the finders serve everything
    STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": HOME / "uploads", "file_permissions_mode": 0o600},
    },
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
FILE_UPLOAD_TEMP_DIR = None
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
DATA_UPLOAD_MAX_NUMBER_FILES = 5

# what the server may ask of others: nothing, unless an administrator names it

try:
    OUTGOING = read_origins(env.list("TOUCHSTONE_OUTGOING", default=[]))
except ValueError as error:
    raise ImproperlyConfigured(f"TOUCHSTONE_OUTGOING: {error}") from error

# where data sets in Parquet may be: nowhere, unless an administrator names it

try:
    DATA_SETS = read_places(env.list("TOUCHSTONE_DATA_SETS", default=[]))
except ValueError as error:
    raise ImproperlyConfigured(f"TOUCHSTONE_DATA_SETS: {error}") from error
# where all workers keep their rows while they are evaluated
DATA_SETS_FOLDER = env.str("TOUCHSTONE_DATA_SETS_FOLDER", default=str(HOME / "data-sets"))
DATA_SET_ROWS = 1 << 19  # of one task; twice as many make twice the memory

# bytes that the pictures of all collections may take in the database
PICTURE_STORE = env.int("TOUCHSTONE_PICTURE_STORE", default=1000) * 1024 * 1024
if PICTURE_STORE < 0:
    raise ImproperlyConfigured("TOUCHSTONE_PICTURE_STORE must be a number of megabytes from 0 on")

# messages by e-mail: off, unless an administrator names a mail server

MAIL_ON = bool(env.str("TOUCHSTONE_MAIL", default=""))
SITE_URL = env.str("TOUCHSTONE_URL", default="").rstrip("/")
if MAIL_ON:
    if not env.str("TOUCHSTONE_MAIL").startswith(("smtp://", "smtp+tls://", "smtp+ssl://")):
        raise ImproperlyConfigured(
            "TOUCHSTONE_MAIL must begin with smtp://, smtp+tls:// or smtp+ssl://"
        )
    vars().update(env.email_url("TOUCHSTONE_MAIL"))
    EMAIL_TIMEOUT = 20  # seconds
    DEFAULT_FROM_EMAIL = env.str("TOUCHSTONE_MAIL_FROM", default="")
    if "@" not in DEFAULT_FROM_EMAIL:
        raise ImproperlyConfigured("TOUCHSTONE_MAIL_FROM must be an e-mail address")
    if not SITE_URL.startswith(("http://", "https://")):
        raise ImproperlyConfigured("TOUCHSTONE_URL must be the server’s address, for links in mail")

# what budgets and prices are in: one currency for the whole installation

CURRENCY = env.str("TOUCHSTONE_CURRENCY", default="EUR")
if not (CURRENCY.isascii() and CURRENCY.isalpha() and CURRENCY.isupper() and len(CURRENCY) == 3):
    raise ImproperlyConfigured(
        f"TOUCHSTONE_CURRENCY is {CURRENCY!r}: use a code of three letters, such as EUR"
    )

# time, language, cache

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = True
# what the annotators' pages are in; the others are in English (CONTRIBUTING.md)
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
CACHES = {
    "default": {
        # values without code: Django's own backend would run what others put into Redis
        "BACKEND": "judgments.storage.caches.SealedRedisCache",
        "LOCATION": REDIS_URL,
        "VERSION": 2,  # 1 held pickles
        "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 1.0},
    }
    if REDIS_URL
    else {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        # Django holds 300, which the answers about one large board can fill
        "OPTIONS": {"MAX_ENTRIES": 5000},
    }
}

# labels to numbers: how long a live list gathers labels before it makes a version
LIVE_COMMIT_INTERVAL = env.float("TOUCHSTONE_LIVE_COMMIT_INTERVAL", default=0.5)
SWEEP_INTERVAL = env.float("TOUCHSTONE_SWEEP_INTERVAL", default=2.0)

# whether pages are offered a stream of the listener, config/live_listener.py
LIVE = env.bool("TOUCHSTONE_LIVE", default=False)

# Celery: messages are wake-ups; see config/celery.py

CELERY_BROKER_URL = REDIS_URL or "memory://localhost/"
_polling = {"polling_interval": 0.05}
_timeouts = {
    "socket_connect_timeout": 1.0,
    "socket_timeout": 2.0,
    "visibility_timeout": 300,
    "queue_order_strategy": "priority",
}
CELERY_BROKER_TRANSPORT_OPTIONS = _timeouts if REDIS_URL else _polling
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker, however long
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "refresh"
CELERY_TASK_ROUTES = {
    "judgments.work_jobs": {"queue": "jobs"},
    "judgments.take_back": {"queue": "jobs"},
    "judgments.send_messages": {"queue": "jobs"},
    "judgments.clear_old": {"queue": "jobs"},
    "evaluation.refresh_large": {"queue": "jobs"},
    "evaluation.coordinate_data_sets": {"queue": "jobs"},
    "evaluation.work_portion": {"queue": "jobs"},
    "evaluation.report_stability": {"queue": "jobs"},
    "evaluation.evaluate_sample": {"queue": "jobs"},
    "evaluation.correct_means": {"queue": "jobs"},
    "evaluation.compute_measures": {"queue": "jobs"},
    "evaluation.compute_tool_values": {"queue": "jobs"},
    "annotation.refresh_quality": {"queue": "jobs"},
    "annotation.follow_documents": {"queue": "jobs"},
    "annotation.remind": {"queue": "jobs"},
    "annotation.clear_old": {"queue": "jobs"},
    "annotation.preview_rule": {"queue": "jobs"},
    "annotation.preview_aside": {"queue": "jobs"},
}
CELERY_TASK_SOFT_TIME_LIMIT = 3600
CELERY_TASK_TIME_LIMIT = 3660
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 10_000
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# REST

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "judgments.rest.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "judgments.rest.authentication.TokenScope",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["judgments.rest.throttling.PersonThrottle"],
    "EXCEPTION_HANDLER": "judgments.rest.problems.handle_exception",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["judgments.rest.parsing.BoundedJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "judgments.rest.rendering.OneForm",
    "DEFAULT_SCHEMA_CLASS": "judgments.rest.schema.Schema",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS: the schema says more
    "URL_FORMAT_OVERRIDE": None,
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
KNOX_TOKEN_MODEL = "judgments.ApiToken"  # noqa: S105
REST_KNOX = {"AUTH_HEADER_PREFIX": "Bearer", "TOKEN_TTL": None, "AUTO_REFRESH": False}
SPECTACULAR_SETTINGS = {
    "TITLE": "Touchstone",
    "DESCRIPTION": "Relevance labels that can be trusted, and NDCG that can be traced to them.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
}

LOG_FORMAT = env.str("TOUCHSTONE_LOG_FORMAT", default="json" if PRODUCTION else "line")
if LOG_FORMAT not in ("json", "line"):
    raise ImproperlyConfigured(f"TOUCHSTONE_LOG_FORMAT is {LOG_FORMAT!r}: use json or line")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "config.logs.LineFormatter",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["console"], "level": env.str("TOUCHSTONE_LOG_LEVEL", default="WARNING")},
    # Django's own handlers write a line of their own beside the root's, and mail errors
    "loggers": {
        "django": {"handlers": [], "level": "NOTSET", "propagate": True},
        # at DEBUG it would write what other servers' headers say
        "httpcore2": {"level": "INFO"},
        # each seal of the audit log, also where no other line is wanted
        "touchstone.seals": {"level": "INFO" if PRODUCTION else "NOTSET"},
    },
}

# operations: who may read /metrics; no one without a token
METRICS_TOKEN = env.str("TOUCHSTONE_METRICS_TOKEN", default="")
if METRICS_TOKEN and len(METRICS_TOKEN) < 20:
    raise ImproperlyConfigured("TOUCHSTONE_METRICS_TOKEN must have at least 20 characters")


def _keys(name: str, *, others: set[str]) -> list[str]:
    """Keys separated by commas, none of which is the key of something else."""
    keys: list[str] = env.list(name, default=[])
    if any(len(key) < 32 for key in keys):
        raise ImproperlyConfigured(f"{name}: each must have at least 32 characters")
    if others & set(keys):
        raise ImproperlyConfigured(f"{name} must not hold a key of something else")
    return keys


# Without any, judgments/secrets/key_files.py looks for a file; the first is used, all are accepted.
# Backups are signed with the first, secrets of other servers encrypted, the audit log sealed
BACKUP_KEYS = _keys("TOUCHSTONE_BACKUP_KEYS", others={SECRET_KEY})
# public keys of age, for which backups are encrypted; not at all without any
BACKUP_RECIPIENTS: list[str] = env.list("TOUCHSTONE_BACKUP_RECIPIENTS", default=[])
ENCRYPTION_KEYS = _keys("TOUCHSTONE_ENCRYPTION_KEYS", others={SECRET_KEY, *BACKUP_KEYS})
SEAL_KEYS = _keys("TOUCHSTONE_SEAL_KEYS", others={SECRET_KEY, *BACKUP_KEYS, *ENCRYPTION_KEYS})
# the newest seal, outside the database, so that it is missed when it is deleted there
NEWEST_SEAL = env.str("TOUCHSTONE_NEWEST_SEAL", default=str(HOME / "seals" / "newest.json"))

# who was erased: outside the database and its backups, so that `restore` erases them again
ERASURES = env.str("TOUCHSTONE_ERASURES", default=str(HOME / "erasures" / "ledger.jsonl"))

# for how long some records are kept
KEEP_SIGN_INS = _whole("TOUCHSTONE_KEEP_SIGN_INS", default=180, least=1, most=3650, unit="days")
KEEP_DELIVERIES = _whole("TOUCHSTONE_KEEP_DELIVERIES", default=90, least=7, most=3650, unit="days")

# the preload list is opt-in: TOUCHSTONE_HSTS_PRELOAD
SILENCED_SYSTEM_CHECKS = ["security.W021"]
