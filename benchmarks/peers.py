"""Other sparse machines to compare with: GPyTorch's SVGP and SGPR, and Nyström features with linear models."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .sides import installed

__all__ = ["SGPRRegressor", "SVGPClassifier", "missing", "nystroem_logistic", "nystroem_ridge", "warm_up"]

PREDICT_ROWS = 4096
History = list[tuple[float, float]]


def missing() -> str | None:
    """Say why the peers of GPyTorch cannot run here, or return None if they can."""
    absent = [package for package in ("torch", "gpytorch") if not installed(package)]
    return f"{' and '.join(absent)} cannot be imported; pip install '.[bench]'" if absent else None


def warm_up() -> None:
    """Fit tiny models, so that what PyTorch loads at first use (a second or two) is not measured."""
    X = np.random.default_rng(0).standard_normal((20, 2))
    SVGPClassifier(n_inducing=5, epochs=1).fit(X, X[:, 0] > 0)
    SGPRRegressor(n_inducing=5, iterations=1).fit(X, X[:, 0])


@dataclass
class SVGPClassifier:
    """Two classes by a stochastic variational GP (Hensman et al. 2015): probit, whitened, learned inducing inputs.

    Everything is learned: constant mean, RBF kernel (one length scale, or with ``ard`` one for each column), inducing
    inputs, and a Gaussian with a full covariance over their values; by Adam, or with ``natural`` that Gaussian by
    natural gradients. Inputs are taken as they are. The inducing inputs start at random rows, the length scale at the
    median distance between rows.

    Training ends with the first of these: ``seconds`` of it have passed, the log loss on the validation rows was seen
    to be at most ``target``, or all ``epochs`` are done (None means 100, or no end if there are ``seconds``).

    Attributes
    ----------
    history_ : list of (seconds, log loss)
        About every ``every`` seconds, and at the end, if there are validation rows. Evaluation is not counted.
    seconds_, steps_ : float, int
        Seconds of training and minibatches used.
    """

    n_inducing: int = 500
    seconds: float | None = None
    target: float | None = None
    epochs: int | None = None
    every: float = 5.0
    ard: bool = False
    natural: bool = False
    batch: int = 1024
    lr: float = 0.01
    natural_lr: float = 0.1
    dtype: str = "float32"
    random_state: int = 0
    history_: History = field(default_factory=list, init=False, repr=False)

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> "SVGPClassifier":
        """Train on the rows, watching the log loss on the validation rows if there are any."""
        torch, gpytorch = _gpytorch()
        clock = _Clock()
        torch.manual_seed(self.random_state)
        self.classes_, codes = np.unique(y, return_inverse=True)
        inputs, labels = _tensor(X, self.dtype), _tensor(codes, self.dtype)
        self.model_ = _svgp(_start(inputs, self.n_inducing), _kernel(inputs, self.ard), self.natural).to(inputs.dtype)
        objective = gpytorch.mlls.VariationalELBO(gpytorch.likelihoods.BernoulliLikelihood(), self.model_, len(labels))
        optimizers = self._optimizers(len(labels))
        self.history_, self.steps_, self._seen = [], 0, 0
        self.model_.train()
        for rows in self._batches(len(labels)):
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss = -objective(self.model_(inputs[rows]), labels[rows])
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()
            self.steps_ += 1
            due = self.every + (self.history_[-1][0] if self.history_ else 0.0)
            if X_val is not None and clock.seconds >= due and self._good_enough(clock, X_val, y_val):
                break
            if self.seconds is not None and clock.seconds >= self.seconds:
                break
        self.seconds_ = clock.seconds
        if X_val is not None and self._seen < self.steps_:
            self._good_enough(clock, X_val, y_val)
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of both classes."""
        from scipy.special import ndtr

        mean, var = _predict(self.model_, X, self.dtype, PREDICT_ROWS)
        z = mean / np.sqrt(1.0 + var)
        return np.column_stack([ndtr(-z), ndtr(z)])

    def predict(self, X: Any) -> Any:
        """Return the more probable class of each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def _optimizers(self, n: int) -> list[Any]:
        torch, gpytorch = _gpytorch()
        if not self.natural:
            return [torch.optim.Adam(self.model_.parameters(), lr=self.lr)]
        return [
            gpytorch.optim.NGD(self.model_.variational_parameters(), num_data=n, lr=self.natural_lr),
            torch.optim.Adam(self.model_.hyperparameters(), lr=self.lr),
        ]

    def _batches(self, n: int) -> Iterator[Any]:
        torch, _ = _gpytorch()
        epochs = 100 if self.epochs is None and self.seconds is None else self.epochs
        for _ in itertools.count() if epochs is None else range(epochs):
            yield from torch.randperm(n).split(self.batch)

    def _good_enough(self, clock: "_Clock", X_val: Any, y_val: Any) -> bool:
        """Record the log loss on the validation rows, the clock standing still, and say whether it is good enough."""
        from sklearn.metrics import log_loss

        with clock.stopped():
            loss = float(log_loss(y_val, self.predict_proba(X_val), labels=self.classes_))
            self._seen = self.steps_
        self.history_.append((clock.seconds, loss))
        return self.target is not None and loss <= self.target


@dataclass
class SGPRRegressor:
    """Numbers by the variational sparse GP of Titsias (2009), with a learned kernel, noise and inducing inputs.

    The bound on the marginal likelihood is followed by ``optimizer``, "adam" or "lbfgs", for some ``iterations`` or
    ``seconds``, whichever end first. Inputs are taken as they are, the target is standardised inside. The inducing
    inputs start at random rows, the length scales at the median distance between rows, the noise at a tenth.
    In float32 training is faster, but predictions suffer: on kin40k with 200 inducing inputs they leave 9.8% of the
    target's variance instead of 8.1%.

    Attributes
    ----------
    history_ : list of (seconds, negative bound for each row)
        After every iteration; the bound is the one before it, of the standardised target.
    seconds_ : float
        Seconds of training.
    """

    n_inducing: int = 1000
    ard: bool = True
    iterations: int = 100
    seconds: float | None = None
    optimizer: str = "adam"
    lr: float | None = None
    dtype: str = "float64"
    random_state: int = 0
    history_: History = field(default_factory=list, init=False, repr=False)

    def fit(self, X: Any, y: Any) -> "SGPRRegressor":
        """Train on the rows."""
        torch, gpytorch = _gpytorch()
        clock = _Clock()
        torch.manual_seed(self.random_state)
        self.shift_, self.scale_ = float(np.mean(y)), float(np.std(y))
        inputs, targets = _tensor(X, self.dtype), _tensor((y - self.shift_) / self.scale_, self.dtype)
        self.model_ = _sgpr(inputs, targets, self.n_inducing, self.ard).to(inputs.dtype)
        objective = gpytorch.mlls.ExactMarginalLogLikelihood(self.model_.likelihood, self.model_)
        optimizer = self._optimizer()

        def closure() -> Any:
            optimizer.zero_grad()
            loss = -objective(self.model_(inputs), targets)
            loss.backward()
            return loss

        self.history_ = []
        self.model_.train()
        for _ in range(self.iterations):
            loss = optimizer.step(closure).item()
            self.history_.append((clock.seconds, loss))
            if self.seconds is not None and clock.seconds >= self.seconds:
                break
        self.seconds_ = clock.seconds
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the means and, if asked for, the standard deviations with the noise of the target."""
        module = self.model_.covar_module

        def lacking(part: Any) -> Any:
            return module.base_kernel(part, diag=True) - module(part, diag=True)

        # a batch equal to the training inputs is a case of its own in GPyTorch, and only works with its correction
        rows = min(PREDICT_ROWS, len(self.model_.train_targets) - 1)
        mean, var = _predict(self.model_, X, self.dtype, rows, lacking)
        mean = self.shift_ + self.scale_ * mean
        return (mean, self.scale_ * np.sqrt(var + self.model_.likelihood.noise.item())) if return_std else mean

    def _optimizer(self) -> Any:
        torch, _ = _gpytorch()
        if self.optimizer == "adam":
            return torch.optim.Adam(self.model_.parameters(), lr=self.lr or 0.05)
        return torch.optim.LBFGS(
            self.model_.parameters(), lr=self.lr or 1.0, max_iter=1, max_eval=10, line_search_fn="strong_wolfe"
        )


