"""What is written where: inputs survive, devices and pipes stay what they are, failures leave what was there."""

import gzip
import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import infovec as library
from infovec.cli.commands import infovec
from infovec.errors import OutputError, ParameterError
from infovec.persistence import check_output, same_file, writing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, /dev/full and limits as Linux has them")
RNG = np.random.default_rng(0)
ROOT = Path(__file__).parents[2]
NOT_A_DISK = Path("/proc")  # a folder in which not even the superuser makes files


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refused(*arguments, code=1):
    """Run something that must fail with one sentence."""
    said = run(*arguments, code=code).stderr
    assert "Traceback" not in said
    assert len(said.splitlines()) == 1 if code == 1 else "Usage" in said, said
    return said


@pytest.fixture(scope="module")
def model():
    X = RNG.normal(size=(40, 2))
    return library.IVMRegressor(n_active=10, learn=None, random_state=0).fit(X, X[:, 0])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A table and a model of it."""
    import_module("matplotlib.font_manager")  # which writes a file of its own into the home when it is first seen
    folder = tmp_path_factory.mktemp("files")
    X = RNG.normal(size=(60, 2)).round(3)
    lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}\n" for a, b in X.tolist()]
    (folder / "t.csv").write_text("a,b,y\n" + "".join(lines))
    run("fit", folder / "t.csv", "-t", "y", "-o", folder / "m.ivm", "--active", 30, "--quiet")
    return folder


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A folder of its own with that table and that model; commands run in it."""
    for name in ("t.csv", "m.ivm"):
        (tmp_path / name).write_bytes((files / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def link(make):
    def name(path):
        make(path, path.with_name("link" + path.suffix))
        return f"link{path.suffix}"

    return name


def through_folder(path):
    path.with_name("other").symlink_to(path.parent)
    return f"other/{path.name}"


def two_links(path):
    path.with_name("one").symlink_to(path.name)
    path.with_name("two").symlink_to("one")
    return "two"


def up_and_down(path):
    path.with_name("sub").mkdir()
    return f"sub/../{path.name}"


WAYS = {
    "relative": lambda path: path.name,
    "absolute": str,
    "dot": lambda path: f"./{path.name}",
    "up and down": up_and_down,
    "doubled slashes": lambda path: str(path).replace("/", "//"),
    "link": link(lambda path, new: new.symlink_to(path)),
    "two links": two_links,
    "hard link": link(lambda path, new: new.hardlink_to(path)),
    "linked folder": through_folder,
    "home": lambda path: os.path.expanduser(f"~/{path.name}"),
    "working folder": lambda path: f"/proc/self/cwd/{path.name}",
    "open file": lambda path: f"/dev/fd/{os.open(path, os.O_RDONLY)}",
}


READS = {
    "fit": ["t.csv", "-t", "y"], "predict": ["m.ivm", "t.csv"], "suggest": ["m.ivm", "t.csv"],
    "evaluate": ["m.ivm", "t.csv"], "certify": ["m.ivm", "t.csv"],
}  # fmt: skip
WRITES = [
    (victim, [name, *READS[name], *(["-o", "new.ivm"] if name == "fit" and option == "--report" else []), option])
    for name, command in sorted(infovec.commands.items())
    for option in ("--output", "--report")
    if any(option in parameter.opts for parameter in command.params)
    for victim in ("t.csv", "m.ivm")
    if victim in READS[name]
]
"""Every command that writes, with every option that names a file to write, and every file that it reads."""


def test_no_other_command_writes_files():
    known = {f"{command[0]} {command[-1]}" for _, command in WRITES} | {"demo --out"}
    paths = {
        f"{name} {parameter.opts[-1]}"
        for name, command in infovec.commands.items()
        for parameter in command.params
        if isinstance(parameter, click.Option) and isinstance(parameter.type, click.Path)
    }
    assert paths == known
    assert len(WRITES) == 10
    assert len(WAYS) == 12


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("victim", "command"), WRITES, ids=lambda value: value if isinstance(value, str) else value[0] + value[-1]
)
def test_an_input_is_no_output_by_any_name(here, monkeypatch, way, victim, command):
    before = (here / victim).read_bytes()
    name = WAYS[way](here / victim)

    def nothing(*arguments, **options):
        raise AssertionError("something was read")

    for name_of in ("fit.open_sources", *(f"{name}.open_source" for name in READS if name != "fit")):
        monkeypatch.setattr(f"infovec.cli.{name_of}", nothing)
    assert f"{name} is the file that is read" in refused(*command, name)
    assert (here / victim).read_bytes() == before
    assert not (here / "new.ivm").exists()
    if way == "open file":
        os.close(int(name.rpartition("/")[2]))


def test_another_case_where_the_file_system_has_none(here, monkeypatch):
    stat_exactly, before = os.stat, (here / "t.csv").read_bytes()

    def caseless(path, **options):
        return stat_exactly("t.csv" if path == "T.CSV" else path, **options)

    monkeypatch.setattr(os, "stat", caseless)
    monkeypatch.setattr(os, "access", lambda path, mode, **options: True)
    assert "T.CSV is the file that is read (t.csv)" in refused("predict", "m.ivm", "t.csv", "-o", "T.CSV")
    assert (here / "t.csv").read_bytes() == before


def test_names_that_only_look_alike_are_files_of_their_own(here):
    refused("predict", "m.ivm", "t.csv", "-o", "~/t.csv")  # the shell's business: there is no folder of that name
    before = (here / "t.csv").read_bytes()
    run("predict", "m.ivm", "t.csv", "-o", "t.csv ", "--quiet")
    assert (here / "t.csv ").read_text().startswith("prediction\n")
    assert (here / "t.csv").read_bytes() == before


def test_data_sets_by_name_are_files_too(here, monkeypatch):
    np.savez(here / "mine.npz", X_train=RNG.normal(size=(9, 2)), y_train=np.arange(9.0))
    monkeypatch.setenv("INFOVEC_DATA", str(here))
    before = (here / "mine.npz").read_bytes()
    for data in ("mine:train", "mine.npz:train"):
        assert "is the file that is read" in refused("fit", data, "-o", "mine.npz")
    assert (here / "mine.npz").read_bytes() == before


@pytest.mark.parametrize("name", ["p.tsv", "p.tab.gz", "p.csv", "p.txt", "p", "p.csv.gz", "p.2024"])
@pytest.mark.parametrize("command", [("predict", "--keep", "a,y"), ("suggest", "-n", 4)])
def test_fields_are_divided_as_the_name_says(here, name, command):
    what, *more = command
    run(what, "m.ivm", "t.csv", "-o", name, *more)
    text = gzip.decompress(Path(name).read_bytes()).decode() if name.endswith(".gz") else Path(name).read_text()
    shown = run(what, "m.ivm", "t.csv", *more).stdout
    assert text == (shown.replace(",", "\t") if ".t" in name and name != "p.txt" else shown)
    if name.endswith((".tsv", ".csv")):
        run("predict", "m.ivm", name if what == "suggest" else "t.csv")


@pytest.mark.parametrize("name", ["p.parquet", "p.xlsx", "p.json", "p.npz", "p.Parquet", "p.xlsx.gz"])
@pytest.mark.parametrize("command", [("predict",), ("suggest", "-n", 4)])
def test_tables_of_other_kinds_are_refused_before_anything_is_read(here, name, command):
    what, *more = command
    said = refused(what, "absent.ivm", "absent.csv", "-o", name, *more, code=2)
    assert f"{name}: rows are written as CSV" in said
    assert not Path(name).exists()
    if name == "p.json":
        run(what, "m.ivm", "t.csv", "-o", name, "--json", *more)
        assert Path(name).read_text().startswith("{")


def test_a_model_does_not_replace_what_is_none(here):
    """Such as a table that is named by a slip; models, empty files and what is called like a model are replaced."""
    fit = ("fit", "t.csv", "-t", "y", "--active", 5)
    Path("test.csv").write_text("a,b,y\n1,2,yes\n")
    said = refused(*fit, "-o", "test.csv")
    assert "test.csv is there and is no model file" in said
    assert Path("test.csv").read_text() == "a,b,y\n1,2,yes\n"
    Path("empty.ivm").touch()
    for name in ("empty.ivm", "m.ivm"):
        run(*fit, "-o", name)
        assert library.load(name).n_active == 5


def test_two_outputs_are_two_files(here):
    for other in ("new.ivm", "./new.ivm"):
        said = refused("fit", "t.csv", "-t", "y", "-o", "new.ivm", "--report", other)
        assert "are one file, which cannot hold both outputs" in said
    assert sorted(os.listdir(here)) == ["m.ivm", "t.csv"]


def test_a_file_of_a_folder_that_is_read_is_no_output(here):
    (here / "rows").mkdir()
    for name in ("a.csv", "b.csv"):
        (here / "rows" / name).write_bytes((here / "t.csv").read_bytes())
    before = (here / "rows" / "b.csv").read_bytes()
    for data in (["rows"], ["rows/a.csv", "rows/b.csv"]):
        assert "rows/b.csv is the file that is read" in refused("fit", *data, "-t", "y", "-o", "rows/b.csv")
    assert (here / "rows" / "b.csv").read_bytes() == before


def test_what_cannot_be_written_is_said_before_anything_is_read(here, monkeypatch):
    monkeypatch.setattr("infovec.cli.fit.open_sources", None)
    (here / "folder").mkdir()
    (here / "loop").symlink_to("loop")
    (here / "astray").symlink_to("absent/m.ivm")
    (here / "protected").write_text("mine")
    (here / "protected").chmod(0o444)
    for name, said in {
        "absent/m.ivm": "there is no folder", "astray": "there is no folder", "loop": "levels of symbolic links",
        "protected": "it is protected", "": "does not name a file", "new.ivm/": "does not name a file",
        "t.csv/": "does not name a file", "t.csv/m.ivm": "not a directory", NOT_A_DISK / "m.ivm": "cannot be written",
        "x" * 250: "file name too long", "-": "takes predictions only",
        "folder": "folder is a folder", ".": ". is a folder",
    }.items():  # fmt: skip
        assert said in refused("fit", "t.csv", "-t", "y", "-o", name)
        assert said in refused("fit", "t.csv", "-t", "y", "-o", "new.ivm", "--report", name)
    assert "folder is a folder" in refused("predict", "m.ivm", "t.csv", "-o", "folder")
    assert "folder is a folder" in refused("evaluate", "m.ivm", "t.csv", "--report", "folder")
    with most_bytes(100):
        assert "file too large" in refused("fit", "t.csv", "-t", "y", "-o", "new.ivm")
    assert os.readlink("loop") == "loop"
    assert (here / "protected").read_text() == "mine"
    assert sorted(os.listdir(here)) == ["astray", "folder", "loop", "m.ivm", "protected", "t.csv"]


def test_from_python_as_well(here, model):
    onnx_export = pytest.importorskip("infovec.onnx_export")
    (here / "loop").symlink_to("loop")
    for write in (model.save, model.report, lambda path: onnx_export.to_onnx(model, path)):
        for name in ("loop", ".", "absent/m.ivm", "", "nul\0"):
            with pytest.raises(OutputError) as caught:
                write(name)
            assert isinstance(caught.value, OSError)
            assert isinstance(caught.value, ParameterError)
    assert os.readlink("loop") == "loop"


@contextmanager
def read_back(pipe):
    """Collect what is written into a pipe."""
    parts = []
    reader = threading.Thread(target=lambda: parts.append(pipe.read_bytes()), daemon=True)
    reader.start()
    yield parts
    reader.join(timeout=30)


def test_pipes_are_written_into(here, model):
    onnx_export = pytest.importorskip("infovec.onnx_export")
    pipe = here / "pipe"
    os.mkfifo(pipe)
    for write in (model.save, model.report, lambda path: onnx_export.to_onnx(model, path)):
        with read_back(pipe) as parts:
            write(pipe)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        write(here / "file")
        if write == model.save:  # which has the time in it
            (here / "piped").write_bytes(parts[0])
            again = library.load(here / "piped").predict(np.eye(2))
            np.testing.assert_array_equal(again, library.load(here / "file").predict(np.eye(2)))
        else:
            assert parts[0] == (here / "file").read_bytes()
    expected = run("predict", "m.ivm", "t.csv").stdout
    with read_back(pipe) as parts:
        run("predict", "m.ivm", "t.csv", "-o", "pipe", "--quiet")
    assert parts[0].decode() == expected
    assert "is the file that is read" in refused("predict", "m.ivm", "pipe", "-o", "pipe")  # it would wait for itself


def device(path, minor):
    """Make a device of our own: were it replaced, no harm would be done. 3 takes everything, 7 is always full."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
        path.open("wb").close()
    except PermissionError:
        pytest.skip("devices are made by the superuser only")
    return path


def test_devices_stay_devices(here, model):
    null, full = device(here / "null", 3), device(here / "full", 7)
    fit = ("fit", "t.csv", "-t", "y", "--active", 9, "--quiet")
    model.save(null)
    model.report(null)
    run(*fit, "-o", null, "--report", null)
    run("predict", "m.ivm", "t.csv", "-o", null, "--quiet")
    with pytest.raises(OutputError, match="full cannot be written: no space left on device"):
        model.save(full)
    assert f"{full} cannot be written: no space left" in refused(*fit, "-o", full)
    assert f"{full} cannot be written: no space left" in refused("predict", "m.ivm", "t.csv", "-o", full)
    os.mknod(here / "disk", stat.S_IFBLK | 0o666, os.makedev(7, 255))
    assert "disk is a disk, all of which would be lost" in refused(*fit, "-o", "disk")
    assert stat.S_ISBLK((here / "disk").stat().st_mode)
    assert stat.S_ISCHR(null.stat().st_mode)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_links_are_followed_and_permissions_kept(here, model):
    (here / "private.ivm").write_text("old")
    (here / "private.ivm").chmod(0o600)
    (here / "link.ivm").symlink_to("private.ivm")
    (here / "new-link.csv").symlink_to("sub/new.csv")
    (here / "sub").mkdir()
    model.save("link.ivm")
    assert stat.S_IMODE((here / "private.ivm").stat().st_mode) == 0o600
    assert (here / "link.ivm").is_symlink()
    library.load("private.ivm")
    (here / "private.ivm").chmod(0o640)
    run("predict", "m.ivm", "t.csv", "-o", "link.ivm", "--quiet")
    assert stat.S_IMODE((here / "private.ivm").stat().st_mode) == 0o640
    assert (here / "private.ivm").read_text().startswith("prediction")
    run("predict", "m.ivm", "t.csv", "-o", "new-link.csv", "--quiet")
    assert (here / "sub" / "new.csv").read_text() == (here / "private.ivm").read_text()
    assert (here / "new-link.csv").is_symlink()


@contextmanager
def most_bytes(size):
    """Let no file become larger, as a full disk does."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@pytest.mark.parametrize("name", ["old.ivm", "old.csv", "old.csv.gz", "old.html"])
@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk_leaves_what_was_there(here, name):
    (here / name).write_text("old")
    (here / "many.csv").write_text("a,b,y\n" + "".join(f"{a},{b},no\n" for a, b in RNG.normal(size=(3000, 2))))
    command = {
        "old.ivm": ("fit", "t.csv", "-t", "y", "--active", 30, "--quiet", "-o"),
        "old.html": ("evaluate", "m.ivm", "many.csv", "--report"),
    }.get(name, ("predict", "m.ivm", "many.csv", "--proba", "-o"))
    import_module("matplotlib.font_manager")  # which writes a file of its own when it is first seen
    with most_bytes(6000):
        said = refused(*command, name)
    assert f"{name} cannot be written: file too large" in said
    assert (here / name).read_text() == "old"
    assert sorted(os.listdir(here)) == sorted(["m.ivm", "many.csv", "t.csv", name])


def test_packed_predictions_are_whole(here):
    run("predict", "m.ivm", "t.csv", "-o", "p.csv.gz", "--quiet")
    assert gzip.decompress((here / "p.csv.gz").read_bytes()).decode() == run("predict", "m.ivm", "t.csv").stdout


def program(arguments, shell):
    """Run the program with its streams as a shell would connect them; return exit code and standard error."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    strict = "-X dev -W ignore" if "full" in shell else ""  # tells of what fails when files are closed at the end
    command = f"exec {sys.executable} {strict} -m infovec.cli {arguments} {shell}"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "shell", "said"),
    [
        ("predict m.ivm t.csv", ">> t.csv", "standard output is a file that is read: send it to another one"),
        ("predict m.ivm - -o t.csv", "< t.csv", "t.csv is the file that is read (standard input) and would be lost"),
        ("predict m.ivm t.csv", "> /dev/full", "standard output cannot be written: [Errno 28] No space left on device"),
        ("--help", "> /dev/full", "standard output cannot be written: [Errno 28] No space left on device"),
        ("predict m.ivm t.csv", ">&-", "standard output is closed"),
    ],
)
def test_redirections(here, arguments, shell, said):
    before = (here / "t.csv").read_bytes()
    code, stderr = program(arguments, shell)
    assert (code, len(stderr.splitlines())) == (1, 1), stderr
    assert said in stderr
    assert (here / "t.csv").read_bytes() == before


def test_a_block_that_fails_writes_nothing_to_a_device_and_keeps_a_file(tmp_path):
    def fail(path):
        with writing(path) as file:
            file.write(b"half")
            raise KeyError("something else")

    (tmp_path / "file").write_bytes(b"before")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "pipe"):  # which nobody reads: opening it would wait forever
        with pytest.raises(KeyError):
            fail(tmp_path / name)
    assert (tmp_path / "file").read_bytes() == b"before"
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


@contextmanager
def ordinary_user():
    """Be somebody whom permissions stop."""
    superuser = os.geteuid() == 0
    if superuser:
        os.seteuid(65534)
    try:
        yield
    finally:
        if superuser:
            os.seteuid(0)


def test_folders_and_files_of_others():
    with tempfile.TemporaryDirectory() as name:  # that of pytest is open to nobody else
        folder = Path(name)
        (folder / "open").write_text("a")
        (folder / "protected").write_text("b")
        (folder / "open").chmod(0o666)
        (folder / "protected").chmod(0o444)
        folder.chmod(0o555)
        with ordinary_user():
            for file, said in {
                "new": "permission denied",
                "open": "permission denied",
                "protected": "protected",
            }.items():
                with pytest.raises(OutputError, match=f"{file} cannot be written: .*{said}"):
                    check_output(folder / file)
                with pytest.raises(OutputError, match=f"{file} cannot be written: .*{said}"), writing(folder / file):
                    pass
        folder.chmod(0o755)
        assert sorted(os.listdir(folder)) == ["open", "protected"]


def test_checking_leaves_no_trace(tmp_path):
    (tmp_path / "file").write_bytes(b"before")
    check_output(tmp_path / "file")
    check_output(tmp_path / "new", [tmp_path / "file", tmp_path / "absent"])
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"before"
    assert same_file(tmp_path / "new", f"{tmp_path}/./new")
    assert not same_file(tmp_path / "new", 0)
