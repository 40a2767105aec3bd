"""The demo's guideline."""

import re

import pytest

from config.demo.guideline import guideline
from touchstone.scales import Grade, Scale


@pytest.mark.parametrize("grade", Scale.default().grades, ids=str)
def test_every_grade_of_the_scale_has_an_example_and_a_counter_example(grade: Grade) -> None:
    sections = re.split(r"^## ", guideline(), flags=re.MULTILINE)
    heading = f"{grade.code} {grade.name}\n"
    (section,) = [one for one in sections if one.startswith(heading)]
    assert f"| {grade.code} | {grade.name} |" in guideline()
    assert "*Example.*" in section
    assert "*Counter-example.*" in section
