"""Forms about people."""

from django import forms

from judgments.members.services import INVITATION_DAYS
from judgments.messages.channels import get_channel
from judgments.messages.kinds import EMAIL
from judgments.models import Role
from judgments.permissions import Access, may_give_role

WHAT_ROLES_DO = {
    Role.ANNOTATOR: "annotator: labels only",
    Role.RESEARCHER: "researcher: uploads and compares runs",
    Role.LEAD: "lead: manages everything and sees names",
}


class InvitationForm(forms.Form):
    """A new invitation; the roles offered are those that the viewer may give."""

    role = forms.ChoiceField(label="As", widget=forms.RadioSelect)
    note = forms.CharField(
        label="For whom",
        max_length=200,
        required=False,
        help_text="A note to identify this invitation. Only those who manage members see it.",
    )
    email = forms.EmailField(
        label="Send the link to",
        max_length=254,
        required=False,
        help_text="An e-mail address; leave it empty to send the link yourself.",
    )
    days = forms.TypedChoiceField(
        label="Expires in",
        coerce=int,
        choices=[(days, "1 day" if days == 1 else f"{days} days") for days in INVITATION_DAYS],
        initial=7,
    )

    def __init__(self, *args: object, access: Access, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        roles = [(role.value, WHAT_ROLES_DO[role]) for role in Role if may_give_role(access, role)]
        field = self.fields["role"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = roles
        field.initial = Role.ANNOTATOR.value
        if not get_channel(EMAIL).is_on():
            del self.fields["email"]


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Role.choices)
