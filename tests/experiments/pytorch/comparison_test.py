"""Of experiments/pytorch: statistics, the table, and the order of runs. Needs no torch."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../experiments/pytorch"))

import compare
import contenders
import intervals


class Scripted:
    """A contender that gives what it was told, and notes when."""

    def __init__(self, name, values, log):
        self.name, self.values, self.log = name, list(values), log

    def measure(self):
        self.log.append(self.name)
        value = self.values.pop(0)
        if isinstance(value, Exception):
            raise value
        return value


class IntervalsTest(unittest.TestCase):
    def test_quantiles_are_those_of_tables(self):
        for degrees, quantile in ((5, 2.5706), (9, 2.2622), (19, 2.0930), (99, 1.9842)):
            self.assertAlmostEqual(intervals.t_quantile(0.975, degrees), quantile, places=3)

    def test_what_drifts_in_both_is_not_in_the_ratio(self):
        low, mean, high = intervals.paired_ratio([2, 4, 8, 16], [1, 2, 4, 8])
        for value in (low, mean, high):
            self.assertAlmostEqual(value, 2)

    def test_the_interval_holds_the_mean_and_shrinks_with_pairs(self):
        few = intervals.paired_ratio([1.0, 1.2], [1, 1])
        many = intervals.paired_ratio([1.0, 1.2] * 10, [1] * 20)
        for low, mean, high in (few, many):
            self.assertTrue(low < mean < high)
            self.assertAlmostEqual(mean, 1.2 ** 0.5)
        self.assertLess(many[2], few[2])

    def test_one_pair_has_no_interval(self):
        self.assertEqual(intervals.paired_ratio([3], [2]), (None, 1.5, None))


class InterleavingTest(unittest.TestCase):
    def test_every_second_round_is_in_the_opposite_order(self):
        log = []
        a, b = Scripted("a", [1, 2, 3], log), Scripted("b", [4, 5, 6], log)
        samples, failure = compare.interleave([a, b], 3, lambda contender: contender.measure())
        self.assertIsNone(failure)
        self.assertEqual(log, ["a", "b", "b", "a", "a", "b"])
        self.assertEqual(samples, {"a": [1, 2, 3], "b": [4, 5, 6]})

    def test_a_round_that_fails_leaves_whole_pairs(self):
        log = []
        a, b = Scripted("a", [1, 2], log), Scripted("b", [4, contenders.Failed("no torch")], log)
        samples, failure = compare.interleave([a, b], 2, lambda contender: contender.measure())
        self.assertEqual(failure, "b: no torch")
        self.assertEqual(samples, {"a": [1], "b": [4]})


class TableTest(unittest.TestCase):
    def rows(self, model, samples):
        return [(row.verdict(), row.text) for row in compare.rate_rows(model, "x", samples, None)]

    def test_the_ring_must_be_half_as_fast_again_on_the_mlp(self):
        self.assertEqual(self.rows("mlp", {"ring": [300.0], "pytorch": [200.0]}), [("met", "300 / 200, ratio 1.500")])
        self.assertEqual(self.rows("mlp", {"ring": [298.0], "pytorch": [200.0]})[0][0], "MISSED")

    def test_resnet18_may_meet_either_target(self):
        near_itself = {"ring": [96.0], "pytorch": [95.0], "ps": [90.0], "alone": [100.0]}
        self.assertEqual([verdict for verdict, _ in self.rows("resnet18", near_itself)], ["met", "MISSED"])
        far_from_both = {"ring": [90.0], "pytorch": [85.0], "ps": [85.0], "alone": [100.0]}
        self.assertEqual([verdict for verdict, _ in self.rows("resnet18", far_from_both)], ["MISSED", "met"])

    def test_a_failure_is_not_a_missed_target(self):
        row, = compare.rate_rows("mlp", "x", {}, "ring: no such file")
        self.assertEqual((row.verdict(), row.text), ("not measured", "ring: no such file"))


class ResultsTest(unittest.TestCase):
    def test_a_step_takes_as_long_as_its_slowest_rank(self):
        def rank(*times):
            return {"steps": [{"step": str(step + 1), "step_s": seconds} for step, seconds in enumerate(times)]}
        run = {"warmup_steps": "1", "worker_results": [rank(9, 1, 2), rank(8, 3, 1)]}
        self.assertEqual(contenders.times_of_run(run), [3, 2])


if __name__ == "__main__":
    unittest.main()
