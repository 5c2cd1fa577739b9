"""The program as a process: signals, pipes, terminals, memory."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from infovec.cli.commands import infovec
from infovec.cli.gather import Choices, gather
from infovec.datasets import open_source

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
PROGRAM = [sys.executable, "-m", "infovec.cli"]


def program(folder, *arguments, **options):
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )


def write(path, rows, columns=4):
    X = RNG.normal(size=(min(rows, 5000), columns)).round(4)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=len(X)) > 0, "yes", "no")
    lines = "".join(",".join([*map(str, x), label]) + "\n" for x, label in zip(X.tolist(), y, strict=True))
    path.write_text(",".join([*(f"x{j}" for j in range(columns)), "y"]) + "\n" + lines * (rows // len(X)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("process")
    write(folder / "train.csv", 300)
    done = program(folder, "fit", "train.csv", "--target", "y", "-o", "m.ivm", "--active", 20)
    assert done.returncode == 0
    assert "\x1b" not in done.stderr  # plain lines where there is no terminal
    assert len(done.stderr.splitlines()) == 1  # what was found in the table; it was too fast for more
    return folder


def test_help_is_instant_and_knows_all_commands(tmp_path):
    start = time.perf_counter()
    done = program(tmp_path, "--help")
    seconds = time.perf_counter() - start
    assert done.returncode == 0
    for command in ("demo", "fit", "predict", "evaluate", "inspect", "reproduce", "bench"):
        assert command in done.stdout
    assert seconds < 1.0  # scikit-learn alone takes longer


def test_ctrl_c_keeps_the_model_so_far(tmp_path):
    write(tmp_path / "train.csv", 3000, 20)
    command = [*PROGRAM, "fit", "train.csv", "--target", "y", "-o", "m.ivm", "--active", "200", "--ard"]
    process = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    assert "3000 rows, 20 columns" in process.stderr.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "warning: interrupted while learning" in said
    done = CliRunner().invoke(infovec, ["evaluate", str(tmp_path / "m.ivm"), str(tmp_path / "train.csv"), "--json"])
    assert json.loads(done.stdout)["error"]["value"] < 0.4
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.ivm", "train.csv"]


def test_ctrl_c_before_there_is_a_model(tmp_path):
    reader, writer = os.pipe()
    os.write(writer, b"a,y\n1,2\n")
    process = subprocess.Popen(
        [*PROGRAM, "fit", "-", "--target", "y", "-o", "m.ivm"], cwd=tmp_path, env=ENVIRONMENT, stdin=reader,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(2.5)  # it waits for more rows
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == 1
    assert "interrupted; nothing was written" in said
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away(folder):
    write(folder / "many.csv", 50_000)
    process = subprocess.Popen(
        [*PROGRAM, "predict", "m.ivm", "many.csv"],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"prediction\n"
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 1
    assert b"Traceback" not in said


def test_rows_from_standard_input_are_those_of_the_file(folder):
    path = str(folder / "train.csv")
    from_file = CliRunner().invoke(infovec, ["predict", str(folder / "m.ivm"), path, "--proba"])
    piped = program(folder, "predict", "m.ivm", "-", "--proba", input=(folder / "train.csv").read_text())
    assert (piped.returncode, piped.stdout) == (0, from_file.stdout)


def test_bars_on_a_terminal_only(folder):
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "fit", "train.csv", "--target", "y", "-o", "t.ivm", "--active", "20"], cwd=folder,
        env={**ENVIRONMENT, "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"fitting" in shown
    assert b"\x1b[" in shown  # a bar that moves
    assert b"\x1b" not in stdout


def peak(folder, *arguments):
    """Peak resident megabytes of a command."""
    process = subprocess.Popen([*PROGRAM, *map(str, arguments)], cwd=folder, env=ENVIRONMENT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def test_predicting_takes_constant_memory(folder):
    write(folder / "more.csv", 400_000)  # as numbers 13 MB, as text 12 MB, as rows of Python far more
    more = peak(folder, "predict", "m.ivm", "more.csv", "--proba", "-o", "more.out", "--quiet")
    assert more < peak(folder, "predict", "m.ivm", "train.csv", "-o", "few.out", "--quiet") + 30
    with (folder / "more.out").open() as file:
        assert sum(1 for _ in file) == 400_001
    (folder / "more.csv").unlink()


def test_reading_takes_little_more_memory_than_the_matrix(tmp_path):
    rows, columns = 30_000, 200
    block = "".join(",".join(map(str, row)) + "\n" for row in RNG.integers(0, 256, size=(1000, columns)).tolist())
    (tmp_path / "x.csv").write_text(",".join(f"c{j}" for j in range(columns)) + "\n" + block * (rows // 1000))
    tracemalloc.start()
    with open_source(str(tmp_path / "x.csv")) as source:
        gathered = gather(source, Choices("c0", task="regress"), lambda n: None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    matrix = 4 * rows * (columns - 1)
    assert gathered.X.nbytes == matrix
    assert most < 1.1 * matrix + 30e6  # a block of text in several forms
