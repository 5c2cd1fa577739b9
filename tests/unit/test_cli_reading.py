"""Tables as they come: dates, decimal commas, rows without a target, columns that are kept."""

import csv
import gzip
import io
import re
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from infovec import IVMRegressor, load
from infovec.cli.commands import infovec
from infovec.cli.model import load_model
from infovec.datasets.cells import Marks, commas_are_decimal, is_number, numbers_of
from infovec.datasets.dates import ISO, days, find_form
from infovec.errors import DataError

RNG = np.random.default_rng(0)
FORMS = {
    ISO: "2024-02-29", "%Y/%m/%d": "2024/02/29", "%d.%m.%Y": "29.02.2024", "%d/%m/%Y": "29/02/2024",
    "%Y%m%d": "20240229",
    "%m/%d/%Y": "02/29/2024", "%d.%m.%y": "29.02.24", "%d %b %Y": "29 Feb 2024", "%B %d, %Y": "February 29, 2024",
}  # fmt: skip


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("form", FORMS)
def test_dates_are_days_as_numpy_counts_them(form):
    first, moments = np.datetime64("2024-02-29T00:00"), np.datetime64("1999-12-31") + np.arange(0, 9000, 89)
    assert find_form("x.csv", "day", [FORMS[form], None]) == form
    assert days([FORMS[form]], form)[0] == first.astype("datetime64[D]").astype(int)
    if form != ISO:
        words = [moment.astype(datetime).strftime(form) for moment in moments]
        np.testing.assert_array_equal(days([*words, None], form), [*moments.astype(int), np.nan])
        assert find_form("x.csv", "day", words) == form
        with_time = [f"{word} 13:30" for word in words]
        np.testing.assert_allclose(days(with_time, f"{form} %H:%M"), moments.astype(int) + 13.5 / 24, rtol=1e-14)


