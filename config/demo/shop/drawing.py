"""Pictures of products, drawn here: a plain shape in a colour, so that no photograph is needed."""

import base64
import io
from functools import cache
from typing import Final

from PIL import Image, ImageDraw

SIDE: Final = 240
FINE: Final = 2  # drawn larger and made smaller, for smooth edges
GROUND: Final = "#f6f4ef"
LINE: Final = "#3b3a36"
COLOURS: Final = {
    "black": "#33343a",
    "blue": "#27457f",
    "brown": "#7a5230",
    "green": "#4f7a4a",
    "grey": "#8d9094",
    "red": "#b8352f",
    "sky": "#8fbfe3",
    "steel": "#c3c9cf",
    "white": "#fffdf8",
    "yellow": "#edc22e",
}
# (form, points in a square of 100, whether in the product's colour); "line" is a stroke
Part = tuple[str, tuple[float, ...], bool]
SHAPES: Final[dict[str, tuple[Part, ...]]] = {
    "teapot": (
        ("line", (24, 58, 10, 44, 14, 36), True),
        ("arc", (66, 40, 92, 68), True),
        ("ellipse", (22, 36, 76, 80), True),
        ("ellipse", (36, 31, 62, 42), True),
        ("ellipse", (46, 25, 53, 32), False),
    ),
    "kettle": (
        ("line", (28, 56, 12, 44, 10, 38), True),
        ("arc", (28, 14, 74, 62), False),
        ("polygon", (30, 40, 70, 40, 82, 80, 20, 80), True),
        ("ellipse", (46, 33, 55, 42), False),
    ),
    "infuser": (
        ("line", (50, 46, 50, 12, 66, 10), True),
        ("ellipse", (30, 40, 70, 80), True),
        ("line", (32, 60, 68, 60), False),
        ("line", (38, 48, 62, 48), False),
        ("line", (38, 72, 62, 72), False),
    ),
    "mug": (("arc", (58, 38, 88, 68), True), ("box", (24, 30, 70, 80), True)),
    "tumbler": (
        ("polygon", (32, 26, 68, 26, 62, 86, 38, 86), True),
        ("box", (29, 16, 71, 27), False),
    ),
    "shoe": (
        ("polygon", (12, 46, 26, 36, 40, 38, 58, 56, 86, 62, 90, 74, 12, 74), True),
        ("box", (10, 73, 92, 81), False),
        ("line", (40, 40, 34, 50), False),
        ("line", (47, 46, 41, 56), False),
        ("line", (54, 52, 48, 62), False),
    ),
    "boot": (
        ("polygon", (26, 14, 56, 14, 56, 50, 86, 60, 90, 76, 26, 76), True),
        ("box", (23, 75, 92, 84), False),
        ("line", (44, 28, 56, 28), False),
        ("line", (44, 38, 56, 38), False),
        ("line", (46, 48, 58, 48), False),
    ),
    "laces": (
        ("line", (12, 30, 40, 62, 62, 30, 88, 62), True),
        ("line", (12, 66, 40, 34, 62, 66, 88, 34), True),
    ),
    "tube": (
        ("polygon", (34, 20, 66, 20, 60, 74, 40, 74), True),
        ("box", (42, 73, 58, 84), False),
    ),
    "jacket": (
        ("polygon", (30, 30, 10, 66, 20, 72, 32, 54), True),
        ("polygon", (70, 30, 90, 66, 80, 72, 68, 54), True),
        ("polygon", (32, 28, 68, 28, 72, 84, 28, 84), True),
        ("ellipse", (37, 10, 63, 34), True),
        ("line", (50, 34, 50, 84), False),
    ),
    "lamp": (
        ("line", (50, 80, 34, 50, 62, 28), False),
        ("polygon", (52, 18, 74, 34, 84, 52, 56, 46), True),
        ("box", (32, 78, 68, 85), True),
    ),
    "bulb": (("ellipse", (28, 14, 72, 62), True), ("box", (40, 60, 60, 82), False)),
    "bottle": (
        ("polygon", (42, 22, 58, 22, 66, 36, 66, 88, 34, 88, 34, 36), True),
        ("box", (42, 10, 58, 22), False),
    ),
    "brush": (("line", (50, 90, 50, 46), False), ("box", (42, 12, 58, 50), True)),
    "keyboard": (
        ("box", (8, 34, 92, 70), True),
        ("line", (14, 44, 86, 44), False),
        ("line", (14, 53, 86, 53), False),
        ("line", (30, 62, 70, 62), False),
    ),
    "mouse": (("ellipse", (34, 18, 66, 80), True), ("line", (50, 20, 50, 44), False)),
    "sleeve": (("box", (10, 34, 90, 70), True), ("line", (12, 42, 88, 42), False)),
    "backpack": (
        ("arc", (38, 8, 62, 32), False),
        ("polygon", (30, 20, 70, 20, 76, 86, 24, 86), True),
        ("box", (34, 54, 66, 80), True),
        ("line", (36, 36, 64, 36), False),
    ),
    "scarf": (("polygon", (22, 14, 46, 14, 56, 50, 66, 86, 42, 86, 34, 50), True),),
    "fringed": (
        ("polygon", (22, 14, 46, 14, 56, 50, 64, 78, 40, 78, 34, 50), True),
        ("line", (42, 78, 44, 90), False),
        ("line", (48, 78, 50, 90), False),
        ("line", (54, 78, 56, 90), False),
        ("line", (60, 78, 62, 90), False),
    ),
    "hat": (
        ("ellipse", (22, 20, 78, 90), True),
        ("box", (18, 58, 82, 78), True),
        ("ellipse", (43, 10, 57, 24), True),
    ),
    "gloves": (
        ("box", (26, 30, 62, 84), True),
        ("polygon", (60, 52, 80, 34, 84, 42, 62, 68), True),
        ("line", (38, 30, 38, 50), False),
        ("line", (50, 30, 50, 50), False),
    ),
}


@cache
def draw(shape: str, colour: str) -> str:
    """The picture as a data URI of a PNG, as documents can bring one."""
    image = Image.new("RGB", (SIDE * FINE, SIDE * FINE), GROUND)
    canvas = ImageDraw.Draw(image)
    for form, points, is_coloured in SHAPES[shape]:
        scaled = [point * SIDE * FINE / 100 for point in points]
        fill, width = (COLOURS[colour] if is_coloured else LINE), 3 * FINE
        match form:
            case "ellipse":
                canvas.ellipse(scaled, fill=fill, outline=LINE, width=width)
            case "box":
                canvas.rounded_rectangle(scaled, 12, fill=fill, outline=LINE, width=width)
            case "polygon":
                canvas.polygon(scaled, fill=fill, outline=LINE, width=width)
            case "arc":
                canvas.ellipse(scaled, outline=LINE, width=8 * FINE)
            case "line":
                canvas.line(scaled, fill=LINE if not is_coloured else fill, width=5 * FINE)
    file = io.BytesIO()
    image.resize((SIDE, SIDE), Image.Resampling.LANCZOS).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
