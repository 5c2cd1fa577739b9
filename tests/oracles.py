"""Dense textbook formulas and brute force. Imports nothing from infovec."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_ndtr, logsumexp, ndtr, owens_t


def fd_gradient(function: Callable, theta: np.ndarray, step: float = 6e-6) -> np.ndarray:
    """Central differences with a step near eps^(1/3); parameters along axis 0."""
    theta = np.asarray(theta, dtype=float)
    rows = []
    for k in range(theta.size):
        h = np.zeros(theta.size)
        h[k] = step * max(1.0, abs(theta[k]))
        rows.append((np.asarray(function(theta + h)) - np.asarray(function(theta - h))) / (2 * h[k]))
    return np.array(rows)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(30)
_OFFSETS = np.concatenate([[0.0], np.logspace(-7, 5.5, 51)])


def tilted_by_panels(log_prob: Callable, mean: float, var: float, centres=(0.0,)) -> tuple[float, ...]:
    """log Z, g, nu of p(y|f) N(f|mean, var) by brute force: 30 Gauss-Legendre nodes on each of some
    hundred panels that crowd, on all scales from 1e-7 to 1e5, around the mean, the mode and ``centres``.
    """
    sd = np.sqrt(var)

    def psi(f):
        with np.errstate(over="ignore"):
            return log_prob(f) - 0.5 * ((f - mean) / sd) ** 2 - 0.5 * np.log(2 * np.pi * var)

    def crowd(points, scale=1.0):
        return np.concatenate([np.concatenate([p - scale * _OFFSETS, p + scale * _OFFSETS]) for p in points])

    edges = np.unique(np.concatenate([crowd([mean, *centres]), crowd([mean], sd)]))
    best = int(np.argmax(psi(edges)))
    low, high = edges[max(best - 1, 0)], edges[min(best + 1, len(edges) - 1)]
    mode = minimize_scalar(
        lambda f: -psi(np.array(f)), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    ).x
    edges = np.unique(np.concatenate([edges, crowd([mode]), crowd([mode], min(sd, 1.0))]))
    half = 0.5 * np.diff(edges)[:, None]
    f = (edges[:-1, None] + half * (_NODES + 1.0)).ravel()
    terms = psi(f) + np.log(half * _WEIGHTS).ravel()
    top = terms.max()
    weights = np.exp(terms - top)
    total = weights.sum()
    weights /= total
    x = (f - mean) / sd
    first = weights @ x
    spread = weights @ (x - first) ** 2
    return top + np.log(total), first / sd, (1.0 - spread) / var


class DenseADF:
    """The IVM on the full n x n covariance: moment matching by LSH05 eq. 15-16, nothing clever."""

    def __init__(self, K: np.ndarray) -> None:
        self.mean = np.zeros(len(K))
        self.cov = np.array(K, dtype=float)

    def include(self, i: int, g: float, nu: float) -> None:
        s = self.cov[:, i].copy()
        self.mean = self.mean + g * s
        self.cov = self.cov - nu * np.outer(s, s)


def gaussian_entropy(cov: np.ndarray) -> float:
    return 0.5 * np.linalg.slogdet(2 * np.pi * np.e * cov)[1]


def gaussian_relative_entropy(m1, S1, m0, S0) -> float:
    """D[N(m1, S1) || N(m0, S0)]."""
    solve = np.linalg.solve
    d = m1 - m0
    logdets = np.linalg.slogdet(S0)[1] - np.linalg.slogdet(S1)[1]
    return 0.5 * (logdets + np.trace(solve(S0, S1)) + d @ solve(S0, d) - len(m1))


def projected_bound(expected, mean, cov, prior) -> float:
    """Lower bound on log P(y) (Thesis 4.5.1): means of log p(y_i | u_i), less D[N(mean, cov) || N(0, prior)] of u_I."""
    return float(np.sum(expected)) - gaussian_relative_entropy(mean, cov, np.zeros_like(mean), prior)


def gaussian_from_sites(K, active, precision, site_mean) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and covariance of all rows given Gaussian sites on the active ones."""
    K_I = K[np.ix_(active, active)]
    W = np.linalg.solve(K_I + np.diag(1.0 / precision), K[active])
    return W.T @ site_mean, K - K[active].T @ W


