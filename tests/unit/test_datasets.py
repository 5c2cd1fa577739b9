"""Tables from files and by name: what is read is what was written."""

import csv
import gzip
import hashlib
import io
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import datasets as sklearn_datasets

from infovec.datasets import Reading, delimited, named, open_source, text
from infovec.datasets.gaps import MISSING
from infovec.datasets.source import Wanted
from infovec.datasets.stored import StoredRows, stored_rows
from infovec.errors import CellError, DataError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4)) * [1.0, 1e-8, 1e12, 30.0]
COLORS = RNG.choice(["red", "green", "dark blue"], size=300)


def written(path, delimiter=",", quoting=csv.QUOTE_MINIMAL, rows=300):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=quoting)
        writer.writerow(["a", "b", "color", "c", "d"])
        writer.writerows([x[0], x[1], color, x[2], x[3]] for x, color in zip(X[:rows].tolist(), COLORS, strict=False))
    return str(path)


def whole(source, wanted):
    """All blocks of a source together."""
    with source:
        blocks = list(source.blocks(wanted))
    assert [block.first for block in blocks] == np.cumsum([0, *map(len, blocks)])[:-1].tolist()
    numbers = [b.numbers.toarray() if sparse.issparse(b.numbers) else b.numbers for b in blocks]
    words = [list(chain(*columns)) for columns in zip(*(b.words for b in blocks), strict=True)]
    lines = [line for b in blocks for line in (b.lines or [])]
    targets = [b.target for b in blocks]
    if targets[0] is not None:
        targets = np.concatenate(targets) if isinstance(targets[0], np.ndarray) else list(chain(*targets))
    return np.concatenate(numbers), words, targets, lines


@pytest.fixture(params=[200, 1 << 20], ids=["small blocks", "one block"])
def block_size(request, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK", request.param)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC], ids=["plain", "quoted"])
def test_text_is_read_to_the_last_digit(tmp_path, block_size, delimiter, quoting):
    source = open_source(written(tmp_path / "x.csv", delimiter, quoting))
    assert source.columns == ("a", "b", "color", "c", "d")
    assert source.kinds() == {"a": "number", "b": "number", "color": "word", "c": "number", "d": "number"}
    numbers, (colors,), target, lines = whole(source, Wanted(("a", "b", "c"), ("color",), "d"))
    np.testing.assert_array_equal(numbers, X[:, :3])
    np.testing.assert_array_equal(target, X[:, 3])
    assert colors == COLORS.tolist()
    assert lines == list(range(2, 302))


def test_columns_come_in_the_order_asked_for(tmp_path):
    numbers, _, _, _ = whole(open_source(written(tmp_path / "x.csv")), Wanted(("d", "a", "c")))
    np.testing.assert_array_equal(numbers, X[:, [3, 0, 2]])


def test_the_fast_and_the_careful_way_agree(tmp_path, monkeypatch):
    path, wanted = written(tmp_path / "x.csv"), Wanted(("b", "d"), ("color",), "a")
    monkeypatch.setattr(delimited.DelimitedText, "_careful", None)  # the fast way must do
    fast = whole(open_source(path), wanted)
    monkeypatch.undo()
    monkeypatch.setattr(delimited.DelimitedText, "_fast", lambda *arguments: None)
    careful = whole(open_source(path), wanted)
    np.testing.assert_array_equal(fast[0], careful[0])
    np.testing.assert_array_equal(fast[2], careful[2])
    assert (fast[1], fast[3]) == (careful[1], careful[3])


def test_gzip_tabs_and_standard_input(tmp_path, monkeypatch):
    plain = written(tmp_path / "x.tsv", "\t")
    expected = whole(open_source(plain), Wanted(("a",)))[0]
    data = (tmp_path / "x.tsv").read_bytes()
    (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(data))
    np.testing.assert_array_equal(whole(open_source(str(tmp_path / "x.tsv.gz")), Wanted(("a",)))[0], expected)
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(data)))
    monkeypatch.setattr("sys.stdin", stdin)
    np.testing.assert_array_equal(whole(open_source("-"), Wanted(("a",)))[0], expected)


