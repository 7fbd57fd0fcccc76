"""Text with brackets: finding where one is closed, and cutting lists only outside of brackets."""


def closed(text: str) -> tuple[str, str] | None:
    """The text inside a parenthesis that was just opened, and the text after it; None: unclosed."""
    depth = 1
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if depth == 0:
            return text[:place], text[place + 1 :]
    return None


def parts(text: str, separator: str = ",") -> list[str]:
    """The parts of a list between separators that stand outside of brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == separator and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [part.strip() for part in found if part.strip()]
