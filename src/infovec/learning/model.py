"""The numbers that are learned, as one vector of steps away from where learning begins."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats, Mask, Rows
from ..errors import ParameterError
from ..kernels import Kernel, Sum
from ..kernels.relevances import kinds_of_scales, separate_scales
from ..likelihoods import Likelihood, with_spare
from ..numerics.roles import Role
from ..numerics.transforms import Transform
from .priors import NOTHING_EXPECTED, WEAK, Gamma, Prior, WeakPriors
from .settings import Learning, matching

__all__ = ["Model"]

_FARTHEST = 12.0  # a factor of 160 000 for a parameter that is learned as a logarithm


@dataclass(frozen=True)
class Model:
    """A kernel and a likelihood, and which of their free numbers move, alone or together, with their priors.

    Parameters
    ----------
    kernel : Kernel
        Or ``ClassKernels``, for objectives of several.
    likelihood : Likelihood
        Or ``ClassLikelihood``.
    start : array of shape (q,)
        Free numbers of both where learning begins. A step has a weak normal prior around it,
    group : array of int, shape (q,)
        Numbers of one group move by the same step; -1 does not move.
    priors : tuple of (position, Prior or None)
        unless its numbers have a prior of their own, or none. Numbers that move together count once, by the average.
    limits : array of shape (q, 2), optional
        Bounds of the free numbers that were asked for; NaN where none were.
    tied : bool
        Whether length scales move together because nobody asked for others.
    weak : WeakPriors
        What is believed of all other steps, and around which of them.
    """

    kernel: Kernel
    likelihood: Likelihood
    start: Floats
    group: Rows
    priors: tuple[tuple[int, Prior | None], ...] = ()
    limits: Floats | None = None
    tied: bool = False
    weak: WeakPriors = NOTHING_EXPECTED

    @classmethod
    def begin(
        cls, kernel: Kernel, likelihood: Likelihood, tied: bool = False, learning: Learning | None = None
    ) -> Self:
        """Everything moves but what another parameter says already; ``tied`` length scales move together.

        Relevances of categories move together with others of the same part of the kernel: no unit is common to them
        and to numbers, nor to gaps.
        """
        kinds = kinds_of_scales(kernel) + kinds_of_scales(likelihood)
        keys = [
            f"scales {kind}" if tied and role is Role.SCALE else "" if role is Role.REDUNDANT else f"{i}"
            for i, (role, kind) in enumerate(zip((*kernel.free_roles, *likelihood.free_roles), kinds, strict=True))
        ]
        whole = [
            *(f"kernel.{n}" for n in kernel.parameter_names),
            *(f"likelihood.{n}" for n in likelihood.parameter_names),
        ]
        learning = learning or Learning()
        for at in matching(learning.fixed, whole, "fixed"):
            for i in at:
                keys[i] = ""
        order = {key: k for k, key in enumerate(dict.fromkeys(key for key in keys if key))}
        group = np.array([order.get(key, -1) for key in keys], dtype=np.intp)
        transforms = (*kernel.free_transforms, *likelihood.free_transforms)
        priors, limits = _priors(learning, whole, transforms), _limits(learning, whole, transforms)
        given = np.concatenate([kernel.theta, likelihood.theta])
        low, high = np.array([t.start_bounds for t in transforms]).reshape(-1, 2).T
        start = np.where(group >= 0, np.clip(given, low, high), given)  # a sigmoid is flat at its ends
        if limits is not None:
            start = np.fmin(np.fmax(start, limits[:, 0]), limits[:, 1])
        if not np.array_equal(start, given):
            q = kernel.theta.size
            kernel, likelihood = kernel.with_theta(start[:q]), likelihood.with_theta(start[q:])
        return cls(kernel, likelihood, start, group, priors, limits, tied)

    def elsewhere(self, kernel: Kernel, noise: float | None = None) -> Self:
        """Return a model that begins at the parameters of another kernel of the same form, as far as they move.

        Steps are counted from where they were; the weak priors are around the new ones. It may have another noise
        variance too.
        """
        low, high = np.array([t.start_bounds for t in kernel.free_transforms]).reshape(-1, 2).T
        own, share = self.likelihood.theta, np.array([role.noise for role in self.likelihood.free_roles])
        if noise is not None:
            own = np.where(share > 0.0, share * np.log(noise), own)
        whole = np.concatenate([np.clip(kernel.theta, low, high), own])
        if self.limits is not None:
            whole = np.fmin(np.fmax(whole, self.limits[:, 0]), self.limits[:, 1])
        centre = self.pull(whole - self.start) / self._sizes
        return replace(self, weak=self.weak._replace(begun=centre)).with_theta(centre)

    def separated(self, p: int) -> tuple[Self, Rows]:
        """Return a model at the same parameters whose p columns have length scales that move alone.

        Also return the position among the steps here from which each of its steps comes.
        """
        kernel = separate_scales(self.kernel, p)
        here, there = self._names(self.kernel), self._names(kernel)
        come = np.array([here.index(name if name in here else name.partition("[")[0]) for name in there])
        before = self.group[come]
        group = np.where(before >= 0, np.cumsum(before >= 0) - 1, -1)
        columns = before[before >= 0]
        weak = self.weak if self.weak.begun is None else self.weak._replace(begun=self.weak.begun[columns])
        return replace(self, kernel=kernel, start=self.start[come], group=group, tied=False, weak=weak), columns

    def with_term(self, term: Kernel, together: bool) -> tuple[Self, Mask]:
        """Return a model whose kernel has a further term, and which of its steps are those of the term.

        Parameters
        ----------
        term : Kernel
            With the parameters to start from.
        together : bool
            Whether its length scales move together.
        """
        q, number = self.kernel.theta.size, np.arange(term.theta.size)
        if together:
            number[[role is Role.SCALE for role in term.free_roles]] = term.theta.size
        group = np.concatenate([self.group[:q], np.where(number >= 0, self.size + number, -1), self.group[q:]])
        moves = group >= 0
        come, at, which = np.unique(group[moves], return_index=True, return_inverse=True)
        order = np.argsort(at)  # steps are counted as their numbers come
        group[moves] = np.argsort(order)[which]
        come, new = come[order], come[order] >= self.size
        begun = np.where(new, 0.0, self.begun[np.where(new, 0, come)])
        limits = None if self.limits is None else np.insert(self.limits, q, np.full((len(number), 2), np.nan), axis=0)
        priors = tuple((i if i < q else i + len(number), prior) for i, prior in self.priors)
        return replace(
            self, kernel=Sum(self.kernel, term), start=np.insert(self.start, q, term.theta), group=group, priors=priors,
            limits=limits, weak=self.weak._replace(begun=begun),
        ), new  # fmt: skip

    def with_spare(self, value: float) -> Self:
        """Return a model at the same parameters with a value of the ``spare`` one, which is its last step."""
        likelihood = with_spare(self.likelihood, value)
        added = likelihood.theta[-1:]
        limits = None if self.limits is None else np.concatenate([self.limits, np.full((1, 2), np.nan)])
        return replace(
            self, likelihood=likelihood, start=np.concatenate([self.start, added]), limits=limits,
            group=np.append(self.group, self.size), weak=self.weak._replace(begun=np.append(self.begun, 0.0)),
        )  # fmt: skip

    def without_spare(self) -> Self:
        """Return the model without what ``with_spare`` has added."""
        limits = None if self.limits is None else self.limits[:-1]
        likelihood = with_spare(self.likelihood, 0.0)
        return replace(
            self, likelihood=likelihood, start=self.start[:-1], limits=limits, group=self.group[:-1],
            weak=self.weak._replace(begun=self.begun[:-1]),
        )  # fmt: skip

    def switched_off(self, steps: Rows) -> Self:
        """Return the model with some of its length scales as long as they may be, where no prior calls them back."""
        at = np.flatnonzero(np.isin(self.group, steps))
        known = dict(self.priors)
        priors = known | dict.fromkeys(at.tolist())
        theta = self.theta.copy()
        theta[steps] = self.bounds[steps, 1]
        return replace(self.with_theta(theta), priors=tuple(sorted(priors.items(), key=lambda item: item[0])))

    def _names(self, kernel: Kernel) -> list[str]:
        return [*(f"kernel.{n}" for n in kernel.parameter_names),
                *(f"likelihood.{n}" for n in self.likelihood.parameter_names)]  # fmt: skip

    @property
    def scales(self) -> Mask:
        """Which of the steps are those of length scales."""
        return self._of_role(Role.SCALE)

    @property
    def variances(self) -> Mask:
        """Which of the steps are those of variances of the kernel, which grow with the square of the function."""
        return self._of_role(Role.VARIANCE)

    def _of_role(self, wanted: Role) -> Mask:
        moving = [g for g, role in zip(self.group, self._roles, strict=True) if role is wanted and g >= 0]
        return np.isin(np.arange(self.size), moving)

    @property
    def noise(self) -> Floats:
        """By how much each step moves for the logarithm of the noise variance to move by one."""
        return self.pull(np.array([role.noise for role in self._roles])) / self._sizes

    @property
    def of_kernel(self) -> Mask:
        """Which of the steps are those of the kernel."""
        return np.isin(np.arange(self.size), self.group[: self.kernel.theta.size])

    @property
    def size(self) -> int:
        """How many steps there are."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def _roles(self) -> tuple[Role, ...]:
        return (*self.kernel.free_roles, *self.likelihood.free_roles)

    @property
    def _whole(self) -> Floats:
        return np.concatenate([self.kernel.theta, self.likelihood.theta])

    @property
    def _sizes(self) -> Floats:
        """How many numbers each step moves."""
        return np.maximum(np.bincount(self.group[self.group >= 0], minlength=self.size), 1)

    @property
    def theta(self) -> Floats:
        """Steps taken so far, in which the criterion is optimised."""
        return self.pull(self._whole - self.start) / self._sizes

    @property
    def begun(self) -> Floats:
        """Steps with which learning begins."""
        return np.zeros(self.size) if self.weak.begun is None else self.weak.begun

    @property
    def bounds(self) -> Floats:
        """Lower and upper bound of each step; that it begins with is always allowed, even beyond a parameter's own."""
        own = np.concatenate([self.kernel.bounds, self.likelihood.bounds]) - self.start[:, None]
        asked = np.full_like(own, np.nan) if self.limits is None else self.limits - self.start[:, None]
        begun = np.append(self.begun, 0.0)[self.group][:, None]
        near = np.where(np.isnan(asked), begun + np.array([-_FARTHEST, _FARTHEST]), asked)
        low, high = np.maximum(own[:, 0], near[:, 0]), np.minimum(own[:, 1], near[:, 1])
        ends = np.array([(low[self.group == g].max(), high[self.group == g].min()) for g in range(self.size)])
        begun = self.begun[:, None]
        return np.stack([np.minimum(ends[:, :1], begun), np.maximum(ends[:, 1:], begun)], axis=-1).reshape(-1, 2)

    def pull(self, gradient: Floats) -> Floats:
        """Gradient in the steps from the gradient in all free numbers."""
        moves = self.group >= 0
        return np.bincount(self.group[moves], weights=gradient[moves], minlength=self.size)

    def with_theta(self, theta: Floats) -> Self:
        """Return a copy after other steps."""
        whole = self.start + np.append(theta, 0.0)[self.group]
        q = self.kernel.theta.size
        return replace(self, kernel=self.kernel.with_theta(whole[:q]), likelihood=self.likelihood.with_theta(whole[q:]))

    def log_prior(self) -> tuple[float, Floats]:
        """Log density of the prior, up to a constant, and its gradient in the steps."""
        centre, width = self._believed
        z = (self.theta - centre) / width
        if not self.priors:
            return -0.5 * float(z @ z), -z / width
        value, gradient = np.zeros(self.group.size), np.zeros(self.group.size)
        whole, transforms = self._whole, (*self.kernel.free_transforms, *self.likelihood.free_transforms)
        for i, prior in self.priors:
            if prior is not None and self.group[i] >= 0:
                x = float(transforms[i].value(whole[i : i + 1])[0]) if transforms[i].elementwise else np.nan
                by_free = float(transforms[i].pullback(np.array([x]), np.ones(1))[0]) if x == x else np.nan
                value[i], gradient[i] = prior.slope(float(whole[i]), x, by_free)
        weak = ~np.isin(np.arange(self.size), self.group[[i for i, _ in self.priors]])
        z, share = z * weak, 1.0 / self._sizes
        return (
            -0.5 * float(z @ z) + float(share @ self.pull(value)),
            -z / width + share * self.pull(gradient),
        )

    @property
    def _believed(self) -> tuple[Floats, Floats]:
        """Centres and widths of the weak priors."""
        centre, width, expected = self.begun.copy(), np.full(self.size, WEAK.std), self.weak.expected
        if expected is None:
            return centre, width
        kinds = kinds_of_scales(self.kernel) + kinds_of_scales(self.likelihood)
        for g, role, kind in zip(self.group, self._roles, kinds, strict=True):
            if g >= 0:
                prior = expected.of(role, self.tied and not kind)
                centre[g], width[g] = self.begun[g] + prior.mean, prior.std
        return centre, width