def test_quoted_line_ends_do_not_end_a_row(tmp_path, block_size):
    rows = [("one\ntwo", 1.0), ('say ""no""', 2.0), ("a, b", 3.0)] * 40
    body = "".join(f'"{word}",{number}\n' for word, number in rows)
    (tmp_path / "x.csv").write_text("word,number\n" + body)
    numbers, (words,), _, lines = whole(open_source(str(tmp_path / "x.csv")), Wanted(("number",), ("word",)))
    np.testing.assert_array_equal(numbers[:, 0], [number for _, number in rows])
    assert words == [word.replace('""', '"') for word, _ in rows]
    assert lines[:4] == [2, 4, 5, 6]


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n"])
def test_other_line_ends_and_blank_lines(tmp_path, end):
    (tmp_path / "x.csv").write_bytes(f"a,b{end}1,2{end}3,4{end}".encode())
    numbers, _, _, _ = whole(open_source(str(tmp_path / "x.csv")), Wanted(("a", "b")))
    np.testing.assert_array_equal(numbers, [[1, 2], [3, 4]])


def test_missing_values_are_gaps(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,x\n,NA\nnan,?\n N/A ,y\n")
    numbers, (words,), _, _ = whole(open_source(str(tmp_path / "x.csv")), Wanted(("a",), ("b",)))
    np.testing.assert_array_equal(numbers[:, 0], [1, np.nan, np.nan, np.nan])
    assert words == ["x", None, "?", "y"]


def test_words_for_missing_values_are_those_of_pandas(tmp_path):
    from pandas._libs.parsers import STR_NA_VALUES

    assert MISSING == STR_NA_VALUES
    words = sorted({*STR_NA_VALUES, "none", "NONE", "na", "?", "-", "Nan", "yes", "missing"})
    (tmp_path / "x.csv").write_text("a,b\n" + "".join(f"{i},{word}\n" for i, word in enumerate(words)))
    for quoted in (False, True):  # both ways of reading
        if quoted:
            (tmp_path / "x.csv").write_text('"a",b\n' + "".join(f'"{i}",{word}\n' for i, word in enumerate(words)))
        _, (found,), _, _ = whole(open_source(str(tmp_path / "x.csv")), Wanted(("a",), ("b",)))
        expected = pd.read_csv(tmp_path / "x.csv")["b"]
        assert found == [None if value != value else value for value in expected.tolist()]


def test_a_column_of_nothing_but_words_that_pandas_keeps_is_one_of_words(tmp_path):
    (tmp_path / "x.csv").write_text("a,b,c,d\nnone,?,NA,1\nna,5,,1\n,7,nan,1\n")
    kinds = open_source(str(tmp_path / "x.csv")).kinds()
    assert kinds == {"a": "word", "b": "number", "c": "number", "d": "number"}


def test_a_word_among_numbers_is_named_with_its_place(tmp_path):
    body = "".join(f"{i},{i}\n" for i in range(5000))
    (tmp_path / "x.csv").write_text(f"a,b\n{body}7,seven\n")
    source = open_source(str(tmp_path / "x.csv"))
    assert source.kinds()["b"] == "number"
    with pytest.raises(CellError, match=r"x\.csv, line 5002, column 'b': 'seven' is not a number"):
        whole(source, Wanted(("a", "b")))


def test_encodings(tmp_path):
    (tmp_path / "utf-16.csv").write_bytes("größe,wort\n1,übel\n".encode("utf-16"))
    with pytest.raises(DataError, match="--encoding utf-16"):
        open_source(str(tmp_path / "utf-16.csv"))
    source = open_source(str(tmp_path / "utf-16.csv"), Reading(encoding="utf-16"))
    assert whole(source, Wanted(("größe",), ("wort",)))[1] == [["übel"]]
    with pytest.raises(DataError, match="no encoding is called 'utf-99'"):
        open_source(str(tmp_path / "utf-16.csv"), Reading(encoding="utf-99"))


def test_without_a_header_columns_are_numbered(tmp_path):
    (tmp_path / "x.csv").write_text("5,1.5\n6,2.5\n")
    source = open_source(str(tmp_path / "x.csv"), Reading(header=False))
    np.testing.assert_array_equal(whole(source, Wanted(("2", "1")))[0], [[1.5, 5], [2.5, 6]])


def test_a_quote_that_is_never_closed(tmp_path):
    (tmp_path / "x.csv").write_text('a,b\n1,2\n3,"4\n' + "5,6\n" * 10)
    with pytest.raises(DataError, match="opened and never closed, in line 3 or before"):
        open_source(str(tmp_path / "x.csv"))


def test_a_truncated_gzip_file(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100000)[:-20])
    with pytest.raises(DataError, match="broken gzip file"):
        whole(open_source(str(tmp_path / "x.csv.gz")), Wanted(("a",)))


