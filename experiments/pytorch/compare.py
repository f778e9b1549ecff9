#!/usr/bin/env python3
"""Ringside against Python's torch: step time of one worker, and samples/s against DistributedDataParallel.

  compare.py                         everything, some tens of minutes on two quiet cores
  compare.py --smoke                 seconds; says nothing about speed
  compare.py --models=mlp --only=single

Prints the table of targets with measured ratios and what was met, and writes every sample to --out. A missed target is a result,
not an error. Exit status 1: something could not be measured; 2: bad input, no torch, or no build. docs/training_benchmark.md tells
how it measures.
"""

import argparse
import json
import os
import statistics
import sys
import time

from contenders import Alone, Failed, Length, PyTorch, Ringside, Workload, find_python
from intervals import paired_ratio

SINGLE_TARGET = 1.05  # of the 95 % upper bound of our step time over theirs


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", help="where Ringside was built")
    parser.add_argument("--models", default="mlp,resnet18")
    parser.add_argument("--only", choices=["single", "group"], help="one worker, or 2 and 4; default: both")
    parser.add_argument("--workers", default="2,4", help="numbers of workers of the comparison with DistributedDataParallel")
    parser.add_argument("--pairs", type=int, default=20, help="interleaved pairs of one worker")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds of several workers")
    parser.add_argument("--steps", type=int, default=0, help="of a run; 0: 60 of the mlp, 20 of resnet18, whose steps are ten times as long")
    parser.add_argument("--warmup_steps", type=int, default=5, help="first steps of each run, not counted")
    parser.add_argument("--batch_size", type=int, default=64, help="per rank")
    parser.add_argument("--ps_shards", type=int, default=1)
    parser.add_argument("--data_dir", default="data/mnist10k")
    parser.add_argument("--resnet18_flags", default="--dataset_args=samples=2048,rows=32,columns=32,classes=10",
                        help="what tells our side its images of 3x32x32 and 10 classes")
    parser.add_argument("--stock", action="store_true", help="DistributedDataParallel also with malloc as installed")
    parser.add_argument("--timeout_s", type=float, default=900, help="of one run")
    parser.add_argument("--out", default="", help="file for the samples, as JSON")
    parser.add_argument("--smoke", action="store_true", help="two pairs, one round, few steps, small layers")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.pairs, arguments.rounds, arguments.steps, arguments.warmup_steps = 2, 1, 6, 2
        arguments.batch_size = 8
    if arguments.steps != 0 and arguments.steps <= arguments.warmup_steps:
        parser.error(f"--steps={arguments.steps}: must be more than --warmup_steps={arguments.warmup_steps}")
    if arguments.pairs < 1 or arguments.rounds < 1:
        parser.error("--pairs and --rounds must be at least 1")
    return arguments


def make_workloads(arguments):
    hidden = "64,32" if arguments.smoke else "2560,2560,512"
    length = lambda steps: Length(arguments.steps or steps, arguments.warmup_steps)
    known = {
        "mlp": Workload("mlp", arguments.batch_size, length(60),
                        ["--model=mlp", f"--hidden={hidden}", f"--data_dir={arguments.data_dir}"],
                        ["--model=mlp", f"--hidden={hidden}", f"--data_dir={arguments.data_dir}"]),
        "resnet18": Workload("resnet18", arguments.batch_size, length(20),
                             ["--model=resnet18", *arguments.resnet18_flags.split()],
                             ["--model=resnet18"]),
    }
    names = arguments.models.split(",")
    for name in names:
        if name not in known:
            raise ValueError(f"--models={arguments.models}: {name} must be one of {', '.join(known)}")
    return [known[name] for name in names]


class Row:
    """One line of the table."""

    def __init__(self, what, text, target, met):
        self.what, self.text, self.target, self.met = what, text, target, met

    def verdict(self):
        return "not measured" if self.met is None else "met" if self.met else "MISSED"


def interval_text(interval):
    low, mean, high = interval
    return f"{mean:.3f}" if low is None else f"{mean:.3f} [{low:.3f}, {high:.3f}]"


def interleave(contenders, rounds, measure):
    """Everybody once a round, in the opposite order every second round. Returns samples by name, in rounds that all finished,
    and the first failure."""
    samples = {contender.name: [] for contender in contenders}
    for number in range(rounds):
        turn = {}
        for contender in contenders if number % 2 == 0 else reversed(contenders):
            try:
                turn[contender.name] = measure(contender)
            except Failed as error:
                return samples, f"{contender.name}: {error}"
        for name, value in turn.items():
            samples[name].append(value)
    return samples, None


