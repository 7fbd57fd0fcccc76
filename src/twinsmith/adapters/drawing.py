"""Pictures as PNG files, by Pillow, whose own font needs none on the machine."""

import io

from twinsmith.core.plot import Picture, Words

SIZE = 12


def png(drawn: Picture) -> bytes:
    """The picture as a PNG file."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (drawn.width, drawn.height), "#ffffff")
    draw, font = ImageDraw.Draw(image), ImageFont.load_default(SIZE)
    for shape in drawn.shapes:
        if isinstance(shape, Words):
            x, y = shape.at
            # Words stand on their point in SVG and hang from it here.
            draw.text((x, y - SIZE), shape.text, fill=shape.colour, font=font)
        elif len(shape.points) > 1:
            draw.line(shape.points, fill=shape.colour, width=max(1, round(shape.thick)))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()