def test_npz_files(tmp_path):
    labels = np.array(["spam", "ham"])[RNG.integers(0, 2, 300)]
    np.savez(tmp_path / "x.npz", X=X, y=labels)
    source = open_source(str(tmp_path / "x.npz"))
    assert (source.target, source.kinds()["y"], source.columns[0]) == ("y", "word", "x1")
    numbers, _, target, _ = whole(source, Wanted(("x2", "x1"), (), "y", "word"))
    np.testing.assert_array_equal(numbers, X[:, [1, 0]])
    assert target == labels.tolist()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_large_npz_files_are_read_by_rows(tmp_path, monkeypatch, save):
    monkeypatch.setattr("infovec.datasets.stored._LARGE", 0)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 3)).astype(np.float32), np.arange(20_000.0)
    path = tmp_path / "x.npz"
    save(path, X=X, y=y)
    with open_source(str(path)) as source:
        assert isinstance(source._X, StoredRows)
        wanted = Wanted(("x3", "x1"), ("x2",), "y")
        for _ in range(2):  # from the start again
            blocks = list(source.blocks(wanted))
            np.testing.assert_array_equal(np.vstack([b.numbers for b in blocks]), X[:, [2, 0]])
            np.testing.assert_array_equal(np.concatenate([b.target for b in blocks]), y)
            assert [float(w) for b in blocks for w in b.words[0]] == X[:, 1].tolist()
    for matrix in (np.asfortranarray(X), X[:, 0].astype(object)):
        np.savez(path, X=matrix)
        assert stored_rows(str(path), "X") is None


def test_a_large_npz_file_that_is_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr("infovec.datasets.stored._LARGE", 0)
    path = tmp_path / "x.npz"
    np.savez_compressed(path, X=np.random.default_rng(0).normal(size=(20_000, 3)), y=np.zeros(20_000))
    raw = bytearray(path.read_bytes())
    raw[200_000:200_050] = bytes(50)
    path.write_bytes(raw)
    with open_source(str(path)) as source, pytest.raises(DataError, match=r"x\.npz is damaged"):
        list(source.blocks(Wanted(("x1",))))


def test_npz_files_in_parts(tmp_path):
    y = np.arange(300) % 3
    np.savez(
        tmp_path / "x.npz",
        X_train=X,
        y_train=y,
        X_test=X[:9],
        y_test=y[:9],
        classes=np.array(["p", "q", "r"]),
        task="classification",
    )
    path = str(tmp_path / "x.npz")
    with pytest.raises(DataError, match=r"say .*x\.npz:train or .*x\.npz:test"):
        open_source(path)
    source = open_source(f"{path}:test")
    numbers, _, target, _ = whole(source, Wanted(("x1",), (), "y", "word"))
    assert (source.task, len(numbers), target[:4]) == ("classify", 9, ["p", "q", "r", "p"])
    with pytest.raises(DataError, match="no part 'valid'"):
        open_source(f"{path}:valid")


