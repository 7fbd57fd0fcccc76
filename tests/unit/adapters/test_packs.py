"""Packs: what is installed is found and read, with its version and licence; nothing is run."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.knowledge.embedder import HashedEmbedder
from twinsmith.adapters.knowledge.library import Library
from twinsmith.adapters.knowledge.packs import (
    cpp_docs,
    go_docs,
    man_pages,
    pod,
    python_docs,
    rust_docs,
)
from twinsmith.adapters.knowledge.packs.article import LONGEST_PART, Article, Part, shortened
from twinsmith.adapters.knowledge.packs.catalogue import PACKS, Machine, find, places
from twinsmith.adapters.knowledge.packs.installed import wheel
from twinsmith.adapters.knowledge.packs.reading import Read, read_places
from twinsmith.adapters.knowledge.sqlite_store import SqliteStore
from twinsmith.core.errors import ConfigError

STATUS = """\
Package: manpages-dev
Status: install ok installed
Version: 6.03-2

Package: rust-src
Status: deinstall ok config-files
Version: 1.63.0
"""
COPYRIGHT = "Format: x\n\nFiles: *\nCopyright: someone\nLicense: GPL-2+\n\nFiles: a\nLicense: MIT\n"
PAGE = r"""'\" t
.TH strtol 3 2023-02-05
.SH NAME
strtol \- convert a string to a long integer
.SH SYNOPSIS
.nf
.BI "long strtol(const char *" nptr );
.fi
.SH DESCRIPTION
The
.BR strtol ()
function converts the string to a value; the rest, \[aq]x\[aq], is told by its address.
.SH EXAMPLES
.EX
int main(void) {
  char *rest;
  long n = strtol("12x", &rest, 10);
  return n == 12 && *rest == \[aq]x\[aq];
}
.EE
"""


def quiet(_done: int, _total: int) -> None:
    pass


def only(parts: list[Part]) -> Part:
    (part,) = parts
    return part


@pytest.fixture
def root(tmp_path: Path) -> Path:
    pages = tmp_path / "usr/share/man/man3"
    pages.mkdir(parents=True)
    (pages / "strtol.3.gz").write_bytes(gzip.compress(PAGE.encode()))
    (pages / "strtoll.3.gz").symlink_to("strtol.3.gz")
    (pages / "broken.3.gz").write_bytes(b"\x1f\x8b\x08 no more")
    listed = "\n".join(
        f"/usr/share/man/man3/{n}.3.gz" for n in ("strtol", "strtoll", "broken", "x")
    )
    info = tmp_path / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    (info / "manpages-dev.list").write_text(listed)
    (tmp_path / "var/lib/dpkg/status").write_text(STATUS)
    doc = tmp_path / "usr/share/doc/manpages-dev"
    doc.mkdir(parents=True)
    (doc / "copyright").write_text(COPYRIGHT)
    return tmp_path


def library(folder: Path) -> Library:
    store = SqliteStore(folder / "knowledge.db")
    return Library(store, folder, HashedEmbedder(), ManualClock(), "test")


async def test_a_pack_is_kept_with_its_lineage_and_added_again_for_nothing(
    root: Path, tmp_path: Path
) -> None:
    pack = find("c")
    read = read_places(places(pack, Machine(root=root)), quiet)
    assert [skipped.path for skipped in read.skipped] == ["usr/share/man/man3/broken.3.gz"]
    known = library(tmp_path / "known")
    added = await known.add_pack(read, pack.source, lambda _done, _path: None)
    assert (added.new, added.passages) == (1, 2)
    hit = (await known.search("convert a string to a long integer", 1, "c"))[0].passage
    assert (hit.source, hit.path, hit.symbol) == (
        *("pack:c", "usr/share/man/man3/strtol.3.gz", "strtol(3)"),
    )
    assert hit.licence == "GPL-2+"
    assert hit.version.startswith("manpages-dev 6.03-2 ")
    assert "long strtol(const char *nptr);" in hit.text
    assert "'x', is told" in hit.text
    again = await known.add_pack(read, pack.source, lambda _done, _path: None)
    assert (again.new, again.changed, again.unchanged, again.passages) == (0, 0, 1, 0)
    assert known.passages_by_source() == {"pack:c": 2}
    assert known.remove("pack:c") == 1
    await known.close()


async def test_another_version_takes_the_place_of_the_old_one(root: Path, tmp_path: Path) -> None:
    known = library(tmp_path / "known")
    for version in ("6.03-2", "6.9"):
        status = root / f"{version}/var/lib/dpkg"
        status.mkdir(parents=True)
        (status / "status").write_text(STATUS.replace("6.03-2", version))
        (status / "info").symlink_to(root / "var/lib/dpkg/info")
        (root / f"{version}/usr").symlink_to(root / "usr")
        read = read_places(places(PACKS["c"], Machine(root=root / version)), quiet)
        added = await known.add_pack(read, "pack:c", lambda _done, _path: None)
    assert (added.new, added.changed, added.removed) == (0, 1, 0)
    (hit, *_) = await known.search("convert a string to a long integer", 1)
    assert hit.passage.version.startswith("manpages-dev 6.9 ")
    await known.close()


async def test_one_language_is_found_among_many_passages_of_another(
    root: Path, tmp_path: Path
) -> None:
    known = library(tmp_path / "known")
    (place,) = [p for p in places(PACKS["c"], Machine(root=root)) if "strtol" in p.path]
    said = "convert a string to a long integer"
    nearer = tuple(Part(symbol=f"f{n}", text=said, line=1) for n in range(150))
    articles = (
        Article(place=replace(place, language="go"), parts=nearer),
        Article(
            place=replace(place, path="x"), parts=(Part(symbol="c", text=f"{said} !", line=1),)
        ),
    )
    read = Read(articles=articles, skipped=(), left_out=0)
    await known.add_pack(read, "pack:c", lambda _done, _path: None)
    (hit,) = await known.search(said, 3, "c", "dense")
    assert hit.passage.symbol == "c"
    await known.close()


def test_what_is_not_installed_has_nothing_and_says_what_brings_it(tmp_path: Path) -> None:
    for pack in PACKS.values():
        assert places(pack, Machine(root=tmp_path)) == [], pack.name
        assert "apt-get install" in pack.install or "knowledge add --pack" in pack.install
    with pytest.raises(ConfigError, match="pack 'cobol' is not known; one of python, go"):
        find("cobol")


def test_a_pack_has_a_bound_and_no_text_twice(root: Path) -> None:
    found = places(PACKS["c"], Machine(root=root))
    assert read_places([*found, *found], quiet).passages == 2
    bounded = read_places(found, quiet, most=1)
    assert (bounded.passages, bounded.left_out) == (1, 1)


def test_go_rust_perl_and_cpp_are_found_where_debian_puts_them(tmp_path: Path) -> None:
    files = {
        "usr/share/go-1.19/src/net/http/server.go": "package http\n",
        "usr/share/go-1.19/src/encoding/csv/example_test.go": GO_EXAMPLE,
        "usr/src/rustc-1.63.0/library/alloc/src/string.rs": RUST,
        "usr/share/perl/5.36.0/Getopt/Long.pm": POD,
        "usr/include/c++/12/bits/stl_algo.h": CPP,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for name, path in (
        ("rust", "alloc/src/string.rs"),
        ("cpp", "usr/include/c++/12/bits/stl_algo.h"),
    ):
        (place,) = places(PACKS[name], Machine(root=tmp_path))
        assert (place.path, place.language) == (path, name)
    assert place.origin.licence == "GPL-3+ with GCC exception"
    (place,) = places(PACKS["perl"], Machine(root=tmp_path))
    assert (place.about, place.origin.version) == ("Getopt::Long", "unknown")
    paths = [place.path for place in places(PACKS["go"], Machine(root=tmp_path))]
    assert paths == ["net/http/server.go", "encoding/csv/example_test.go"]


def test_libraries_are_read_from_wheels_by_the_names_they_export(tmp_path: Path) -> None:
    made = tmp_path / "jwt"
    made.mkdir()
    (made / "__init__.py").write_text("from .api_jwt import encode\nraise SystemExit\n")
    said = "Turn claims into a token that is signed, and that nobody can change unnoticed."
    (made / "api_jwt.py").write_text(
        f'def encode(payload: dict, key: str) -> str:\n    """{said} :func:`x`"""\n'
    )
    (made / "_private.py").write_text(f'def hidden():\n    """{said} {said}"""\n')
    info = tmp_path / "PyJWT-2.15.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Name: PyJWT\nVersion: 2.15.1\nLicense-Expression: MIT\n\nLicense: no\n"
    )
    read = read_places(places(PACKS["jwt"], Machine(layer=tmp_path)), quiet)
    part = only([part for article in read.articles for part in article.parts])
    assert part.symbol == "jwt.encode"
    assert part.text == f"jwt.encode(payload: dict, key: str) -> str\n\n{said} x\n"
    origin = read.articles[0].place.origin
    assert (origin.package, origin.version, origin.licence) == ("pyjwt", "2.15.1", "MIT")
    assert wheel(tmp_path, "flask") is None


CLASS = '''"""Reads tables: rows of values with commas between them, as spreadsheets write them."""
class Reader(Base):
    """Goes through the rows of a table, one by one, and gives each of them as a list of texts."""
    def _own(self): """Nobody is told about this, however long the text may be that stands here."""
    async def rows(self, most=10):
        """Read no more rows than this, and fewer where the file ends earlier than that."""
'''
MANUAL = """\
:mod:`csv` --- CSV File Reading and Writing
===========================================

