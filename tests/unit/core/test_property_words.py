"""Words of a task that name a property, and words that only sound like it."""

import pytest

from twinsmith.core.checks.property_words import named


@pytest.mark.parametrize(
    "text",
    [
        "Write a function that sorts a list of integers.",
        "Write a Rust function f that sorts a list of numbers in ascending order",
        "Sort the given array by using shell sort. The Python function is called f.",
        'def f(xs: list[int]) -> list[int]:\n    """Sort a list of numbers.\n    >>> f([1])\n"""',
    ],
)
def test_what_sorts_a_whole_list_orders_it_keeps_its_items_and_is_done_once(text: str) -> None:
    assert named(text, "f") == ("rises", "keeps items", "done once")


def test_a_list_may_be_sorted_the_other_way_round() -> None:
    text = "Write a function that sorts a list of integers in descending order."
    assert named(text, "f") == ("falls", "keeps items", "done once")
    text = "Sort a list of numbers from largest to smallest."
    assert named(text, "f")[0] == "falls"


@pytest.mark.parametrize(
    "text",
    [
        "Given a list of integers, return the sorted list of the odd ones.",
        "Given a list of integers, return a sorted list of all elements without an even digit.",
        "Merge three lists into a single sorted list.",
        "Return sorted unique elements in a list",
    ],
)
def test_a_sorted_result_is_only_ordered(text: str) -> None:
    assert named(text, "f") == ("rises",)


def test_a_result_may_fall() -> None:
    text = "Return a sorted list of the n largest integers, in descending order."
    assert named(text, "f") == ("falls",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Write a function that does something with a list.",
        "Return a list sorted by length.",
        "Return the sorted list of words by length.",
        "Sort only the even positions of a list.",
        "Sort a list of numbers. Zeros stay where they are.",
        "Sort a list of numbers. Return the largest.",
        "Sort a list of numbers. Even numbers come first.",
        "Sort a list of integers in place.",
        "Sort a list of numbers and remove duplicates.",
        "Sort the first k elements of a list.",
        "Sort each sublist of strings in a given list of lists.",
        "Sort a list of integers in ascending order, or in descending order for odd sums.",
        "Sort a list in a strange order: smallest, largest, second smallest and so on.",
        "Check whether a given list is sorted in ascending order.",
        "Return whether or not the numbers are sorted in ascending order.",
        "Return a sorted list. Even numbers come before odd ones.",
        "Return a sorted list of all digits, or None for an empty list.",
        "Return a sorted list of the words.",
        "Return a sorted list of pairs.",
        "Find the median of a sorted list.",
        "Take a sorted array and return the index of a number in it.",
        "Return True if the list is increasing.",
        "Find the longest increasing subsequence.",
        "Return a sorted list in ascending or descending order.",
        "Return a sorted list. The list is sorted in place.",
        'def f(xs: list[int]) -> None:\n    """Sort a list of integers."""',
        "// Return a sorted list of the numbers.\nvoid f(std::vector<int>& xs);",
    ],
)
def test_words_that_only_sound_like_a_sorted_list(text: str) -> None:
    assert named(text, "f") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Sort a list of integers in ascending order according to the sum of their digits.",
        "Sort a list of words by length.",
        "Write a function to sort a given matrix based on the sum of its rows.",
    ],
)
def test_what_is_ordered_by_something_else_still_keeps_its_items(text: str) -> None:
    assert named(text, "f") == ("keeps items",)


@pytest.mark.parametrize(
    "text",
    [
        "Sort a list of integers by value and drop those below zero.",
        "Rotate a list until it is sorted and return how often.",
        "Rotate a list. Return the smallest number.",
        "Rotate an array by 90 degrees.",
    ],
)
def test_what_may_lose_items_does_not_keep_them(text: str) -> None:
    assert named(text, "f") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Remove all whitespaces from the given string.",
        "Remove punctuation from a text.",
    ],
)
def test_what_is_done_once(text: str) -> None:
    assert named(text, "f") == ("done once",)


@pytest.mark.parametrize(
    "text",
    [
        "Remove odd characters in a string.",
        "Remove all characters with odd index from a string.",
        "Remove the first and last occurrence of a character.",
        "Remove adjacent equal pairs from a string.",
        "Remove all whitespaces from the given string and reverse it.",
        "Remove all spaces from a string. Return how many there were.",
        "Count the vowels of a string.",
        "Normalise a vector to length one.",
        "Convert a string to uppercase. Every second letter stays small.",
        "Trim a string to ten letters and three dots",
    ],
)
def test_what_may_go_on_when_done_again(text: str) -> None:
    assert named(text, "f") == ()


@pytest.mark.parametrize(
    "text",
    [
        "Return a greatest common divisor of two integers a and b",
        "Compute the LCM of two numbers.",
        "Calculate the Hamming distance between two strings of equal length.",
        "Add two numbers x and y",
        "Find the maximum of two numbers.",
        "Check if two words have the same characters.",
        "Check whether the given two integers have opposite sign or not.",
    ],
)
def test_either_order(text: str) -> None:
    assert named(text, "f") == ("either order",)


@pytest.mark.parametrize(
    "text",
    [
        "Subtract two numbers.",
        "Add two strings.",
        "Find the quotient of two numbers.",
        "Check whether two strings are prefix and word.",
        "Check if two numbers are in ascending order.",
        "Check if two lists are such that the first contains the second.",
        "Find the edit distance between two words. Insertions cost twice as much as deletions.",
        "Find the edit distance between a word and a pattern.",
    ],
)
def test_an_order_that_matters(text: str) -> None:
    assert named(text, "f") == ()