def test_npz_files_with_objects_are_refused(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.array([[{}]], dtype=object), y=np.zeros(1))
    with pytest.raises(DataError, match="not a file of plain NumPy arrays"):
        open_source(str(tmp_path / "x.npz"))
    (tmp_path / "y.npz").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(DataError, match="not a file of plain NumPy arrays"):
        open_source(str(tmp_path / "y.npz"))


def test_libsvm_files(tmp_path, block_size):
    dense = np.where(RNG.random((200, 30)) < 0.2, RNG.normal(size=(200, 30)).round(6), 0.0)
    y = RNG.choice([-1, 1], size=200)
    with (tmp_path / "x.libsvm").open("wb") as file:
        sklearn_datasets.dump_svmlight_file(dense, y, file, zero_based=False)
    source = open_source(str(tmp_path / "x.libsvm"))
    names = tuple(str(j) for j in range(1, 31))
    assert source.columns == (*names, "target")
    numbers, _, target, _ = whole(source, Wanted(names, (), "target"))
    np.testing.assert_allclose(numbers, dense, rtol=1e-12)
    np.testing.assert_array_equal(target, y)
    wider = Wanted((*names, "31", "40"))  # of a model that has seen more columns
    numbers, _, _, _ = whole(open_source(str(tmp_path / "x.libsvm")), wider)
    np.testing.assert_allclose(numbers, np.hstack([dense, np.zeros((200, 2))]), rtol=1e-12)


def test_a_bad_line_of_a_libsvm_file(tmp_path):
    (tmp_path / "x.svm").write_text("1 1:2 3:4\n# a comment\n-1 1:2\n1 1:two\n")
    with pytest.raises(DataError, match=r"x\.svm, line 4: not 'label column:value"):
        _ = open_source(str(tmp_path / "x.svm")).columns
    with pytest.raises(DataError, match="in a LIBSVM file columns have numbers"):
        open_source(str(tmp_path / "x.svm")).blocks(Wanted(("age",)))


