"""The data sets of the table, in two halves: defaults are chosen on one of them and confirmed on the other."""

import numpy as np

from ..tasks import arrays

__all__ = ["CLASS_SETS", "NUMBER_SETS", "SETS", "Rows", "rows_of"]

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

CLASS_SETS = {
    "chosen": (
        "spambase", "heart", "sonar", "australian", "german", "banana", "satimage", "ivm_unitsquare", "iris", "thyroid",
        "vowel", "dna",
    ),
    "confirmed": (
        "ionosphere", "pima", "wdbc", "crabs", "synth", "twonorm", "ijcnn1", "a9a", "waveform", "segment", "optdigits",
        "usps", "letter", "wine", "glass",
    ),
}  # fmt: skip
NUMBER_SETS = {
    "chosen": ("concrete", "housing", "airfoil", "kin8nm", "cpu_small", "bike", "machine_cpu"),
    "confirmed": (
        "yacht", "autompg", "abalone", "california", "elevators", "pol", "bank8fm", "pumadyn32nm", "protein", "kin40k",
    ),
}  # fmt: skip
SETS = {name: half for sets in (CLASS_SETS, NUMBER_SETS) for half, names in sets.items() for name in names}

SHARE, MOST_TEST = 0.7, 2000
LEAKS = {"bike": (15, 16)}  # columns whose sum is the target


def rows_of(name: str, split: int, most: int) -> Rows:
    """Return training inputs and targets, test inputs and targets; inputs are standardised by the training rows.

    A random split: 70 % of the rows to train, but no more than ``most``. Classes keep their shares.
    """
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    data = arrays(name)
    parts = [part for part in ("", "_train", "_test", "_valid") if f"X{part}" in data]
    X = np.concatenate([data[f"X{part}"] for part in parts]).astype(np.float64)
    y = np.concatenate([data[f"y{part}"] for part in parts])
    X = np.delete(X, LEAKS.get(name, ()), axis=1)
    classes = any(name in half for half in CLASS_SETS.values())
    y = y.astype(np.intp if classes else np.float64)
    train = min(most, int(SHARE * len(y)))
    X, Z, y, t = train_test_split(
        X,
        y,
        train_size=train,
        test_size=min(MOST_TEST, len(y) - train),
        random_state=split,
        stratify=y if classes else None,
    )
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(Z), t