def test_times_have_zones():
    said = ["2024-02-29", "2024-02-29T12:00", "2024-02-29 14:00:00.5+02:00", "2024-02-29T12:00:00Z"]
    noon = (np.datetime64("2024-02-29T12:00") - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    np.testing.assert_allclose(days(said, ISO), [noon - 0.5, noon, noon + 0.5 / 86400, noon], rtol=1e-14)
    with pytest.raises(ValueError):
        days(["20240229"], ISO)


def test_what_can_be_read_in_two_ways_is_refused():
    with pytest.raises(
        DataError, match=r"'01/02/2024' can be read in two ways, as %d/%m/%Y and as %m/%d/%Y; say which"
    ):
        find_form("x.csv", "day", ["01/02/2024", "03/04/2024"])
    assert find_form("x.csv", "day", ["01/02/2024", "03/14/2024"]) == "%m/%d/%Y"
    assert find_form("x.csv", "day", ["02/02/2024"]) == "%d/%m/%Y"  # the same in both
    for words, message in ((["monday"], "not all written in one of the ways"), ([None], "has no dates")):
        with pytest.raises(DataError, match=message):
            find_form("x.csv", "day", words)


def test_commas_are_decimal_only_where_nothing_else_fits():
    for columns, decimal in (
        ([("1,5", "2")], True), ([("1,234", "5,678")], False), ([("1,234", "0,678")], True),
        ([("1,5",), ("2.5",)], False),
        ([("1,5", "a")], False), ([("1,5", "")], True), ([("1", "2")], False), ([("1,5",), ("01.02.2024",)], True),
        ([("1,5e3", "-,5")], True), ([("1,2,3",)], False),
    ):  # fmt: skip
        assert commas_are_decimal(columns) is decimal, columns
    np.testing.assert_array_equal(
        numbers_of(["1,5", "", "-2", "NA", "1e3"], Marks(",")), [1.5, np.nan, -2, np.nan, 1000]
    )
    assert is_number("1,5", Marks(","))
    assert not is_number("1,5")
    assert not is_number("1.5", Marks(","))  # which may be a thousand and a half, or one and a half


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same rows as a spreadsheet of another country writes them, and plainly."""
    folder = tmp_path_factory.mktemp("reading")
    n = 90
    a, day, size = RNG.normal(size=n).round(3), RNG.integers(0, 700, size=n), RNG.normal(100, 20, size=n).round(2)
    label = np.where(a + (day - 350) / 200 > 0, "ja", "nein")
    date = np.datetime64("2023-01-01") + day
    plain, other = ["id,größe,preis,tag,ziel"], ['\ufeff"id";"größe";"preis";"tag";"ziel"']
    for i in range(n):
        target = label[i] if i % 30 else ""
        plain.append(f'"Müller, {i}",{a[i]},{size[i]},{date[i].astype(int)},{target}')
        cells = f"{a[i]};{size[i]}".replace(".", ",")
        other.append(f'"Müller, {i}";{cells};{date[i].astype(datetime):%d.%m.%Y};{target}')
    (folder / "plain.csv").write_text("\n".join(plain) + "\n")
    (folder / "other.csv").write_text("\r\n".join(other) + "\r\n")
    with gzip.open(folder / "other.csv.gz", "wt") as file:
        file.write("\r\n".join(other) + "\r\n")
    for name, more in (("plain", []), ("other", ["--dates", "tag"])):
        run("fit", folder / f"{name}.csv", "-t", "ziel", "-o", folder / f"{name}.ivm", "--active", 20, "--drop", "id",
            "--skip-missing-target", "--quiet", *more)  # fmt: skip
    return folder


def _proba(model, data):
    shown = run("predict", model, data, "--proba").stdout.splitlines()
    return np.array([float(line.split(",")[-1]) for line in shown[1:]])


def test_other_spellings_are_the_same_table(folder):
    plain, other = load_model(str(folder / "plain.ivm")), load_model(str(folder / "other.ivm"))
    for a, b in zip(other.table.schema.columns, plain.table.schema.columns, strict=True):
        assert replace(a, kind="number") == b
    assert other.table.schema.columns[2].kind == "date"
    assert other.dates == {"tag": "%d.%m.%Y"}
    rows = plain.estimator.active_vectors_ * plain.table.scale + plain.table.centre
    np.testing.assert_allclose(other.estimator.active_vectors_, rows, rtol=1e-6, atol=1e-6)
    expected = _proba(folder / "plain.ivm", folder / "plain.csv")
    for name in ("other.csv", "other.csv.gz"):
        np.testing.assert_allclose(_proba(folder / "other.ivm", folder / name), expected, rtol=1e-5)
    said = run("evaluate", folder / "other.ivm", folder / "other.csv", "--skip-missing-target").stderr
    assert "read with a decimal comma" in said
    assert "3 rows without a target left out" in said


def test_rows_without_a_target_are_an_error_unless_they_are_to_be_left_out(folder, tmp_path):
    fit = ("fit", folder / "plain.csv", "-t", "ziel", "-o", tmp_path / "m.ivm", "--drop", "id")
    for command in (fit, *((name, folder / "plain.ivm", folder / "plain.csv") for name in ("evaluate", "certify"))):
        assert "line 2: the target 'ziel' is missing; remove" in run(*command, code=1).stderr
        assert "say --skip-missing-target" in run(*command, code=1).stderr
    (tmp_path / "none.csv").write_text("a,y\n1,\n2,\n")
    none = ("fit", tmp_path / "none.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--skip-missing-target")
    assert "the target 'y' is missing in all 2 rows" in run(*none, code=1).stderr
    np.savez(tmp_path / "t.npz", X=np.arange(8.0).reshape(4, 2), y=np.array([0.5, np.nan, 2.5, np.nan]))
    done = run("fit", tmp_path / "t.npz", "-o", tmp_path / "m.ivm", "--skip-missing-target", "--active", 2)
    assert "2 rows without a target left out" in done.stderr
    assert "2 rows, 2 columns" in done.stderr


@pytest.mark.parametrize("data", ["plain", "other"])
def test_columns_that_are_kept(folder, data):
    model, table = folder / f"{data}.ivm", folder / f"{data}.csv"
    found = rows_of(run("predict", model, table, "--keep", "id,tag,preis,ziel").stdout)
    alone = rows_of(run("predict", model, table).stdout)
    with table.open(encoding="utf-8-sig", newline="") as file:
        given = list(csv.DictReader(file, delimiter=";" if data == "other" else ","))
    assert found[0] == ["id", "tag", "preis", "ziel", "prediction"]
    assert [row[-1:] for row in found] == alone
    for row, cells in zip(found[1:], given, strict=True):
        assert (row[0], row[1], row[3]) == (cells["id"], cells["tag"], cells["ziel"])  # dates as they are written
        assert float(row[2]) == float(cells["preis"].replace(",", "."))
    assert '"id": "Müller, 0"' in run("predict", model, table, "--keep", "id", "--json").stdout.encode().decode(
        "unicode_escape"
    )
    assert "would be the name of two columns" in run("predict", model, table, "--keep", "id,id", code=2).stderr
    assert "has no column 'nothing'" in run("predict", model, table, "--keep", "nothing", code=1).stderr


def test_dates_that_are_none_or_in_two_orders(folder, tmp_path):
    fit = ("fit", tmp_path / "d.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 4)
    lines = [f"0{k}/0{k + 1}/2024,{k % 2}" for k in range(1, 8)]
    (tmp_path / "d.csv").write_text("day,y\n" + "\n".join(lines) + "\n")
    assert "holds dates" in run(*fit, code=1).stderr
    assert "Say --dates 'day' to take them as numbers" in run(*fit, code=1).stderr
    assert "two ways" in run(*fit, "--dates", "day", code=1).stderr
    run(*fit, "--dates", "day", "--date-format", "%d/%m/%Y", "--quiet")
    assert "is for the columns that --dates names" in run(*fit, "--date-format", "%d", code=2).stderr
    assert "'day' is among --dates" in run(*fit, "--dates", "day", "--drop", "day", code=2).stderr
    assert "cannot be a date" in run(*fit[:3], "day", *fit[4:], "--dates", "day", "--task", "regress", code=1).stderr
    (tmp_path / "e.csv").write_text("day\n08/12/2024\n\nsoon\n")
    said = run("predict", tmp_path / "m.ivm", tmp_path / "e.csv", code=1).stderr
    assert "line 4, column 'day': 'soon' is no date like the others (%d/%m/%Y)" in said
    assert "The model reads dates as they were in its fit: write them so" in said
    assert "--date-format" not in said  # which is an option of fit


def test_every_column_of_dates_has_a_form_of_its_own(tmp_path):
    fit = ("fit", tmp_path / "d.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 4, "--dates", "day,birth,since")
    lines = [f"0{k}/0{k + 1}/2024,2020-01-0{k},0{9 - k}.01.2021,{k % 2}" for k in range(1, 8)]
    (tmp_path / "d.csv").write_text("day,birth,since,y\n" + "\n".join(lines) + "\n")
    said = run(*fit, "--date-format", "%d/%m/%Y", code=1).stderr
    assert "column 'birth'" in said
    assert "--date-format 'birth=%Y-%m-%d'" in said
    run(*fit, "--date-format", "day=%d/%m/%Y", "--quiet")
    assert load_model(str(tmp_path / "m.ivm")).dates == {"day": "%d/%m/%Y", "birth": ISO, "since": "%d.%m.%Y"}
    run(*fit, "--date-format", "day=%m/%d/%Y", "--date-format", "since=%d.%m.%Y", "--quiet")
    frame = pd.read_csv(tmp_path / "d.csv", parse_dates=["birth"]).drop(columns="y")
    frame["day"], frame["since"] = (pd.to_datetime(frame[c], format=f) for c, f in
                                    (("day", "%m/%d/%Y"), ("since", "%d.%m.%Y")))  # fmt: skip
    predicted = run("predict", tmp_path / "m.ivm", tmp_path / "d.csv").stdout.split()[1:]
    assert list(map(int, predicted)) == load(tmp_path / "m.ivm").predict(frame).tolist()
    with pytest.raises(ValueError, match=r"'birth' held dates .* pandas.to_datetime"):
        load(tmp_path / "m.ivm").predict(frame.assign(birth="01/01/2020"))
    written = frame.assign(birth=frame["birth"].dt.strftime("%Y-%m-%d"))  # as it is in the file
    assert list(map(int, predicted)) == load(tmp_path / "m.ivm").predict(written).tolist()
    assert "birth 2020-01-0" in run("inspect", tmp_path / "m.ivm").stdout
    twice = ("--date-format", "%d", "--date-format", "%m")
    assert "say of which column, as in day=%m" in run(*fit, *twice, code=2).stderr
    assert "'x' is not among --dates" in run(*fit, "--date-format", "x=%d", code=2).stderr


def test_the_kernel_rbf_is_that_of_python(tmp_path):
    """Without further terms; the default is chosen from the data."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + np.abs(X[:, 2]) + 0.05 * rng.normal(size=150)
    np.savetxt(tmp_path / "x.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    fit = ("fit", tmp_path / "x.csv", "-t", "y", "-o", tmp_path / "m.ivm", "--active", 60, "--quiet")
    for options, kernel in (((), None), (("--kernel", "Auto"), None), (("--kernel", "rbf"), "rbf")):
        run(*fit, *options)
        found = load(tmp_path / "m.ivm")
        model = IVMRegressor(kernel=kernel, n_active=60, random_state=0, dtype="float32").fit(X, y)
        assert ("MainEffects" in repr(found.kernel_)) == (kernel is None)
        np.testing.assert_allclose(found.predict(pd.DataFrame(X, columns=list("abcd"))), model.predict(X), atol=0.05)
    said = run("fit", "--help").stdout
    assert "main_effects" in said
    assert "chosen from the data" in " ".join(said.split())


@pytest.mark.parametrize("kernel", ["rbf + linear", "Matern * linear + 0.5 * mlp", "rational_quadratic"])
def test_kernels_are_sums_and_products_of_names(folder, tmp_path, kernel):
    fit = ("fit", folder / "plain.csv", "-t", "ziel", "-o", tmp_path / "m.ivm", "--active", 10, "--drop", "id",
           "--skip-missing-target", "--quiet", "--time", "1s")  # fmt: skip
    run(*fit, "--kernel", kernel)
    said = run("inspect", tmp_path / "m.ivm").stdout.lower().replace("_", "")
    for name in kernel.lower().replace("_", "").replace("+", " ").replace("*", " ").split():
        assert name in said or name == "0.5"
    before = (tmp_path / "m.ivm").read_bytes()
    for wrong, why in (
        ("rbf +", "is not understood"),
        ("spline", "'spline' is none"),
        ("__import__('os')", "understood"),
    ):
        assert why in run(*fit, "--kernel", wrong, code=2).stderr
    assert (tmp_path / "m.ivm").read_bytes() == before


@pytest.mark.parametrize(
    ("days", "orders"),
    [
        (["13/01/2020", "02/11/2023"], ["%d/%m/%Y"]), (["01/13/2020", "02/11/2023"], ["%m/%d/%Y"]),
        (["01/12/2020", "02/11/2023"], ["%d/%m/%Y", "%m/%d/%Y"]), (["1 May 2020", "2 March 2020"], ["%d %B %Y"]),
        (["2020-05-01 on demand"] * 2, ["%d/%m/%Y"]),
    ],
)  # fmt: skip
def test_texts_where_dates_were_are_sent_to_the_format_they_are_written_in(tmp_path, days, orders):
    """Only ``format=`` reads all alike: pandas alone takes the month first wherever the first date allows it."""
    table = pd.DataFrame({"day": np.repeat(["30/12/2020", "01/02/2021", "05/11/2022"], 10), "x": RNG.normal(size=30)})
    table.assign(y=table.x).to_csv(tmp_path / "x.csv", index=False)
    run("fit", tmp_path / "x.csv", "-t", "y", "--dates", "day", "-o", tmp_path / "m.ivm", "--active", 10)
    model = load(tmp_path / "m.ivm")
    X = pd.DataFrame({"day": days, "x": 0.5})
    with pytest.raises(ValueError, match=r"'day' held dates .* and holds text now") as error:
        model.predict(X)
    assert re.findall('format="([^"]*)"', str(error.value)) == orders
    assert ("in both ways" in str(error.value)) == (len(orders) == 2)
    if len(days[0]) < 11:
        line = re.search(r"X\['day'\] = (pandas.to_datetime\(.*?\"\))", str(error.value))[1]
        read = eval(line, {"pandas": pd, "X": X})
        np.testing.assert_array_equal(read.dt.strftime(orders[0]).str.lstrip("0"), [day.lstrip("0") for day in days])
        model.predict(X.assign(day=read))
