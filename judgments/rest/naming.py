"""What a request says of something new that has a name, and a short one for addresses."""

from typing import Any

from rest_framework import serializers

from judgments.models.collections import SLUG
from touchstone.slugs import LONGEST, short_name


class NamedInput(serializers.Serializer[Any]):
    """slug: for URLs and commands; derived from the name if omitted; can't be changed later."""

    slug = serializers.CharField(max_length=LONGEST, validators=[SLUG], required=False)
    name = serializers.CharField(max_length=200, allow_blank=True, default="")
    description = serializers.CharField(max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Make the slug where there is none."""
        if "slug" not in attrs:
            attrs["slug"] = short_name(attrs["name"])
        if not attrs["slug"]:
            message = "Send a slug, or a name with letters (a-z) or digits to derive one from."
            raise serializers.ValidationError({"slug": message})
        return attrs
