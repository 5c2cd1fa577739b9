"""Small models of every form, saved: what the files part begins with."""

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from infovec import IVMClassifier, IVMOrdinalClassifier, IVMRegressor
from infovec.kernels import RBF, Bias, Linear, Matern

__all__ = ["Case", "make_cases"]


class Case(NamedTuple):
    """A file, and rows to predict for and to fit again."""

    path: Path
    X: Any
    y: Any
    estimator: type | None  # what it is, and is to be fitted again
    table: Path | None  # for the command line, where that made the model


def make_cases(folder: Path) -> list[Case]:
    """Fit and save models of every form; those of the command line by what it does itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    latent = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1]
    binary, three = np.where(latent > 0, "yes", "no"), np.digitize(latent, [-0.3, 0.3])
    thin = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    common: dict[str, Any] = {"n_active": 9, "random_state": 0, "learn": None}
    seed = {**common, "random_state": np.random.RandomState(3)}
    ard = RBF(np.array([1.0, 2.0, 3.0])) + Bias()
    fits = [
        (IVMRegressor(kernel=ard, **common), X, latent),
        (IVMRegressor(Matern() + Linear(), "student_t", "factorised", **seed), thin, latent),
        (IVMRegressor(likelihood="poisson", **common), X, three.astype(float)),
        (IVMClassifier(kernel=ard, **seed), X, binary),
        (IVMClassifier(likelihood="logit", approximation="factorised", **common), thin, binary),
        (IVMClassifier(shared_kernel=False, **common), X, three),
        (IVMClassifier(multi_class="probit", **common), X, three),
        (IVMClassifier(approximation="factorised", class_weight="balanced", **common), X, binary),
        (IVMClassifier(multi_class="probit", approximation="factorised", **common), thin, three),
        (IVMOrdinalClassifier(categories=[0, 1, 2], **common), X, three),
    ]  # fmt: skip
    cases = []
    for k, (model, inputs, y) in enumerate(fits):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(inputs, y).save(folder / f"{k}.ivm", extra={"note": "hello", "scale": np.array([1.0, 2.0])})
        cases.append(Case(folder / f"{k}.ivm", inputs, y, type(model), None))
    return cases + _from_tables(folder, X, latent, binary, three)


def _from_tables(folder: Path, X: Any, latent: Any, binary: Any, three: Any) -> list[Case]:
    from click.testing import CliRunner

    from infovec.cli.commands import infovec

    words = np.array(["red", "green", "blue"])[np.argsort(X, axis=1)[:, 0]]
    cases = []
    for name, y, more in (("classify", binary, []), ("regress", latent, []), ("ordinal", three, ["--task", "ordinal"])):
        table, path = folder / f"{name}.csv", folder / f"{name}.ivm"
        lines = [f"{a},{b},{c},{w},{t}" for (a, b, c), w, t in zip(X, words, y, strict=True)]
        table.write_text("\n".join(["a,b,c,colour,target", *lines]) + "\n")
        cases.append(_fitted(CliRunner(), infovec, table, path, ["--target", "target", *more]))
    table, path = folder / "thin.svm", folder / "thin.ivm"
    entries = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if abs(v) > 0.5) for x in X]
    table.write_text("".join(f"{t} {e}\n" for t, e in zip(latent, entries, strict=True)))
    return [*cases, _fitted(CliRunner(), infovec, table, path, ["--task", "regress"])]


def _fitted(runner: Any, program: Any, table: Path, path: Path, more: list[str]) -> Case:
    done = runner.invoke(program, ["fit", str(table), "-o", str(path), "--active", "8", "--quiet", *more])
    if done.exit_code:
        raise RuntimeError(f"{table.name}: {done.output}")
    return Case(path, None, None, None, table)
