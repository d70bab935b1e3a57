#!/usr/bin/env python3
"""Writes the expected values of the statistics of comparisons, by scipy: statistics_reference.py OUT.tsv

The test reads tests/diff/statistics_reference.tsv; this script made it, with scipy 1.17.1. Everything is worked
out another way than in src/diff: bounds of intervals by maximizing likelihoods under a constraint with scipy's
own optimizer, tails by its distributions.
"""
import itertools
import math
import sys

import numpy as np
from scipy import optimize, special, stats


def log_likelihood(count, size, share):
    return special.xlogy(count, share) + special.xlog1py(size - count, -share)


def deviance(count, size, share):
    return 2 * (log_likelihood(count, size, count / size) - log_likelihood(count, size, share))


def signed_root(x, n, y, m):
    share = (x + y) / (n + m)
    return math.copysign(math.sqrt(max(0, deviance(x, n, share) + deviance(y, m, share))), y / m - x / n)


def profile(x, n, y, m, other):
    """The least deviance of a share p of the first and other(p) of the second."""
    def cost(p):
        with np.errstate(all="ignore"):
            both = deviance(x, n, p) + deviance(y, m, other(p))
        return float(both) if np.isfinite(both) else 1e9
    return cost


def least(cost, low, high):
    # Convex: golden section on a grid that is fine near the ends.
    best = optimize.minimize_scalar(cost, bounds=(low, high), method="bounded", options={"xatol": 1e-15, "maxiter": 2000})
    return min(best.fun, cost(low), cost(high))


def difference_bound(x, n, y, m, critical, sign):
    seen = y / m - x / n

    def excess(delta):
        low, high = max(0.0, -delta), min(1.0, 1 - delta)
        cost = profile(x, n, y, m, lambda p: min(1.0, max(0.0, p + delta)))
        return least(cost, low, high) - critical**2
    return optimize.brentq(excess, seen, sign * (1 - 1e-12), xtol=1e-14, rtol=1e-13)


def ratio_bound(x, n, y, m, critical, sign):
    seen = (y / m) / (x / n)

    def excess(log_ratio):
        ratio = math.exp(log_ratio)
        cost = profile(x, n, y, m, lambda p: min(1.0, p * ratio))
        return least(cost, 0, min(1.0, 1 / ratio)) - critical**2
    return math.exp(optimize.brentq(excess, math.log(seen), math.log(seen) + sign * 30, xtol=1e-13))


def prior(sums, freedoms):
    """limma's fitFDist."""
    sums, freedoms = np.array(sums), np.array(freedoms)
    e = np.log(np.maximum(sums / freedoms, 0.05)) - special.digamma(freedoms / 2) + np.log(freedoms / 2)
    spread = np.var(e, ddof=1) - np.mean(special.polygamma(1, freedoms / 2))
    if spread <= 0:
        return math.exp(e.mean()), math.inf
    half = optimize.brentq(lambda v: special.polygamma(1, v) - spread, 1e-8, 1e8)
    return math.exp(e.mean() + special.digamma(half) - math.log(half)), 2 * half


def main():
    rows = []
    for x in (0.05, 0.5, 1, 2.5, 7, 30, 1e4):
        rows.append(["digamma", x, special.digamma(x)])
        rows.append(["trigamma", x, float(special.polygamma(1, x))])
    for t, freedom in itertools.product((0, 0.3, 1, 2.5, 5, 9), (0.7, 1, 3, 8.25, 40, 1e4, math.inf)):
        tail = stats.norm.sf(t) if math.isinf(freedom) else stats.t.sf(t, freedom)
        rows.append(["upper_tail", t, freedom, tail])
    for tail, freedom in itertools.product((0.4, 0.05, 1e-3, 1e-6), (1, 3, 8.25, 40, math.inf)):
        value = stats.norm.isf(tail) if math.isinf(freedom) else stats.t.isf(tail, freedom)
        rows.append(["upper_quantile", tail, freedom, value])

    portions = [(10, 1000, 25, 1200), (3, 500, 4, 5000), (200, 1000, 260, 900), (990, 1000, 900, 1000),
                (12.5, 333.3, 2.25, 410.7), (1, 100, 60, 100), (5000, 600000, 5400, 610000), (20, 10000, 10, 1000)]
    for x, n, y, m in portions + [(0, 1000, 9, 1000), (4, 800, 0, 900), (0, 10, 0, 20)]:
        rows.append(["signed_root", x, n, y, m, signed_root(x, n, y, m)])
    for (x, n, y, m), critical in itertools.product(portions, (1.0, 1.959964, 4.5)):
        rows.append(["difference", x, n, y, m, critical, difference_bound(x, n, y, m, critical, -1),
                     difference_bound(x, n, y, m, critical, 1)])
        rows.append(["ratio", x, n, y, m, critical, ratio_bound(x, n, y, m, critical, -1),
                     ratio_bound(x, n, y, m, critical, 1)])
    for x, n, m, root in ((10, 1000, 1200, 3), (0, 1000, 1000, 4.5), (5000, 600000, 610000, 5), (400, 1000, 10, 2)):
        rows.append(["least_growth", x, n, m, root,
                     optimize.brentq(lambda g: signed_root(x, n, (x / n + g) * m, m) - root, 0, 1 - x / n, xtol=1e-15)])

    random = np.random.default_rng(7)
    for number, (freedom, true) in enumerate(((8, 4.0), (30, 12.0), (8, math.inf))):
        factors = 1.3 * (np.ones(60) if math.isinf(true) else true / random.chisquare(true, 60))
        freedoms = np.full(60, float(freedom))
        freedoms[:20] /= 2
        sums = factors * random.chisquare(freedoms)
        rows.append(["prior", 60, *itertools.chain.from_iterable(zip(sums, freedoms)), *prior(sums, freedoms)])
    for number in range(3):
        p = np.concatenate([random.uniform(size=40), random.uniform(size=8) ** 8])
        found = stats.false_discovery_control(p) <= 0.05
        rows.append(["discoveries", 0.05, len(p), *p, int(found.sum())])

    with open(sys.argv[1], "w") as file:
        for name, *values in rows:
            file.write("\t".join([name, *(repr(float(value)) for value in values)]) + "\n")


if __name__ == "__main__":
    main()