def full_ep(K: np.ndarray, tilted: Callable, sweeps: int = 200, tolerance: float = 1e-12):
    """Expectation propagation on all rows, one site after the other (Rasmussen and Williams, algorithm 3.5).

    ``tilted(i, mean, var)`` returns log Z, g and nu. Returns precisions and shifts of the sites, mean and covariance of
    the posterior, and the approximate log marginal likelihood.
    """
    n = len(K)
    pi, b, mean, cov = np.zeros(n), np.zeros(n), np.zeros(n), K.copy()
    for _ in range(sweeps):
        before = np.concatenate([pi, b])
        for i in range(n):
            q = 1.0 / (1.0 / cov[i, i] - pi[i])
            m = q * (mean[i] / cov[i, i] - b[i])
            _, g, nu = tilted(i, m, q)
            pi[i], b[i] = nu / (1.0 - q * nu), (g + m * nu) / (1.0 - q * nu)
            cov = np.linalg.solve(np.eye(n) + K * pi, K)
            mean = cov @ b
        if np.max(np.abs(np.concatenate([pi, b]) - before)) < tolerance:
            break
    log_z = 0.0
    for i in range(n):
        q = 1.0 / (1.0 / cov[i, i] - pi[i])
        m = q * (mean[i] / cov[i, i] - b[i])
        log_z += tilted(i, m, q)[0]
        grown = 1.0 + pi[i] * q
        log_z -= 0.5 * (-np.log(grown) + (2 * b[i] * m + b[i] ** 2 * q - pi[i] * m**2) / grown)
    log_z += 0.5 * (b @ cov @ b - np.linalg.slogdet(np.eye(n) + K * pi)[1])
    return pi, b, mean, cov, log_z


def gaussian_log_density(y: np.ndarray, cov: np.ndarray) -> float:
    """log N(y | 0, cov)."""
    return -0.5 * (y @ np.linalg.solve(cov, y) + np.linalg.slogdet(2 * np.pi * cov)[1])


def race_log_z(label, mean: np.ndarray, var: np.ndarray) -> np.ndarray:
    """Log probability that f_label + e_label is the largest, f ~ N(mean, var), e ~ N(0, 1) (GR06 eq. 5.5)."""
    return logsumexp(_race_terms(label, mean, var, skip=-1), axis=-1)


def race_gradient(label, mean: np.ndarray) -> np.ndarray:
    """p of GR06 section 4.4, from eq. 4.3 and 4.4 as printed; var is zero."""
    C, no_var = mean.shape[-1], np.zeros_like(mean)
    log_z, p = race_log_z(label, mean, no_var), np.zeros_like(mean)
    own = np.take_along_axis(mean, np.asarray(label)[..., None], axis=-1)[..., 0]
    for k in range(C):
        density = -0.5 * (_U - (mean[..., k] - own)[..., None]) ** 2 - 0.5 * np.log(2 * np.pi)
        p[..., k] = -np.exp(logsumexp(_race_terms(label, mean, no_var, skip=k) + density, axis=-1) - log_z)
    np.put_along_axis(p, np.asarray(label)[..., None], 0.0, axis=-1)
    np.put_along_axis(p, np.asarray(label)[..., None], -p.sum(axis=-1, keepdims=True), axis=-1)
    return p


_U, _U_WEIGHTS = (12.0 * v for v in np.polynomial.legendre.leggauss(160))


def _race_terms(label, mean, var, skip):
    """Logs of weight, N(u) and the product over j of Phi, without the own class and ``skip``, at nodes u."""
    sd, label = np.sqrt(1.0 + var), np.asarray(label)[..., None]
    own_mean, own_sd = (np.take_along_axis(v, label, axis=-1) for v in (mean, sd))
    terms = np.log(_U_WEIGHTS) - 0.5 * _U**2 - 0.5 * np.log(2 * np.pi)
    for j in range(mean.shape[-1]):
        factor = log_ndtr((_U * own_sd + own_mean - mean[..., j, None]) / sd[..., j, None])
        terms = terms + np.where((label == j) | (skip == j), 0.0, factor)
    return terms


def variational_probit(covariances, labels, iterations: int = 2000):
    """GR06 section 4 with all rows, its own iteration: means (n, C), covariances, and the bound of erratum 5."""
    n, C = len(labels), len(covariances)
    S = [K @ np.linalg.inv(np.eye(n) + K) for K in covariances]
    mean = np.zeros((n, C))
    for _ in range(iterations):
        target = mean + race_gradient(labels, mean)
        new = np.column_stack([S[c] @ target[:, c] for c in range(C)])
        moved, mean = np.max(np.abs(new - mean)), new
        if moved < 1e-8:
            break
    return mean, S, variational_bound_of(covariances, labels, mean, S)


