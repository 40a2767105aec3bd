"""Why pairs were decided goes to side texts; feedback names whose reason it told, not the words."""

from collections.abc import Callable
from typing import Any

from django.db import migrations

from judgments.storage.moving_texts import move_texts, open_facts

Item = dict[str, Any]


def name_reason(apps: Any, one: Any, item: Item) -> Item:
    """An item of feedback with the id of what its words are the reason of."""
    check = apps.get_model("annotation", "GoldCheck").objects.filter(label=item["label"]).first()
    named = {name: value for name, value in item.items() if name != "reason"}
    if check is not None:
        return named | {"gold": check.item_id}
    decided_qs = apps.get_model("annotation", "Adjudication").objects.filter(
        pair__labels=item["label"], reason=item["reason"], decided_at__lte=one.given_at
    )
    decided = decided_qs.order_by("-pair_seq").first() if item["reason"] else None
    return named | ({"adjudication": decided.pk} if decided else {})


def tell_reason(apps: Any, _: Any, item: Item) -> Item:
    """An item of feedback with the words themselves."""
    gold, decided = item.pop("gold", None), item.pop("adjudication", None)
    own = apps.get_model("annotation", "GoldItem" if gold else "Adjudication")
    found = own.objects.filter(pk=gold or decided).first() if gold or decided else None
    return item | {"reason": found.reason if found else ""}


def change_items(change: Callable[[Any, Any, Item], Item]) -> Callable[[Any, Any], None]:
    def run(apps: Any, schema_editor: Any) -> None:
        open_facts(schema_editor.connection, "annotation_feedback")
        for one in list(apps.get_model("annotation", "Feedback").objects.all()):
            one.items = [change(apps, one, item) for item in one.items]
            one.save(update_fields=["items"])

    return run


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_keys_of_reasons")]
    operations = [
        migrations.RunPython(change_items(name_reason), change_items(tell_reason)),
        move_texts("annotation", "Adjudication", "reason_text", ["reason"]),
        migrations.RemoveField("Adjudication", "reason"),
        move_texts("annotation", "Reopening", "reason_text", ["reason"]),
        migrations.RemoveField("Reopening", "reason"),
        move_texts("annotation", "OneMoreLabel", "reason_text", ["reason"]),
        migrations.RemoveField("OneMoreLabel", "reason"),
    ]
