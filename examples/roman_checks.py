"""What the demonstration's program has to pass."""

from solution import roman


def test_small_numbers():
    assert [roman(n) for n in (1, 2, 3, 4, 5, 9)] == ["I", "II", "III", "IV", "V", "IX"]


def test_subtractions():
    assert roman(40) == "XL"
    assert roman(90) == "XC"
    assert roman(400) == "CD"


def test_years():
    assert roman(1994) == "MCMXCIV"
    assert roman(2026) == "MMXXVI"


def test_the_largest():
    assert roman(3999) == "MMMCMXCIX"