def variational_bound_of(covariances, labels, mean, S) -> float:
    """GR06 appendix C with the constant corrected, for any means and covariances."""
    value = float(race_log_z(labels, mean, np.zeros_like(mean)).sum())
    for c, K in enumerate(covariances):
        inverse = np.linalg.inv(K)
        log_dets = np.linalg.slogdet(K)[1] - np.linalg.slogdet(S[c])[1]
        quadratic = mean[:, c] @ inverse @ mean[:, c]
        value -= 0.5 * (np.trace(S[c]) + log_dets + np.trace(inverse @ S[c]) + quadratic - len(labels))
    return value


def variational_binary(K, sign, iterations: int = 5000):
    """GR06 4.4.1, its own iteration with one function for two classes: means, and the bound of appendix C for it."""
    n = len(sign)
    S, mean, bounds = K @ np.linalg.inv(np.eye(n) + K), np.zeros(n), []
    inverse, log_dets = np.linalg.inv(K), np.linalg.slogdet(np.eye(n) + K)[1]
    for _ in range(iterations):
        constant = np.trace(S) + log_dets + np.trace(inverse @ S) + mean @ inverse @ mean - n
        bounds.append(float(log_ndtr(sign * mean).sum() - 0.5 * constant))
        density = np.exp(-0.5 * mean**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(sign * mean))
        new = S @ (mean + sign * density)
        moved, mean = np.max(np.abs(new - mean)), new
        if moved < 1e-9:
            break
    return mean, bounds


class DenseMultinomialIVM:
    """GR06 section 5 on full covariance matrices: eq. 5.1-5.5, nothing clever."""

    def __init__(self, covariances, labels) -> None:
        self.cov, self.labels = [np.array(K, dtype=float) for K in covariances], labels
        self.mean = np.zeros((len(labels), len(covariances)))

    def log_proba(self) -> np.ndarray:
        return race_log_z(self.labels, self.mean, np.column_stack([np.diag(S) for S in self.cov]))

    def include(self, i: int) -> None:
        p = race_gradient(self.labels[i], self.mean[i])
        for c, S in enumerate(self.cov):
            s = S[:, i].copy()
            self.mean[:, c] += p[c] / (1.0 + s[i]) * s
            self.cov[c] = S - np.outer(s, s) / (1.0 + s[i])


def sparse_regression(K_I, K_IX, diag, y, noise, blur, K_IZ, diag_Z):
    """Evidence and predictions of FITC (blur) and DTC: the prior with K replaced, everything dense."""
    Q = K_IX.T @ np.linalg.solve(K_I, K_IX)
    D = np.diag(noise + (diag - np.diag(Q)) * blur)
    cross = K_IX.T @ np.linalg.solve(K_I, K_IZ)
    mean = cross.T @ np.linalg.solve(Q + D, y)
    var = diag_Z - np.einsum("ij,ij->j", cross, np.linalg.solve(Q + D, cross))
    return gaussian_log_density(y, Q + D), mean, var


def expected_by_panels(log_prob: Callable, mean: float, var: float) -> float:
    """E[log p(y | f)] for f = N(mean, var): 30 Gauss-Legendre nodes on each of 240 panels."""
    edges = np.linspace(-12.0, 12.0, 241)
    half = 0.5 * np.diff(edges)[:, None]
    z = (edges[:-1, None] + half * (_NODES + 1.0)).ravel()
    weights = (half * _WEIGHTS).ravel() * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return float(weights @ log_prob(mean + np.sqrt(var) * z))


def factorised_evidence(K, active, precision, site_mean, log_z: Callable) -> float:
    """SLH eq. 3: determinants and quadratic forms of the n-dimensional Gaussians, each cavity computed anew."""
    mean, cov = gaussian_from_sites(K, active, precision, site_mean)
    total = 0.5 * (np.linalg.slogdet(cov)[1] + mean @ np.linalg.solve(cov, mean) - np.linalg.slogdet(K)[1])
    for i in range(len(K)):
        if i not in active:
            total += log_z(i, mean[i], cov[i, i])
            continue
        k = int(np.flatnonzero(active == i)[0])
        others = np.delete(np.arange(len(active)), k)
        h, A = gaussian_from_sites(K, active[others], precision[others], site_mean[others])
        b, v = precision[k] * site_mean[k], A[i, i]
        log_site = -0.5 * np.log1p(precision[k] * v)  # log E[exp(b u - pi u^2 / 2)] under the cavity
        log_site += 0.5 * ((b + h[i] / v) ** 2 / (precision[k] + 1 / v) - h[i] ** 2 / v)
        total += log_z(i, h[i], v) - log_site
    return total


