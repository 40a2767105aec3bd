"""Guidelines in pages."""

from django import template

from judgments.pages.markup import markdown

register = template.Library()
register.filter("markdown", markdown)
