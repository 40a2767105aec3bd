"""What was cleaned by earlier rules is cleaned again by a migration."""

from importlib import import_module

import pytest
from django.apps import apps

from judgments.models import Document
from tests.builders import make_collection, make_documents


@pytest.mark.django_db
def test_what_is_embedded_leaves_a_placeholder_in_what_was_stored_without() -> None:
    (document,) = make_documents(collection=make_collection(), count=1)
    Document.objects.filter(pk=document.pk).update(
        fields={"html": "<p>a<video></video>"}, clean_html="<p>a</p>"
    )
    name = "judgments.migrations.0009_placeholders_in_documents"
    import_module(name).clean_again(apps, None)
    document.refresh_from_db()
    assert document.clean_html == '<p>a<left-out kind="video"></left-out></p>'


@pytest.mark.django_db
def test_links_come_back_into_what_was_stored_without_them() -> None:
    linked, plain, none = make_documents(collection=make_collection(), count=3)
    html = "<p>see <a href='/x'>there</a>"
    Document.objects.filter(pk=linked.pk).update(
        fields={"html": html}, clean_html="<p>see there</p>"
    )
    Document.objects.filter(pk=plain.pk).update(fields={"html": "<p>a"}, clean_html="<p>a</p>")
    import_module("judgments.migrations.0007_links_in_documents").clean_again(apps, None)
    found = Document.objects.order_by("pk").values_list("clean_html", flat=True)
    assert list(found) == ["<p>see <a>there</a></p>", "<p>a</p>", ""]
    assert none.clean_html == ""