def factorised_bound(K, active, precision, site_mean, expected: Callable) -> float:
    """E_Q[log P(y | u)] - D[Q || P] with both as n-dimensional Gaussians."""
    mean, cov = gaussian_from_sites(K, active, precision, site_mean)
    likelihood = sum(expected(i, mean[i], cov[i, i]) for i in range(len(K)))
    return likelihood - gaussian_relative_entropy(mean, cov, np.zeros(len(K)), K)


def race_by_quadrature(noise: str, label: int, mean: np.ndarray, var: np.ndarray):
    """log Z, g and nu of the class whose latent value plus noise is the largest, by adaptive quadrature.

    Every class needs the distribution of N(mean, var) plus noise; for Gumbel noise it is an integral itself. Moments
    are those of each latent value under the tilted distribution, weighted node by node.
    """
    rest = [c for c in range(len(mean)) if c != label]
    if noise == "normal":
        parts = {c: (lambda t, c=c: _normal_below(t - mean[c], var[c])) for c in range(len(mean))}
    else:
        parts = {c: (lambda t, c=c: _gumbel_below(t - mean[c], var[c])) for c in range(len(mean))}
    scale = np.sqrt(var + 2.0)
    edges = np.unique(np.concatenate([
        m + s * np.array([-12, -8, -4, -2, -1, -0.3, 0, 0.3, 1, 2, 4, 8, 12]) for m, s in zip(mean, scale, strict=True)
    ] + [np.max(mean) + np.arange(-6.0, 60.0, 3.0)]))  # fmt: skip
    half = 0.5 * np.diff(edges)[:, None]
    t = (edges[:-1, None] + half * (_NODES + 1.0)).ravel()
    weight = (half * _WEIGHTS).ravel()
    found = {c: parts[c](t) for c in parts}  # log F, E[u | below], E[u^2 | below]; and the same given equality
    log_terms = np.log(weight) + found[label][3] + sum(found[c][0] for c in rest)
    top = log_terms.max()
    w = np.exp(log_terms - top)
    log_z, w = top + np.log(w.sum()), w / w.sum()
    g, nu = np.empty(len(mean)), np.empty(len(mean))
    for c in parts:
        first, second = found[c][4:6] if c == label else found[c][1:3]  # moments of (u - mean) / sd
        m = w @ first
        g[c], nu[c] = m / np.sqrt(var[c]), (1.0 - (w @ second - m * m)) / var[c]
    return log_z, g, nu


def _normal_below(t, var):
    """For v = u + N(0, 1), u = N(0, var): log P(v < t) and moments of u / sd given that; the same for v = t."""
    total = 1.0 + var
    z, r = t / np.sqrt(total), np.sqrt(var / total)
    log_phi = -0.5 * z * z - 0.5 * np.log(2 * np.pi)
    h = np.exp(log_phi - log_ndtr(z))
    return log_ndtr(z), -r * h, 1.0 - r**2 * z * h, log_phi - 0.5 * np.log(total), r * z, 1.0 - r**2 + (r * z) ** 2


