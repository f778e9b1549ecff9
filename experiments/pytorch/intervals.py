"""Ratios of paired measurements and how sure they are. Pure functions."""

import math
import statistics


def t_quantile(probability, degrees):
    """Of Student's t distribution, to 1e-4 from 5 degrees of freedom on (Abramowitz and Stegun, 26.7.5)."""
    z = statistics.NormalDist().inv_cdf(probability)
    return (z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2) +
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3) +
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * degrees**4))


def paired_ratio(numerators, denominators):
    """Geometric mean of the pairs' ratios and its two-sided 95 % interval by Student's t over their logarithms.

    Returns (low, mean, high); low and high are None for less than two pairs. A pair is measured back to back, so what drifts on
    the machine is in both.
    """
    logs = [math.log(a / b) for a, b in zip(numerators, denominators)]
    mean = statistics.mean(logs)
    if len(logs) < 2:
        return None, math.exp(mean), None
    half = t_quantile(0.975, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(mean - half), math.exp(mean), math.exp(mean + half)