.. module:: csv
   :synopsis: Write and read tabular data.

The :mod:`csv` module's :class:`reader` and :class:`writer` objects read and write sequences,
one for each row of a table.

.. class:: Sniffer

   The :class:`Sniffer` class is used to deduce the format of a CSV file, by looking at
   its first lines; what it finds is no more than a good guess.

   .. method:: sniff(sample, delimiters=None)

      Analyze the given *sample* and return a :class:`Dialect` subclass that suits it::

         >>> csv.Sniffer().sniff('a;b')

   .. versionadded:: 2.3
"""
GO = """\
// Package csv reads and writes comma-separated values (CSV) files. There are many kinds of them.
package csv

// A Reader reads records from a CSV-encoded file. As returned by NewReader, it expects RFC 4180.
type Reader struct {
\tComma rune
\thidden int
}

// ReadAll reads all the remaining records from r. Each record is a slice of fields, in order.
func (r *Reader) ReadAll() (records [][]string, err error) {
\treturn
}

// hidden does what nobody outside is told about, even though it has a long comment above it.
func hidden() {}
"""
GO_EXAMPLE = """\
package csv_test

// This example shows how to read all records.
func ExampleReader_ReadAll() {
\tr := csv.NewReader(strings.NewReader("first_name;last_name"))
\trecords, err := r.ReadAll()
\tfmt.Print(records, err)
}
"""
POD = """\
package Getopt::Long;
sub x { 1 }
=head1 NAME