def _priors(
    learning: Learning, names: list[str], transforms: tuple[Transform, ...]
) -> tuple[tuple[int, Prior | None], ...]:
    found: dict[int, Prior | None] = {}
    for at, prior in zip(matching(list(learning.priors), names, "priors"), learning.priors.values(), strict=True):
        for i in at:
            if isinstance(prior, Gamma) and (not transforms[i].elementwise or transforms[i].low < 0.0):
                raise ParameterError(
                    f"Learning: {names[i]} is not a positive number; give it a Normal prior instead of {prior!r}"
                )
            found[i] = prior
    return tuple(sorted(found.items(), key=lambda item: item[0]))


def _limits(learning: Learning, names: list[str], transforms: tuple[Transform, ...]) -> Floats | None:
    if not learning.bounds:
        return None
    limits = np.full((len(names), 2), np.nan)
    for at, ends in zip(matching(list(learning.bounds), names, "bounds"), learning.bounds.values(), strict=True):
        for i in at:
            if not transforms[i].elementwise:
                raise ParameterError(
                    f"Learning: {names[i]} is one of an increasing sequence and cannot be bounded; give it a prior"
                )
            if ends[0] >= transforms[i].high or ends[1] <= transforms[i].low:
                raise ParameterError(
                    f"Learning: bounds of {names[i]} leave nothing: it is {transforms[i].requirement}; got {ends!r}"
                )
            limits[i] = [_free(transforms[i], end, side) for end, side in zip(ends, (-np.inf, np.inf), strict=True)]
    return limits


def _free(transform: Transform, value: float, beyond: float) -> float:
    """Free number of a bound; infinite where it is at the end of what the parameter can be."""
    inside = transform.low < value < transform.high
    return float(transform.free(np.array([value]))[0]) if inside else beyond