def _gumbel_below(t, var):
    """The same for Gumbel noise, by panels over u that crowd where the noise has its scale."""
    sd = np.sqrt(var)
    base = np.linspace(-12, 12, 19)
    out = []
    for s in np.array_split(t, max(1, len(t) // 100)):
        near = np.clip((s[:, None] + np.linspace(-6, 6, 13)) / sd, -12, 12)
        edges = np.sort(np.hstack([np.tile(base, (len(s), 1)), near]), axis=1)
        half = 0.5 * np.diff(edges, axis=1)[:, :, None]
        x = (edges[:, :-1, None] + half * (_NODES + 1.0)).reshape(len(s), -1)
        with np.errstate(over="ignore", divide="ignore"):
            log_w = np.log(half * _WEIGHTS).reshape(len(s), -1) - 0.5 * x * x - 0.5 * np.log(2 * np.pi)
            below = log_w - np.exp(sd * x - s[:, None])
        columns = []
        for terms in (below, below + sd * x - s[:, None]):
            log_total = logsumexp(terms, axis=1)
            p = np.exp(terms - np.maximum(log_total, -1e300)[:, None])
            columns += [log_total, (p * x).sum(axis=1), (p * x**2).sum(axis=1)]
        out.append(columns)
    return np.concatenate(out, axis=1)


def class_moments_by_product(log_prob: Callable, mean: np.ndarray, var: np.ndarray, order: int = 48):
    """log Z, g and nu of P(y | f) under independent Gaussians by a product of Gauss-Hermite rules."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    grids = np.meshgrid(*([nodes] * len(mean)), indexing="ij")
    x = np.stack([grid.ravel() for grid in grids], axis=1)
    w = np.prod(np.meshgrid(*([weights / weights.sum()] * len(mean)), indexing="ij"), axis=0).ravel()
    p = w * np.exp(log_prob(mean + np.sqrt(var) * x))
    z, p = p.sum(), p / p.sum()
    first = p @ x
    return np.log(z), first / np.sqrt(var), (1.0 - (p @ x**2 - first**2)) / var


def full_coupled_ep(K: np.ndarray, C: int, tilted: Callable, sweeps: int = 200, tolerance: float = 1e-10):
    """Expectation propagation for C functions on all rows, one row after the other, with the full n C x n C covariance.

    ``tilted(i, mean, var)`` takes and returns one number for each class. Sites are diagonal in the classes.
    """
    n = len(K)
    prior = np.kron(np.eye(C), K)  # class by class
    pi, b = np.zeros((n, C)), np.zeros((n, C))

    def posterior():
        cov = np.linalg.solve(np.eye(n * C) + prior * pi.T.ravel(), prior)
        return (cov @ b.T.ravel()).reshape(C, n).T, np.diag(cov).reshape(C, n).T, cov

    def cavity(i, mean, var):
        q = 1.0 / (1.0 / var[i] - pi[i])
        return q * (mean[i] / var[i] - b[i]), q

    for _ in range(sweeps):
        before = np.concatenate([pi, b])
        for i in range(n):
            m, q = cavity(i, *posterior()[:2])
            _, g, nu = tilted(i, m, q)
            pi[i], b[i] = nu / (1.0 - q * nu), (g + m * nu) / (1.0 - q * nu)
        if np.max(np.abs(np.concatenate([pi, b]) - before)) < tolerance:
            break
    mean, var, cov = posterior()
    log_z = 0.5 * (b.T.ravel() @ cov @ b.T.ravel() - np.linalg.slogdet(np.eye(n * C) + prior * pi.T.ravel())[1])
    for i in range(n):
        m, q = cavity(i, mean, var)
        grown = 1.0 + pi[i] * q
        log_z += tilted(i, m, q)[0]
        log_z -= 0.5 * np.sum(-np.log(grown) + (2 * b[i] * m + b[i] ** 2 * q - pi[i] * m**2) / grown)
    return pi, b, mean, var, log_z


class MarkovRace:
    """Three classes by the multinomial probit, functions with k(x, z) = variance exp(-|x - z| / scale) on a line.

    Such functions are Markov chains, so that the integral over all of them is one over one row after the other. What
    all classes have in common does not count: two functions are left, whose values lie on a grid (trapezoidal rule,
    which converges exponentially). The probability of a class is that of a quadrant.
    """

    _TWO = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])

    def __init__(self, x, labels, variance: float, scale: float, points: int = 73) -> None:
        order = np.argsort(x)
        self.x, self.labels = np.asarray(x, dtype=float)[order], np.asarray(labels)[order]
        self.variance, self.scale, self.order = variance, scale, order
        self.grid, self.step = np.linspace(-8.0, 8.0, points, retstep=True)
        self.grid, self.step = self.grid * np.sqrt(variance), self.step * np.sqrt(variance)
        f = [self.grid[:, None] * a + self.grid * b for a, b in self._TWO.T]
        self.proba = [self._wins(f[c] - f[(c + 1) % 3], f[c] - f[(c + 2) % 3]) for c in range(3)]
        self.forwards = self._pass(self.x, self.labels)

    @staticmethod
    def _wins(a, b) -> np.ndarray:
        """P(e_1 < a + e_0, e_2 < b + e_0): two normal numbers of correlation 1/2 (Owen 1956)."""
        h, k = (np.where(v == 0.0, 1e-14, v) / np.sqrt(2.0) for v in (a, b))
        slopes = (k / h - 0.5) / np.sqrt(0.75), (h / k - 0.5) / np.sqrt(0.75)
        halves = 0.5 * (ndtr(h) + ndtr(k)) - np.where(h * k < 0.0, 0.5, 0.0)
        return np.maximum(halves - owens_t(h, slopes[0]) - owens_t(k, slopes[1]), 0.0)

    def _moved(self, density, distance) -> np.ndarray:
        """A density times the transition to a row at a distance, integrated."""
        rho = np.exp(-distance / self.scale)
        var = self.variance * -np.expm1(-2.0 * distance / self.scale)
        T = np.exp(-0.5 * (self.grid[:, None] - rho * self.grid) ** 2 / var) * self.step / np.sqrt(2 * np.pi * var)
        return T @ density @ T.T

    def _pass(self, x, labels) -> list[np.ndarray]:
        """Densities of the values at each row and of all labels before it."""
        line = np.exp(-0.5 * self.grid**2 / self.variance) / np.sqrt(2 * np.pi * self.variance)
        density = [np.outer(line, line)]
        for gap, label in zip(np.diff(x), labels[:-1], strict=True):
            density.append(self._moved(density[-1] * self.proba[label], gap))
        return density

    @property
    def log_evidence(self) -> float:
        return float(np.log((self.forwards[-1] * self.proba[self.labels[-1]]).sum() * self.step**2))

    def mean(self) -> np.ndarray:
        """Posterior means of the classes at the rows, in the order in which they were given."""
        line = np.exp(-0.5 * self.grid**2 / self.variance)
        prior = np.outer(line, line)
        out = np.empty((len(self.x), 3))
        backwards = self._pass(-self.x[::-1], self.labels[::-1])[::-1]
        for at, ahead, behind, label in zip(self.order, self.forwards, backwards, self.labels, strict=True):
            p = ahead * behind * self.proba[label] / np.maximum(prior, 1e-300)
            two = np.array([self.grid @ p.sum(axis=1), self.grid @ p.sum(axis=0)]) / p.sum()
            out[at] = two @ self._TWO
        return out

    def proba_at(self, x: float) -> np.ndarray:
        """Probabilities of the classes of a new row: evidences with each label more."""
        rows, labels = np.empty(len(self.x)), np.empty(len(self.x), dtype=int)
        rows[self.order], labels[self.order] = self.x, self.labels
        points = len(self.grid)
        logs = [
            MarkovRace(np.append(rows, x), np.append(labels, c), self.variance, self.scale, points).log_evidence
            for c in range(3)
        ]
        return np.exp(np.array(logs) - self.log_evidence)


def _fine_nodes(mean: float, sd: float, centres, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of N(mean, sd^2) on panels that crowd around its mean and around ``centres``."""
    offsets = np.concatenate([_OFFSETS, np.linspace(0.0, 12.0, 49)])
    edges = [mean - sd * offsets, mean + sd * offsets]
    for c in centres:
        edges += [c - unit * offsets, c + unit * offsets]
    edges = np.unique(np.concatenate(edges))
    edges = edges[np.abs(edges - mean) <= 12.0 * sd]
    half = 0.5 * np.diff(edges)[:, None]
    f = (edges[:-1, None] + half * (_NODES + 1.0)).ravel()
    return f, (half * _WEIGHTS).ravel() * np.exp(-0.5 * ((f - mean) / sd) ** 2) / np.sqrt(2 * np.pi * sd**2)


def information_of_labels(log_prob: Callable, mean: float, var: float, labels, centres=(0.0,), unit=1.0) -> float:
    """Mutual information between a label and f that is N(mean, var): the double sum of p log(p(y|f) / p(y))."""
    f, w = _fine_nodes(mean, np.sqrt(var), centres, unit)
    total = 0.0
    for label in labels:
        with np.errstate(over="ignore"):
            log_p = log_prob(label, f)
        p = w @ np.exp(log_p)
        total += w @ (np.exp(log_p) * (np.maximum(log_p, -1e300) - np.log(p))) if p > 0.0 else 0.0
    return float(total)


def information_of_additive_noise(log_density: Callable, var: float, scale: float, far: float) -> float:
    """The same for y = f + noise of a symmetric density: entropy of the sum less that of the noise."""
    sd = np.sqrt(var)
    offsets = np.concatenate([[0.0], np.logspace(-5, 14, 58), np.linspace(0.0, 12.0, 25)])
    edges = np.unique(np.concatenate([offsets * sd, offsets * scale]))
    edges = edges[edges <= far]
    half = 0.5 * np.diff(edges)[:, None]
    y, wy = (edges[:-1, None] + half * (_NODES + 1.0)).ravel(), (half * _WEIGHTS).ravel()
    log_p = np.empty(len(y))
    for i, target in enumerate(y):
        f, w = _fine_nodes(0.0, sd, [target] if target < 12.0 * sd else [], scale)
        log_p[i] = np.log(w @ np.exp(log_density(target - f)))
    noise = log_density(y)
    return float(-2.0 * wy @ (np.exp(log_p) * log_p) + 2.0 * wy @ (np.exp(noise) * noise))


def information_of_classes(log_prob: Callable, mean: np.ndarray, var: np.ndarray, order: int = 40) -> float:
    """The same for a class and independent N(mean_c, var_c), by a product of Gauss-Hermite rules."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(order)
    weights = weights / weights.sum()
    C = len(mean)
    x = np.array(np.meshgrid(*[nodes] * C)).reshape(C, -1).T
    w = np.array(np.meshgrid(*[weights] * C)).reshape(C, -1).prod(axis=0)
    log_p = log_prob(mean + np.sqrt(var) * x)
    p = w @ np.exp(log_p)
    return float(-p @ np.log(p) + w @ np.sum(np.exp(log_p) * np.maximum(log_p, -1e300), axis=1))


def greedy_batch(
    cov: np.ndarray, mean: np.ndarray, n: int, score: Callable, precision: Callable, given: dict[int, int] | None = None
) -> list[int]:
    """Rows of the best score one after the other, the whole covariance matrix updated by each expected precision.

    Some turns may be given to a row.
    """
    cov, chosen = cov.copy(), []
    for turn in range(n):
        value = np.array(score(mean, np.diagonal(cov)))
        value[chosen] = -np.inf
        best = (given or {}).get(turn, int(np.argmax(value)))
        chosen.append(best)
        cov -= precision(mean[best], cov[best, best]) * np.outer(cov[:, best], cov[best])
    return chosen


def null_category_moments(likelihood, y: float, mean: float, var: float):
    """Log Z, g and nu of Lawrence and Jordan's likelihood by the trapezoidal rule, exact for such integrands."""
    sd = np.sqrt(var)
    step = 0.1 * min(sd, 1.0 / likelihood.slope)
    f = mean + step * np.arange(-np.ceil(30.0 * sd / step), np.ceil(30.0 * sd / step) + 1.0)
    z = likelihood.slope * (f + likelihood.bias)
    below, above = log_ndtr(-z - 0.5 * likelihood.width), log_ndtr(z - 0.5 * likelihood.width)
    negative, positive = likelihood.missing_negative, likelihood.missing_positive
    if y == 0.0:
        seen = np.logaddexp(np.log(negative) + below, np.log(positive) + above)
    else:
        seen = np.log(1.0 - negative) + below if y < 0.0 else np.log(1.0 - positive) + above
    psi = seen - 0.5 * ((f - mean) / sd) ** 2 - 0.5 * np.log(2.0 * np.pi * var) + np.log(step)
    weight = np.exp(psi - psi.max())
    first = np.average(f - mean, weights=weight)
    spread = np.average((f - mean - first) ** 2, weights=weight)
    return psi.max() + np.log(weight.sum()), first / var, (1.0 - spread / var) / var


def information_between_labels(m: np.ndarray, cov: np.ndarray) -> float:
    """Mutual information between two labels of probits whose functions are N(m, cov), given one function at a time."""
    z = np.linspace(-9.0, 9.0, 2001)  # the trapezoidal rule is exact for what is so smooth
    w = np.exp(-0.5 * z * z) / np.exp(-0.5 * z * z).sum()
    f = m[0] + np.sqrt(cov[0, 0]) * z
    other = (m[1] + cov[0, 1] / cov[0, 0] * (f - m[0])) / np.sqrt(1.0 + cov[1, 1] - cov[0, 1] ** 2 / cov[0, 0])
    p = np.array([[w @ (ndtr(a * f) * ndtr(b * other)) for b in (1.0, -1.0)] for a in (1.0, -1.0)])
    return float(np.sum(p * np.log(p / (p.sum(axis=1, keepdims=True) * p.sum(axis=0)))))
