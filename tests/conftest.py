"""Shared fixtures."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("infovec", deadline=None, derandomize=True)
settings.load_profile("infovec")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell starts what runs in its background: there are tests
    signal.signal(signal.SIGINT, signal.default_int_handler)  # of Ctrl-C, and of programs that inherit this


@pytest.fixture(scope="session")
def dataset():
    """Load a data set of $INFOVEC_DATA by name; skip the test where it is absent."""

    def load(name):
        folder = os.environ.get("INFOVEC_DATA", "")
        path = Path(folder) / f"{name}.npz"
        if not folder or not path.exists():
            pytest.skip(f"needs {name}.npz: set INFOVEC_DATA to a folder that has it")
        with np.load(path, allow_pickle=False) as file:
            data = {key: file[key] for key in file.files}
        return {k: v.astype(np.float64) if k.startswith("X") else v for k, v in data.items()}

    return load
