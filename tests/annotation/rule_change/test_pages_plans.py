"""Planning a campaign where a collection has several lists."""

import pytest
from django.urls import reverse

from annotation.models import Campaign
from tests.annotation.page_reading import client_of, words
from tests.builders import make_list, make_world
from tests.builders_annotation import make_guideline

pytestmark = pytest.mark.django_db


def test_of_several_lists_none_is_chosen_by_itself() -> None:
    world = make_world()
    make_guideline(world=world)
    ada = client_of("ada")
    place = reverse("campaign-create", args=["books"])
    assert "Choose a list" not in ada.get(place).content.decode()
    make_list(collection=world.collection, slug="known")
    assert '<option value="" selected>Choose a list</option>' in ada.get(place).content.decode()
    asked = ada.get(f"{place}?list=known").content.decode()
    assert '<option value="known" selected>' in asked
    page = ada.post(place, {"name": "Spring", "judgment_list": ""})
    assert "This field is required" in words(page)
    assert not Campaign.objects.exists()
