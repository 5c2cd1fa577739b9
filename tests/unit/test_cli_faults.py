"""Whatever goes wrong in a command is said in one sentence, exit code 1, and what was there before is still there."""

import errno
import os
import re
import resource
import subprocess
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from infovec.cli.commands import infovec

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, /dev/full and limits as Linux has them")
ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
UNREADABLE = "/proc/self/mem"  # opens, and fails when it is read

CASES = {
    "fit": ["fit", "t.csv", "-t", "y", "--active", "20", "-o", "out"],
    "predict": ["predict", "m.ivm", "t.csv", "-o", "out"],
    "suggest": ["suggest", "m.ivm", "t.csv", "-n", "3", "-o", "out"],
    "evaluate": ["evaluate", "m.ivm", "unseen.csv", "--report", "out"],
    "certify": ["certify", "m.ivm", "unseen.csv", "--report", "out"],
    "compare": ["compare", "m.ivm", "m.ivm", "unseen.csv"],
    "inspect": ["inspect", "m.ivm"],
    "demo": ["demo", "--out", "figures"],
    "reproduce": ["reproduce", "thesis-plv"],
    "bench": ["bench", "svc"],
}
WRITES = {name: "out" for name, case in CASES.items() if "out" in case} | {"demo": "figures/classification.png"}
OUTSIDE = ("reproduce", "bench")  # run by a process of their own
PRINTS = [name for name in CASES if name != "demo"]


def test_every_command_is_among_these():
    assert set(infovec.commands) == set(CASES)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name in ("t.csv", "unseen.csv"):
        X = RNG.normal(size=(60, 2)).round(3)
        lines = [f"{a},{b},{'yes' if a + b > 0 else 'no'}\n" for a, b in X.tolist()]
        (folder / name).write_text("a,b,y\n" + "".join(lines))
    fit = ["fit", str(folder / "t.csv"), "-t", "y", "-o", str(folder / "m.ivm"), "--active", "20", "--quiet"]
    assert CliRunner().invoke(infovec, fit).exit_code == 0
    return folder


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A folder with tables, a model, and old outputs; commands run in it."""
    for path in files.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "figures").mkdir()
    for name in set(WRITES.values()):
        (tmp_path / name).write_bytes(b"old")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("infovec.demo.compare_on_digits", lambda: None)
    monkeypatch.setattr("infovec.report.write.render", lambda about: "a report" * 10_000)  # which takes its time
    import_module("matplotlib.font_manager")  # which writes a file of its own when it is first seen
    return tmp_path


def listed(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def quietly(command):
    return [*CASES[command], *(["--quiet"] if command not in ("demo", *OUTSIDE) else [])]


@contextmanager
def fails(command, folder, *words):
    """What runs here must fail with one sentence that has these words, and leave all files as they were."""
    before = listed(folder)
    result = CliRunner().invoke(infovec, quietly(command))
    yield
    assert result.exit_code == 1, (result.output, result.exception)
    said = result.stderr.splitlines()
    assert len(said) == 1, result.stderr
    assert said[0].startswith("Error: ")
    assert "Traceback" not in result.output
    assert "mistake of infovec" not in said[0]
    for word in words:
        assert re.search(word, said[0], flags=re.IGNORECASE), said[0]
    assert listed(folder) == before


def raising(error):
    def fail(*arguments, **options):
        raise error

    return fail


IO = OSError(errno.EIO, "Input/output error")


def break_at(command, folder, monkeypatch, error):
    """Let what a command reads fail with an error of Python."""
    if command in OUTSIDE:
        monkeypatch.setattr("infovec.cli.outside.subprocess.run", raising(error))
    elif command == "demo":
        monkeypatch.setattr("infovec.demo.compare_on_digits", raising(error))
    elif command == "inspect":
        monkeypatch.setattr("infovec.cli.inspect.load_model", raising(error))
    else:
        monkeypatch.setattr("infovec.datasets.text.TextBlocks._whole_lines", raising(error))


@pytest.mark.parametrize("command", CASES)
def test_read_errors(here, monkeypatch, command):
    """A disk that gives nothing back: the system says so when the file is read."""
    if command in ("demo", *OUTSIDE):
        break_at(command, here, monkeypatch, IO)
    for name in {"t.csv", "unseen.csv"} & set(CASES[command]) or {"m.ivm"}:
        (here / name).unlink()
        (here / name).symlink_to(UNREADABLE)
    before = os.listdir(here)
    result = CliRunner().invoke(infovec, quietly(command))
    assert result.exit_code == 1, (result.output, result.exception)
    assert re.fullmatch(r"Error: .*(Input/output error|Invalid argument).*\n", result.stderr), result.stderr
    assert os.listdir(here) == before
    assert all((here / path).read_bytes() == b"old" for path in set(WRITES.values()))


@pytest.mark.parametrize("command", CASES)
def test_bad_files(here, monkeypatch, command):
    wrong = RNG.integers(0, 256, size=5000, dtype=np.uint8).tobytes()
    if command == "demo":
        (here / "figures" / "classification.png").chmod(0o444)
        words = ["protected"]
    elif command in OUTSIDE:
        monkeypatch.chdir(here)
        monkeypatch.setattr("infovec.cli.outside.__file__", str(here / "a" / "b" / "c" / "d.py"))
        words = ["not part of the installed package"]
    else:
        name = next(name for name in ("m.ivm", "t.csv") if name in CASES[command])
        (here / name).write_bytes(wrong)
        words = [name]
    with fails(command, here, *words):
        pass


@pytest.mark.parametrize("command", [name for name in CASES if {"t.csv", "unseen.csv"} & set(CASES[name])])
def test_bad_tables(here, command):
    name = next(name for name in ("unseen.csv", "t.csv") if name in CASES[command])
    good = (here / name).read_bytes()
    for content in (
        b"\x00\xff" * 4000,
        good[:-4] + b',"',
        good + b"1,2\n",
        b"",
        *([] if command == "predict" else [b"a,b,y\n"]),  # of no rows there are predictions: none
        good.replace(b"y", b"z", 1),
    ):
        (here / name).write_bytes(content)
        if content.startswith(b"a,b,z") and command in ("predict", "suggest"):
            continue  # they need no target
        with fails(command, here, name if content != b"" else "is empty"):
            pass


@pytest.mark.parametrize("command", CASES)
def test_interrupted_while_reading(here, monkeypatch, command):
    break_at(command, here, monkeypatch, KeyboardInterrupt())
    with fails(command, here, "interrupted; nothing was written"):
        pass


@pytest.mark.parametrize("command", CASES)
def test_mistakes_of_the_program(here, monkeypatch, command):
    """Even what nobody thought of is a sentence; where it happened is told when it is asked for."""
    break_at(command, here, monkeypatch, ZeroDivisionError("one\n  \x1b[2Jtwo"))
    result = CliRunner().invoke(infovec, quietly(command))
    said = r"Error: this must not happen, .* infovec: ZeroDivisionError: one \\x1b\[2Jtwo; --debug shows .*\n"
    assert (result.exit_code, bool(re.fullmatch(said, result.stderr))) == (1, True), result.stderr
    debug = CliRunner().invoke(infovec, [*quietly(command), "--debug"])
    assert debug.exit_code == 1
    assert debug.stderr.startswith("Traceback")
    assert debug.stderr.splitlines()[-1].startswith("Error: this must not happen")
    assert CliRunner().invoke(infovec, ["--debug", *quietly(command)]).stderr.startswith("Traceback")
    assert "\x1b" not in debug.stderr


@pytest.mark.parametrize("command", WRITES)
@pytest.mark.parametrize("error", [IO, KeyboardInterrupt()], ids=["write error", "interrupted"])
def test_write_errors(here, monkeypatch, command, error):
    """What was there is only replaced when the new file is whole and safely on the disk."""
    monkeypatch.setattr("infovec.persistence.atomic.os.fsync", raising(error))
    with fails(command, here, "interrupted" if isinstance(error, KeyboardInterrupt) else "input/output error"):
        pass


@contextmanager
def most_bytes(size):
    """Let no file become larger, as a full disk does."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def many_rows(here, command):
    name = "unseen.csv" if "unseen.csv" in CASES[command] else "t.csv"
    (here / name).write_text((here / name).read_text() + "0.5,0.5,yes\n" * (300 if command == "suggest" else 3000))