def nystroem_logistic(d: int, gamma: float, C: float, random_state: int = 0) -> Any:
    """Return a logistic regression on d Nyström features of the kernel exp(-gamma |x - z|^2)."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    features = Nystroem(kernel="rbf", gamma=gamma, n_components=d, random_state=random_state)
    return make_pipeline(features, LogisticRegression(C=C, max_iter=10000))


def nystroem_ridge(d: int, gamma: float, alpha: float, random_state: int = 0) -> Any:
    """Return a ridge regression on d Nyström features of the kernel exp(-gamma |x - z|^2)."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem(kernel="rbf", gamma=gamma, n_components=d, random_state=random_state)
    return make_pipeline(features, Ridge(alpha=alpha))


class _Clock:
    """Seconds since it was made, less those in which it was stopped."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._start

    @contextmanager
    def stopped(self) -> Iterator[None]:
        since = time.perf_counter()
        yield
        self._start += time.perf_counter() - since


def _gpytorch() -> tuple[Any, Any]:
    reason = missing()
    if reason:
        raise ImportError(reason)
    import gpytorch
    import torch

    return torch, gpytorch


def _tensor(values: Any, dtype: str) -> Any:
    torch, _ = _gpytorch()
    return torch.as_tensor(np.ascontiguousarray(values, dtype=dtype))


def _start(inputs: Any, count: int) -> Any:
    """Return some random rows."""
    torch, _ = _gpytorch()
    return inputs[torch.randperm(len(inputs))[:count]].clone()


def _kernel(inputs: Any, ard: bool) -> Any:
    """Return an RBF kernel of variance 1, its length scale the median distance between random rows."""
    torch, gpytorch = _gpytorch()
    some = _start(inputs, 1000)
    distance = float(torch.pdist(some).median())
    kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel(ard_num_dims=inputs.shape[1] if ard else None))
    kernel.base_kernel.lengthscale = max(distance, 1e-3)
    kernel.outputscale = 1.0
    return kernel


def _svgp(Z: Any, kernel: Any, natural: bool) -> Any:
    _, gpytorch = _gpytorch()
    variational = gpytorch.variational

    class SVGP(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            q = variational.NaturalVariationalDistribution if natural else variational.CholeskyVariationalDistribution
            super().__init__(variational.VariationalStrategy(self, Z, q(len(Z)), learn_inducing_locations=True))
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = kernel

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    return SVGP()


def _sgpr(inputs: Any, targets: Any, n_inducing: int, ard: bool) -> Any:
    _, gpytorch = _gpytorch()
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    likelihood.noise = 0.1

    class SGPR(gpytorch.models.ExactGP):
        def __init__(self) -> None:
            super().__init__(inputs, targets, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.InducingPointKernel(
                _kernel(inputs, ard), _start(inputs, n_inducing), likelihood
            )

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    return SGPR()


def _predict(model: Any, X: Any, dtype: str, rows: int, lacking: Callable[[Any], Any] | None = None) -> tuple[Any, Any]:
    """Return means and variances of the latent function in float64, and leave the model as it was.

    With its correction of the diagonal GPyTorch predicts as FITC does, without it the variances of SGPR lack
    k(x, x) - q(x, x), which ``lacking`` returns. So they agree with GPflow.
    """
    torch, gpytorch = _gpytorch()
    was_training = model.training
    model.eval()
    found = []
    with torch.no_grad(), gpytorch.settings.sgpr_diagonal_correction(False):
        for part in _tensor(X, dtype).split(rows):
            at = model(part)
            var = at.variance if lacking is None else at.variance + lacking(part)
            found.append((at.mean.double().numpy(), var.double().numpy()))
    model.train(was_training)
    means, variances = zip(*found, strict=True)
    return np.concatenate(means), np.concatenate(variances)
