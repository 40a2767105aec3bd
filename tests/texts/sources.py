"""Which files hold texts of translated pages, and how texts are marked in them."""

from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]

# what base.html, these pages and their parts are made of
TEMPLATES: Final = (
    "base.html",
    "broken.html",
    "refused.html",
    *(f"{code}.html" for code in ("400", "403", "403_csrf", "404", "413", "429", "500", "503")),
    *(
        f"components/{name}.html"
        for name in ("copy", "empty", "messages", "pager", "stat", "topbar")
    ),
    "privacy/kept.html",
    "django/forms/div.html",
    "django/forms/field.html",
    "registration/locked_out.html",
    "registration/login.html",
    *(
        f"judgments/{name}.html"
        for name in (
            "address_confirm",
            "confirm",
            "home",
            "invitation",
            "language",
            "message_settings",
            "notices",
            "password",
            "password_forgotten",
            "password_reset",
            "second_factor",
            "sessions",
            "sign_in_code",
        )
    ),
    *(
        f"annotation/{name}.html"
        for name in (
            "_action",
            "_grades",
            "_label_change",
            "_label_guide",
            "_label_guideline",
            "_messages",
            "_news",
            "_own_campaigns",
            "_own_reviews",
            "_own_thread",
            "_passages",
            "_past",
            "_reasons",
            "_refused",
            "_saving",
            "_shown_guideline",
            "_told",
            "campaign_own",
            "feedback",
            "label",
            "my_campaigns",
            "own_labels",
            "own_question",
            "own_questions",
            "own_work",
        )
    ),
)
PYTHON: Final = (
    "annotation/labelling/*.py",
    "annotation/models/questions.py",
    "annotation/models/skips.py",
    "annotation/pages/*.py",
    "annotation/permissions.py",
    "annotation/questions/forms.py",
    "annotation/questions/own_queries.py",
    "annotation/questions/rules.py",
    "annotation/questions/threads.py",
    "annotation/training/standing.py",
    "config/passwords.py",
    "config/privacy/kept.py",
    "judgments/messages/bodies.py",
    "judgments/messages/formatting.py",
    "judgments/messages/forms.py",
    "judgments/messages/queries.py",
    "judgments/messages/views.py",
    "judgments/pages/navigation.py",
)
# these hold texts of English pages too, and so no one looks for unmarked ones
PYTHON_WITH_ENGLISH: Final = (
    "annotation/dashboards/monitoring_views.py",
    "annotation/gold/actions.py",
    "annotation/questions/services.py",
    "judgments/accounts/confirmation.py",
    "judgments/accounts/forms.py",
    "judgments/accounts/own_sessions.py",
    "judgments/accounts/second_factor.py",
    "judgments/accounts/second_factor_views.py",
    "judgments/accounts/security_keys.py",
    "judgments/accounts/views.py",
    "judgments/members/services.py",
    "judgments/messages/kinds.py",
    "judgments/messages/services.py",
    "judgments/models/members.py",
    "judgments/permissions.py",
    "judgments/outgoing/client.py",
    "judgments/pages/markup.py",
    "judgments/pictures/queries.py",
    "judgments/rest/problems.py",
    "judgments/sign_on/adapters.py",
    "judgments/sign_on/linking.py",
    "judgments/sign_on/rules.py",
    "judgments/sign_on/services.py",
    "judgments/templatetags/touchstone.py",
)
SCRIPTS: Final = ("static/annotation/*.js", "static/touchstone/app.js")
WORDS_OF_QUERIES: Final = "terms.js"  # no texts of the page

# name of the function → which arguments are texts, from 1; (1, "c") is a context
KEYWORDS: Final[dict[str, Any]] = {
    "Action": (3,),  # of annotation/pages/keys.py
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "_": None,
    # what a rule refuses is put into the reader's language by `message_of`
    "AddressRefused": (2,),
    "CodeRefused": (2,),
    "KeysRefused": (1,),
    "LabelRefused": (2,),
    "MemberRefused": (2,),
    "QuestionRefused": (2,),
    "SignOnRefused": (2,),
    "SkipRefused": (2,),
}


def list_templates() -> list[Path]:
    return [ROOT / "templates" / name for name in TEMPLATES]


def list_files(patterns: tuple[str, ...]) -> list[Path]:
    return [found for pattern in patterns for found in sorted(ROOT.glob(pattern))]
