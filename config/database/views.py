"""The page that tells administrators how large the database is."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from config.database.queries import get_table_sizes
from judgments.pages.rendering import signed_in


@require_safe
def database_sizes(request: HttpRequest) -> HttpResponse:
    """Tables and indexes, the largest first."""
    tables = get_table_sizes(viewer=signed_in(request))
    shown = {"tables": tables, "total": sum(table.total for table in tables)}
    return render(request, "accounts/database_sizes.html", shown)