def test_parquet_files(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    gap = [None if i == 7 else float(v) for i, v in enumerate(X[:, 0])]
    table = arrow.table({"a": gap, "n": arrow.array(range(300)), "color": COLORS.tolist(), "flag": [True, False] * 150})
    parquet.write_table(table, tmp_path / "x.parquet")
    source = open_source(str(tmp_path / "x.parquet"))
    assert source.kinds() == {"a": "number", "n": "number", "color": "word", "flag": "truth"}
    numbers, (colors,), target, _ = whole(source, Wanted(("flag", "a"), ("color",), "n"))
    np.testing.assert_array_equal(numbers[:, 0], [1.0, 0.0] * 150)
    np.testing.assert_array_equal(numbers[:, 1], [np.nan if v is None else v for v in gap])
    np.testing.assert_array_equal(target, np.arange(300))
    assert colors == COLORS.tolist()
    (tmp_path / "y.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a Parquet file"):
        open_source(str(tmp_path / "y.parquet"))


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "x.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"pip install 'infovec\[parquet\]'"):
        open_source(str(tmp_path / "x.parquet"))


@pytest.mark.parametrize("name", sorted(named.BUNDLED))
def test_bundled_data_sets(name):
    bunch = named.BUNDLED[name]()
    source = open_source(name)
    numbers, _, target, _ = whole(source, Wanted(source.columns[:-1], (), "target", "word"))
    np.testing.assert_array_equal(numbers, bunch.data)
    expected = bunch.target if name == "diabetes" else bunch.target_names[bunch.target]
    assert target == [str(v) for v in expected.tolist()]
    assert source.task == ("regress" if name == "diabetes" else "classify")


def test_data_sets_of_a_folder(tmp_path, monkeypatch):
    np.savez(tmp_path / "mine.npz", X=X, y=X[:, 0], task="regression")
    monkeypatch.setenv("INFOVEC_DATA", str(tmp_path))
    source = open_source("mine")
    assert (source.name, source.task) == ("mine", "regress")
    np.testing.assert_array_equal(whole(source, Wanted(("x4",)))[0][:, 0], X[:, 3])


ARFF = (
    "@RELATION tiny\n@ATTRIBUTE color {red,blue}\n@ATTRIBUTE size NUMERIC\n@ATTRIBUTE kind {1,2}\n@DATA\n"
    "red,5,1\nblue,6,2\n?,7,1\n"
)


FILES = ("/data/v1/download/70/tiny.arff", "/data/v1/download/70")  # scikit-learn 1.6 asks for the number


class OpenML(BaseHTTPRequestHandler):
    """A server that has one data set, as OpenML describes it."""

    asked: ClassVar[list[str]] = []
    pages: ClassVar[dict[str, Any]] = {
        "/api/v1/json/data/list/data_name/tiny": {
            "data": {"dataset": [{"did": 7, "name": "tiny", "version": 1, "status": "active", "format": "ARFF"}]}
        },
        "/api/v1/json/data/7": {
            "data_set_description": {
                "id": "7", "name": "tiny", "version": "1", "status": "active", "format": "ARFF", "file_id": "70",
                "description": "three rows",
                "url": "https://www.openml.org/data/v1/download/70/tiny.arff", "default_target_attribute": "kind",
                "md5_checksum": hashlib.md5(ARFF.encode()).hexdigest(),
            }
        },
        "/api/v1/json/data/features/7": {
            "data_features": {
                "feature": [
                    {"index": str(j), "name": name, "data_type": kind, "is_target": str(name == "kind").lower(),
                     "is_ignore": "false", "is_row_identifier": "false",
                     "number_of_missing_values": str(int(name == "color"))}
                    for j, (name, kind) in enumerate([("color", "nominal"), ("size", "numeric"), ("kind", "nominal")])
                ]
            }
        },
        "/api/v1/json/data/qualities/7": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": "3"}]}},
    }  # fmt: skip

    arff: ClassVar[str] = ARFF
    packed: ClassVar[bool] = False

    def do_GET(self):
        self.asked.append(self.path)
        path = self.path.partition("/limit/")[0]
        file = path in FILES
        body = (self.arff if file else json.dumps(self.pages.get(path, {"error": "no such thing"}))).encode()
        self.send_response(200 if path in self.pages or file else 412)
        if self.packed and self.headers["Accept-encoding"] == "gzip":
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def openml(tmp_path, monkeypatch):
    """OpenML on this machine: what is asked of its address goes there, and all other addresses are out of reach."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), OpenML)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()

    class Here(urllib.request.HTTPSHandler):
        def https_open(self, request):
            assert urllib.parse.urlsplit(request.full_url).netloc.endswith("openml.org")
            path = request.full_url.partition("openml.org")[2]
            return urllib.request.build_opener().open(f"http://127.0.0.1:{server.server_port}{path}", timeout=10)

    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.delenv("INFOVEC_DATA", raising=False)
    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(Here()))
    monkeypatch.setattr(OpenML, "asked", [])
    yield OpenML
    server.shutdown()
    server.server_close()
    thread.join(timeout=10)


@pytest.mark.parametrize("name", ["openml:tiny", "openml:7"])
def test_a_data_set_of_openml(openml, name):
    source = open_source(name)
    assert openml.asked
    assert (source.name, source.task, source.target) == (name, "classify", "kind")
    assert source.kinds() == {"color": "word", "size": "number", "kind": "word"}
    numbers, (colors,), target, _ = whole(source, Wanted(("size",), ("color",), "kind", "word"))
    np.testing.assert_array_equal(numbers[:, 0], [5, 6, 7])
    assert (colors, target) == (["red", "blue", None], ["1", "2", "1"])


def test_a_data_set_that_openml_does_not_have_or_gives_in_pieces(openml, monkeypatch):
    with pytest.raises(DataError, match=r"OpenML did not give 'nowhere' \(.*\)\. Look the name up on openml\.org"):
        open_source("openml:nowhere")
    with pytest.raises(DataError, match="no data set of OpenML has such a name"):
        open_source("openml:a&b")
    for path, broken in (("/api/v1/json/data/7", {}), ("/api/v1/json/data/features/7", {"data_features": 3})):
        monkeypatch.setattr(openml, "pages", {**openml.pages, path: broken})
        with pytest.raises(DataError, match="OpenML did not give '7'"):
            open_source("openml:7")


def changed(openml, monkeypatch, arff, columns, targets, **description):
    """Let the server have another data set."""
    pages = {path: json.loads(json.dumps(page)) for path, page in openml.pages.items()}
    about = pages["/api/v1/json/data/7"]["data_set_description"]
    about |= {"md5_checksum": hashlib.md5(arff.encode()).hexdigest(), **description}
    pages["/api/v1/json/data/features/7"]["data_features"]["feature"] = [
        {"index": str(j), "name": name, "data_type": kind, "is_target": str(name in targets).lower(),
         "is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        for j, (name, kind) in enumerate(columns)
    ]  # fmt: skip
    monkeypatch.setattr(openml, "arff", arff)
    monkeypatch.setattr(openml, "pages", pages)


def test_what_openml_sends_packed_and_again_without_a_network(openml, monkeypatch):
    monkeypatch.setattr(openml, "packed", True)
    first = whole(open_source("openml:tiny"), Wanted(("size",), ("color",), "kind", "word"))
    asked = len(openml.asked)
    again = whole(open_source("openml:TINY"), Wanted(("size",), ("color",), "kind", "word"))
    assert len(openml.asked) == asked > 3  # the second time it comes from the folder of scikit-learn
    np.testing.assert_array_equal(again[0], first[0])
    assert again[1:3] == first[1:3]
    monkeypatch.setattr(urllib.request, "_opener", urllib.request.build_opener(Nowhere()))
    assert open_source("openml:7").target == "kind"
    with pytest.raises(DataError, match=r"OpenML did not give 'other' \(<urlopen error there is no network>\)"):
        open_source("openml:other")


class Nowhere(urllib.request.HTTPSHandler):
    def https_open(self, request):
        raise urllib.error.URLError("there is no network")


def test_a_damaged_file_of_openml(openml, monkeypatch):
    changed(openml, monkeypatch, ARFF, [("color", "nominal"), ("size", "numeric"), ("kind", "nominal")], ["kind"],
            md5_checksum="0" * 32)  # fmt: skip
    with pytest.raises(DataError, match=r"OpenML did not give '7' .*md5 checksum"):
        open_source("openml:7")


def test_columns_of_texts_come_by_way_of_a_data_frame(openml, monkeypatch):
    arff = (
        "@RELATION tiny\n@ATTRIBUTE name STRING\n@ATTRIBUTE size NUMERIC\n@ATTRIBUTE color {red,blue}\n"
        "@ATTRIBUTE price NUMERIC\n@DATA\n'a b',5,red,1.5\nc,?,blue,2\n?,7,?,3\n"
    )
    columns = [("name", "string"), ("size", "numeric"), ("color", "nominal"), ("price", "numeric")]
    changed(openml, monkeypatch, arff, columns, ["price"])
    source = open_source("openml:tiny")
    assert (source.task, source.target) == ("regress", "price")
    numbers, (names, colors), target, _ = whole(source, Wanted(("size",), ("name", "color"), "price"))
    np.testing.assert_array_equal(numbers[:, 0], [5, np.nan, 7])
    assert (names, colors) == (["a b", "c", None], ["red", "blue", None])
    np.testing.assert_array_equal(target, [1.5, 2, 3])
    monkeypatch.setattr("infovec.datasets.openml.find_spec", lambda name: None)
    with pytest.raises(DataError, match="columns of texts, which are read with pandas: pip install pandas"):
        open_source("openml:7")


@pytest.mark.parametrize("targets", [[], ["color", "kind"]])
def test_a_data_set_without_one_target_has_them_all_as_columns(openml, monkeypatch, targets):
    changed(openml, monkeypatch, ARFF, [("color", "nominal"), ("size", "numeric"), ("kind", "nominal")], targets,
            default_target_attribute=",".join(targets))  # fmt: skip
    source = open_source("openml:tiny")
    assert (source.target, source.columns) == (None, ("color", "size", "kind"))
    numbers, (colors,), target, _ = whole(source, Wanted(("size",), ("color",), "kind", "word"))
    assert (numbers[:, 0].tolist(), colors, target) == ([5, 6, 7], ["red", "blue", None], ["1", "2", "1"])


def test_a_target_of_openml_may_be_missing_in_some_rows(openml, monkeypatch):
    changed(openml, monkeypatch, ARFF, [("color", "nominal"), ("size", "numeric"), ("kind", "nominal")], ["color"],
            default_target_attribute="color")  # fmt: skip
    source = open_source("openml:tiny")
    assert (source.target, source.columns) == ("color", ("color", "size", "kind"))
    assert whole(source, Wanted(("size",), ("kind",), "color", "word"))[2] == ["red", "blue", None]


def test_what_openml_says_of_a_data_set_is_handed_on(openml, monkeypatch):
    changed(openml, monkeypatch, ARFF, [("color", "nominal"), ("size", "numeric"), ("kind", "nominal")], ["kind"],
            warning="it is tiny", status="deactivated")  # fmt: skip
    notes = open_source("openml:7").notes
    assert any("inactive" in note for note in notes)
    assert any("raised a warning" in note for note in notes)
    assert not any("\n" in note for note in notes)


def test_any_column_of_a_data_set_can_be_the_target():
    source = open_source("iris")
    X, (kinds,), y, _ = whole(source, Wanted(("sepal width (cm)",), ("target",), "petal width (cm)"))
    data = sklearn_datasets.load_iris()
    np.testing.assert_array_equal(X[:, 0], data.data[:, 1])
    np.testing.assert_array_equal(y, data.data[:, 3])
    assert kinds == data.target_names[data.target].tolist()


@pytest.mark.parametrize("name", ["train", "plain", "digit", "tiny", "train.csv", "sub/train.csv", "train:test", "7"])
def test_mistyped_names_are_sent_nowhere(openml, monkeypatch, name):
    def connect(*address):
        raise AssertionError("the network was asked")

    monkeypatch.setattr("socket.socket.connect", connect)
    with pytest.raises(DataError, match=r"there is no file|leave out :test"):
        open_source(name)
    assert openml.asked == []


def test_a_name_that_nobody_has_is_explained(monkeypatch):
    monkeypatch.delenv("INFOVEC_DATA", raising=False)
    with pytest.raises(DataError, match=r"(?s)no file 'nowhere'.*digits.*INFOVEC_DATA.*nowhere\.npz.*openml:nowhere"):
        open_source("nowhere")


def test_files_that_are_no_tables(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*absent\.csv"):
        open_source(str(tmp_path / "absent.csv"))
    with pytest.raises(DataError, match="is a folder"):
        open_source(str(tmp_path))
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"not from \.xlsx"):
        open_source(str(tmp_path / "x.xlsx"))
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,2\n3,\0\n")
    with pytest.raises(DataError, match="line 3: a zero byte"):
        open_source(str(tmp_path / "x.csv"))
