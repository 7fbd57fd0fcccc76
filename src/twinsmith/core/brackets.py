"""Text with brackets in it: where one is closed, and lists that are not cut inside them."""


def closed(text: str) -> tuple[str, str] | None:
    """What is inside the parenthesis that has just been opened, and what is behind it."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return text[:place], text[place + 1 :]
    return None


def parts(text: str, separator: str = ",") -> list[str]:
    """The parts of a list, not cut inside brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == separator and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]
