"""Guidelines in pages."""

from django import template

from judgments.markup import markdown

register = template.Library()
register.filter("markdown", markdown)