Getopt::Long - no passage of its own, whatever it says and however long it may become here

=head1 Options with values

Use C<=s> for a value that is B<needed>, see L<perlfunc/open>: C<< $x->{y} >> holds it afterwards.

    GetOptions('tag=s' => \\$tag);

=cut
sub hidden { 2 }
"""
RUST = """\
impl<T, A: Allocator> Vec<T, A> {
    /// Appends an element to the back of a collection. See [`reserve`] for what that may cost.
    ///
    /// [`reserve`]: Vec::reserve
    ///
    /// ```
    /// # use std::vec;
    /// let mut vec = vec![1, 2];
    /// ```
    #[inline]
    #[stable(feature = "rust1", since = "1.0.0")]
    pub fn push(&mut self, value: T) {
    }

    /// Not stable yet, so nobody should be told about it, however long the comment becomes.
    #[unstable(feature = "x", issue = "1")]
    pub fn later(&self) {}
}
"""
CPP = """\
  /**
   *  @brief Count the number of copies of a value in a sequence.
   *  @ingroup non_mutating_algorithms
   *  @param  __first  An input iterator.
   *  @return   The number of iterators @c i in the range for which @c *i == @p __value
  */
  template<typename _InputIterator, typename _Tp>
    _GLIBCXX20_CONSTEXPR
    inline typename iterator_traits<_InputIterator>::difference_type
    count(_InputIterator __first, _InputIterator __last, const _Tp& __value)
    {
"""
REFERENCE = """<html><h1 id="firstHeading"><span>std::</span>count</h1><div id="mw-content-text">
<div class="t-navbar"><table><tr><td>Navigation</td></tr></table></div>
<p>Returns the number of elements in the range that are equal to a value or satisfy a test.</p>
<div class="t-example"><pre>#include &lt;algorithm&gt;
int main() { std::vector&lt;int&gt; v{1, 2, 1};
 return std::count(v.begin(), v.end(), 1); }</pre></div>
</div></html>"""


def test_python_is_read_by_its_grammar_and_its_manual_by_directives() -> None:
    parts = list(python_docs.docstrings(CLASS, "tables"))
    assert [part.symbol for part in parts] == ["tables", "tables.Reader", "tables.Reader.rows"]
    assert parts[2].text.startswith("tables.Reader.rows(self, most=10)\n\nRead no more rows")
    assert parts[2].line == 5
    whole, sniffer, sniff = python_docs.manual(MANUAL, "csv")
    assert whole.symbol == "csv --- CSV File Reading and Writing"
    assert "The csv module's reader and writer objects" in whole.text
    assert sniffer.symbol == "csv.Sniffer"
    assert sniff.text.startswith("csv.Sniffer.sniff(sample, delimiters=None)\n\nAnalyze")
    assert ">>> csv.Sniffer().sniff('a;b')" in sniff.text
    assert "versionadded" not in sniff.text


def test_go_is_read_by_what_stands_above_exported_names_and_by_its_examples() -> None:
    package, reader, read_all = go_docs.declarations(GO, "encoding/csv")
    assert (package.symbol, reader.symbol) == ("encoding/csv", "csv.Reader")
    assert "    Comma rune\n}" in reader.text
    assert read_all.symbol == "csv.Reader.ReadAll"
    assert "func (r *Reader) ReadAll() (records [][]string, err error)\n" in read_all.text
    example = only(list(go_docs.examples(GO_EXAMPLE, "encoding/csv")))
    assert example.symbol == "csv example reader read all"
    assert "how to read all records" in example.text
    assert example.text.endswith("    fmt.Print(records, err)\n}\n")
    assert list(go_docs.examples(GO_EXAMPLE.replace("err)", f'err, "{"x" * 2000}")'), "csv")) == []


def test_perl_rust_and_cpp_lose_their_marks() -> None:
    values = only(list(pod.sections(POD, "Getopt::Long")))
    assert values.symbol == "Getopt::Long: Options with values"
    assert "Use =s for a value that is needed, see perlfunc/open: $x->{y} holds" in values.text
    assert "hidden" not in values.text
    push = only(list(rust_docs.items(RUST, "std::vec")))
    assert push.text.startswith("Rust Vec::push (std::vec)\npub fn push(&mut self, value: T)\n")
    assert "See `reserve` for" in push.text
    assert "```\nlet mut vec" in push.text
    count = only(list(cpp_docs.headers(CPP, "bits/stl_algo.h")))
    assert count.symbol == "std::count"
    assert "count(_InputIterator first, _InputIterator last, const _Tp& value)" in count.text
    assert "The number of iterators i in the range for which *i == value" in count.text
    page, example = cpp_docs.reference(REFERENCE, "algorithm/count")
    assert (page.symbol, example.symbol) == ("std::count", "std::count example")
    assert "Navigation" not in page.text
    assert "std::vector<int> v{1, 2, 1}" in example.text


def test_a_page_without_a_description_is_nothing() -> None:
    assert list(man_pages.pages(".so man3/strtol.3\n", "strtoll(3)")) == []


def test_a_long_text_keeps_its_first_example() -> None:
    words = "\n\n".join(f"Paragraph {n}. " + "word " * 60 for n in range(9))
    made = shortened("head", f"{words}\n\n    >>> example()\n\nmore")
    assert len(made) <= LONGEST_PART
    assert made.startswith("head\n\nParagraph 0.")
    assert made.endswith("    >>> example()\n")
    assert len(shortened("h" * 5000, "x" * 5000)) <= LONGEST_PART + 10
