"""What the measures mean."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.leaderboards.measures_page import get_measures_page
from touchstone.measures.asking import ask
from touchstone.measures.errors import MeasureError


@require_safe
def measures(request: HttpRequest) -> HttpResponse:
    """Families, parameters and presets, which cutoff suits which use, and a name put into words."""
    asked = request.GET.get("measure", "").strip()
    refusal, tried = "", None
    if asked:
        try:
            tried = ask(asked).measure
        except MeasureError as error:
            refusal = error.message
    context = {
        "page": get_measures_page(tried=tried),
        "asked": asked,
        "refusal": refusal,
    }
    return render(request, "evaluation/measures.html", context, status=400 if refusal else 200)
