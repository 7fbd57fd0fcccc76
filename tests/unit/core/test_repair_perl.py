import pytest

from tests.repairs import mended


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("sub f($x, $y) { $x }\n\n1;\n", "sub f { my ($x, $y) = @_; $x }\n\n1;\n"),
        ("sub f($x) {\n    my ($x) = @_;\n}\n1;\n", "sub f {\n    my ($x) = @_;\n}\n1;\n"),
        (
            "sub f ($x, $n = 10, @more) { $n }\n1;\n",
            "sub f { my ($x, $n, @more) = @_; $n = 10 unless defined $n; $n }\n1;\n",
        ),
        ("my $g = sub ($x) { $x };\n1;\n", "my $g = sub { my ($x) = @_; $x };\n1;\n"),
        ("use v5.36;\nsub f($x) { $x }\n1;\n", None),
        ("use feature 'signatures';\nsub f($x) { $x }\n1;\n", None),
        ("sub f($$) { 1 }\n1;\n", None),
    ],
)
def test_perl_takes_arguments_without_signatures(source: str, wanted: str | None) -> None:
    assert mended(source, "perl") == (wanted or source)


def test_perl_that_is_loaded_ends_with_a_true_value() -> None:
    assert mended("sub f { return 2; }\n", "perl") == "sub f { return 2; }\n\n1;\n"
    assert mended("sub f { 2 }\n__END__\ntext\n", "perl") == "sub f { 2 }\n__END__\ntext\n"
    for unsure in ("sub f { 2 }\nprint f()\n", "my $f = sub { 2 }\n"):
        assert mended(unsure, "perl") == unsure
    assert mended("print 2;\n", "perl", kind="cli") == "print 2;\n"
