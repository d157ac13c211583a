"""Special functions, compared with the integrals and sums that define them."""

import math

import numpy as np

from cases import case, f, refused, v

KINDS = ["float16", "bfloat16", "float64"]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def integral(function, begin, end, panels=60):
    """The integral between two numbers, by Gauss and Legendre in each of some panels."""
    edges = np.linspace(begin, end, panels + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    return (function(middle[:, None] + half[:, None] * NODES) * WEIGHTS * half[:, None]).sum()


def each(function):
    return np.vectorize(lambda x: function(float(x)), otypes=[np.float64])


def bessel(order):
    angles = np.linspace(0, 2 * np.pi, 4096, endpoint=False)

    def one(x):
        return (np.exp(abs(x) * (np.cos(angles) - 1)) * np.cos(order * angles)).mean() * (math.copysign(1, x) if order else 1)

    return each(one)


def expint(x):
    if x < 0:
        return math.nan
    return math.log(x) + np.euler_gamma + integral(lambda t: np.expm1(t) / t, 0, x) if x else -math.inf


def ndtri(p):
    """The quantile, by bisection."""
    if not 0 <= p <= 1:
        return math.nan
    if p in (0, 1):
        return math.inf if p else -math.inf
    share, low, high = min(p, 1 - p), -40.0, 0.0
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(-middle / math.sqrt(2)) / 2 < share else (low, middle)
    return low if p < 0.5 else -low


def spence(x):
    if x <= 0:
        return math.nan if x else math.pi**2 / 6
    return -integral(lambda t: np.log1p(t) / t, 0, x - 1) if x != 1 else 0.0


def zeta(x, q):
    """The first terms, and what the integral of the others and its first corrections say."""
    if x == 1:
        return math.inf
    terms = q + np.arange(20000)
    end = q + 20000
    return (terms**-x).sum() + end ** (1 - x) / (x - 1) + end**-x / 2 + x * end ** (-x - 1) / 12


case("BesselI0e", "", {"x": f(3, 5, lo=-40, hi=40)}, bessel(0), types=KINDS)
case("BesselI1e", "", {"x": f(3, 5, lo=-40, hi=40)}, bessel(1), types=KINDS)
case("Dawsn", "", {"x": f(3, 5, lo=-3, hi=3)}, each(lambda x: integral(lambda t: np.exp(t * t - x * x), 0, x)), types=KINDS)
case("Dawsn", "far out", {"x": v([-15.0, 9.5, 10.5, 12.0, 0.0])}, each(lambda x: integral(lambda t: np.exp(t * t - x * x), 0, x, 400)))
case("Expint", "", {"x": f(3, 5, lo=0.1, hi=6)}, each(expint), types=KINDS)
case("Expint", "beyond its domain, and far out", {"x": v([-1.0, 0.0, 30.0, 45.0, 60.0])}, each(expint), dtype="float64")
for name, function in [("FresnelCos", np.cos), ("FresnelSin", np.sin)]:
    want = each(lambda x, function=function: integral(lambda t: function(np.pi * t * t / 2), 0, x))
    case(name, "", {"x": f(3, 5, lo=-4, hi=4)}, want, types=KINDS)
case("Ndtri", "", {"x": f(3, 5, lo=0.01, hi=0.99)}, each(ndtri), types=KINDS)
case("Ndtri", "its ends, and small shares", {"x": v([0.0, 1.0, -0.5, 1e-30, 1e-7])}, each(ndtri), dtype="float64")
case("Spence", "", {"x": f(3, 5, lo=0.3, hi=6)}, each(spence), types=KINDS)
case("Spence", "its ends", {"x": v([0.0, -1.0, 1.0])}, each(spence))
case("Zeta", "", {"x": f(3, 5, lo=1.1, hi=6), "q": f(5, lo=0.3, hi=8)}, np.vectorize(zeta), types=["float64"])
case("Zeta", "its pole", {"x": v([1.0, 2.0]), "q": v([3.0, 1.0])}, np.vectorize(zeta))
refused("Zeta", "shapes that do not fit", {"x": f(3), "q": f(4)}, "Zeta")


def gamma_share(below):
    """The share of the integral, by the exponential's substitution t = s**2, whose integrand is smooth at 0."""

    def one(a, x):
        inner = integral(lambda s: 2 * s ** (2 * a - 1) * np.exp(-s * s), 0, math.sqrt(x), 400) / math.gamma(a)
        return inner if below else 1 - inner

    return np.vectorize(one, otypes=[np.float64])


SHARES = {"a": v([[0.5], [1.0], [2.5], [7.25]]), "x": v([0.25, 1.0, 3.0, 8.5])}
for op, below in [("Igamma", True), ("Igammac", False)]:
    case(op, "", SHARES, gamma_share(below), types=["float64"], loose=4, why="the integral of the reference has a rounding for each panel")
    case(op, "outside", {"a": v([-1.0, 2.0, 2.0, 2.0]), "x": v([1.0, -1.0, 0.0, np.inf])}, lambda a, x, below=below: np.array([np.nan, np.nan, 1 - below, below], float))
    refused(op, "of integers", {"a": v([1], "int32"), "x": v([1], "int32")}, "int32")


def beta_share(a, b, x):
    """The integral over t = sin(s)**2, which has no pole."""
    whole = lambda end: integral(lambda s: 2 * np.sin(s) ** (2 * a - 1) * np.cos(s) ** (2 * b - 1), 0, end, 400)  # noqa: E731
    return whole(math.asin(math.sqrt(x))) / whole(math.pi / 2)


case("Betainc", "", {"a": v([0.5, 1.0, 2.5, 6.0, 3.0]), "b": v([0.5, 3.0, 1.5, 2.0, 3.0]), "x": v([0.25, 0.5, 0.75, 0.9, 0.125])}, np.vectorize(beta_share, otypes=[np.float64]),
     types=["float64"], loose=4, why="the integral of the reference has a rounding for each panel")
refused("Betainc", "shapes that differ", {"a": f(3), "b": f(3), "x": f(2)}, "must have one shape")
for dtype in ["float32", "float64"]:
    case("NextAfter", "", {"x1": v([1.0, 0.0, 1.0, 2.0, -1.0, 3e38], dtype), "x2": v([2.0, -1.0, 1.0, 0.0, np.inf, np.inf], dtype)},
         lambda a, b, dtype=dtype: np.nextafter(a.astype(dtype), b.astype(dtype)).astype(np.float64), dtype=dtype, small=True)