def single_row(workload, arguments, python, record):
    """Our step time of one worker over theirs."""
    samples, failure = interleave(
        [Ringside(arguments.build, "ring"), PyTorch(python)], arguments.pairs,
        lambda contender: statistics.median(contender.step_times(workload, 1, arguments.timeout_s)))
    what = f"{workload.name}, 1 worker: step time, ours / PyTorch"
    target = f"95 % upper bound <= {SINGLE_TARGET}"
    record({"what": what, "unit": "s", "samples": samples, "failure": failure})
    if failure is not None:
        return [Row(what, failure, target, None)]
    ratio = paired_ratio(samples["ring"], samples["pytorch"])
    medians = [1e3 * statistics.median(samples[name]) for name in ("ring", "pytorch")]
    text = f"{medians[0]:.1f} / {medians[1]:.1f} ms, ratio {interval_text(ratio)}, {arguments.pairs} pairs"
    return [Row(what, text, target, ratio[2] is not None and ratio[2] <= SINGLE_TARGET)]


def group_rows(workload, workers, arguments, python, record):
    """Samples/s of the ring and of a parameter server over those of DistributedDataParallel."""
    contenders = [Ringside(arguments.build, "ring"), PyTorch(python)]
    if workload.name == "resnet18":
        contenders += [Ringside(arguments.build, "ps", [f"--ps_shards={arguments.ps_shards}"]), Alone(arguments.build)]
    if arguments.stock:
        contenders.append(PyTorch(python, "stock"))
    samples, failure = interleave(
        contenders, arguments.rounds,
        lambda contender: contender.samples_per_s(workload, workers, arguments.timeout_s))
    what = f"{workload.name}, {workers} workers: samples/s"
    record({"what": what, "unit": "samples/s", "samples": samples, "failure": failure})
    return rate_rows(workload.name, what, samples, failure)


def rate_rows(model, what, samples, failure):
    if failure is not None:
        return [Row(what, failure, "", None)]
    against = {name: paired_ratio(samples["ring" if name != "ps" else "ps"],
                                  samples["pytorch" if name in ("ring", "ps") else name])
               for name in ("ring", "ps", "alone", "pytorch_stock") if name in samples}
    rates = {name: statistics.median(values) for name, values in samples.items()}
    rate = lambda a, b: f"{rates[a]:.0f} / {rates[b]:.0f}, ratio "
    ring = rate("ring", "pytorch") + interval_text(against["ring"])
    if model == "mlp":
        rows = [Row(f"{what}, ring / DDP", ring, ">= 1.5", against["ring"][1] >= 1.5)]
    else:
        own = against["alone"]
        rows = [
            Row(f"{what}, ring / DDP, or ring / itself without communication",
                f"{ring}; {rate('ring', 'alone')}{interval_text(own)}", ">= 1.1 or >= 0.95",
                against["ring"][1] >= 1.1 or own[1] >= 0.95),
            Row(f"{what}, ps / DDP", rate("ps", "pytorch") + interval_text(against["ps"]), ">= 1.0", against["ps"][1] >= 1.0),
        ]
    if "pytorch_stock" in against:
        rows.append(Row(f"{what}, ring / DDP with malloc as installed",
                        rate("ring", "pytorch_stock") + interval_text(against["pytorch_stock"]), "", None))
    return rows


def print_table(rows, smoke):
    print("| what | measured | target | verdict |")
    print("|---|---|---|---|")
    for row in rows:
        verdict = "for information" if row.met is None and not row.target and "ratio" in row.text else row.verdict()
        if smoke and row.met is not None:
            verdict = "smoke"
        print(f"| {row.what} | {row.text} | {row.target} | {verdict} |")


def main():
    arguments = parse_arguments()
    try:
        workloads = make_workloads(arguments)
        counts = [int(count) for count in arguments.workers.split(",")]
    except ValueError as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2
    python = find_python()
    if python is None:
        print("compare: no Python imports torch; Debian's is the package python3-torch", file=sys.stderr)
        return 2
    if not os.access(os.path.join(arguments.build, "bin", "ringside"), os.X_OK):
        print(f"compare: --build={arguments.build}: has no bin/ringside; `make build` makes it", file=sys.stderr)
        return 2
    records, rows = [], []

    def record(entry):
        records.append(entry)
        if arguments.out:  # each time: a run that is interrupted leaves what it has
            with open(arguments.out, "w", encoding="utf-8") as file:
                json.dump({"arguments": vars(arguments), "python": python, "cores": len(os.sched_getaffinity(0)),
                           "measured": records}, file, indent=1)

    started = time.monotonic()
    for workload in workloads:
        if arguments.only != "group":
            rows += single_row(workload, arguments, python, record)
        if arguments.only != "single":
            for workers in counts:
                rows += group_rows(workload, workers, arguments, python, record)
        print(f"compare: {workload.name} done after {time.monotonic() - started:.0f} s", file=sys.stderr)
    print_table(rows, arguments.smoke)
    return 1 if any(entry["failure"] for entry in records) else 0


if __name__ == "__main__":
    sys.exit(main())
