"""What the measures mean."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluation.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES
from evaluation.measures.definition import FAMILIES
from evaluation.measures.wording import describe


@require_safe
def measures(request: HttpRequest) -> HttpResponse:
    """Every family of measures, the ones a new list keeps, and which cutoff suits which use."""
    context = {
        "families": FAMILIES.values(),
        "defaults": [(measure.name, describe(measure)) for measure in DEFAULT_MEASURES],
        "uses": CUTOFF_USES,
    }
    return render(request, "evaluation/measures.html", context)
