"""An administrator links an account that exists to a person at the identity provider."""

from datetime import datetime

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import transaction

from judgments.audit import services as audit
from judgments.models import User
from judgments.sign_on.rules import SignOnRefused


def link_account(*, user: User, subject: str, by: User | None, at: datetime) -> bool:
    """Let the issuer's subject sign in as this account; False if they do already.

    Raises SignOnRefused for a subject that is linked to another account.
    """
    with transaction.atomic():
        link, is_new = SocialAccount.objects.get_or_create(
            provider=settings.SIGN_ON_PROVIDER, uid=subject, defaults={"user": user}
        )
        if link.user_id != user.pk:
            raise SignOnRefused("linked", "This subject is linked to another account.")
        if is_new:
            audit.record(
                collection=None, actor=by, at=at, action="account.linked", subject=user.username
            )
    return bool(is_new)