@pytest.mark.parametrize("command", WRITES)
def test_files_that_grow_too_large(here, command):
    many_rows(here, command)
    with most_bytes(100 if command == "suggest" else 6000), fails(command, here, "cannot be written: file too large"):
        pass


@contextmanager
def small_disk(folder, size):
    """A disk of so many bytes, which only the superuser can have."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("disks are mounted by the superuser only")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("command", WRITES)
def test_full_disks(here, tmp_path_factory, monkeypatch, command):
    disk = tmp_path_factory.mktemp("small") / "disk"
    with small_disk(disk, 12288):
        (disk / "figures").mkdir()
        target = disk / WRITES[command]
        target.write_bytes(b"old")
        many_rows(here, command)
        replaced = {"out": str(target), "figures": str(target.parent), "3": "300"}
        monkeypatch.setitem(CASES, command, [replaced.get(word, word) for word in CASES[command]])
        with fails(command, here, f"{target}.* (cannot be written: no space left on device|and .* has .* left)"):
            pass
        assert target.read_bytes() == b"old"
        assert len(list(target.parent.glob(".*"))) == 0


def test_a_full_disk_of_working_files(here, tmp_path_factory, monkeypatch):
    disk = tmp_path_factory.mktemp("small") / "disk"
    wide = RNG.normal(size=(400, 60)).round(3)
    names = ",".join(f"x{j}" for j in range(60))
    text = f"{names},y\n" + "".join(",".join(map(str, [*row, int(row[0] > 0)])) + "\n" for row in wide.tolist())
    (here / "t.csv").write_text(text)
    with small_disk(disk, 32768):
        monkeypatch.setattr("tempfile.tempdir", str(disk))
        monkeypatch.setattr("infovec.cli.fit._ROOM", 1e-9)  # so that the table goes to the disk
        with fails("fit", here, f"working files, {disk}, cannot be written: no space left on device"):
            pass
        assert os.listdir(disk) == []


PRINTED = {
    "fit": "fit t.csv -t y -o out2 --active 9 --quiet --json", "predict": "predict m.ivm t.csv",
    "suggest": "suggest m.ivm t.csv", "evaluate": "evaluate m.ivm unseen.csv --quiet",
    "certify": "certify m.ivm unseen.csv --quiet", "compare": "compare m.ivm m.ivm unseen.csv --quiet",
    "inspect": "inspect m.ivm", "reproduce": "reproduce --list", "bench": "bench --list",
}  # fmt: skip


FULL = r"Error: standard output cannot be written: .*No space left on device\n"


@pytest.mark.parametrize("command", PRINTS)
def test_a_full_disk_behind_standard_output(here, monkeypatch, capsys, command):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            infovec.main(PRINTED[command].split(), prog_name="infovec")
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert re.fullmatch(FULL, said), said


def test_a_full_disk_behind_a_process(here):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = f"exec {sys.executable} -m infovec {PRINTED['compare']} > /dev/full"
    done = subprocess.run(["sh", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.fullmatch(FULL, done.stderr), done.stderr
