"""Runs one side of a comparison once, in processes of its own, and reads its step times."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))


class Length:
    """How long one run is."""

    def __init__(self, steps, warmup_steps):
        self.steps, self.warmup_steps = steps, warmup_steps


class Workload:
    """A model as both sides are told it, and the length of a run."""

    def __init__(self, name, batch_size, length, ours, theirs):
        self.name, self.batch_size, self.length, self.ours, self.theirs = name, batch_size, length, ours, theirs


class Failed(Exception):
    """A run gave no times; the text says why."""


def last_words(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def run_command(command, timeout_s):
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout_s,
                               check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{os.path.basename(command[0])} still ran after {timeout_s:g} s") from error
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from error
    if ended.returncode != 0:
        raise Failed(last_words(ended.stderr or ended.stdout))
    return ended.stdout


def times_of_run(run):
    """Step times of a RunResult: a step takes as long as its slowest rank."""
    by_step = {}
    for worker in run["worker_results"]:
        for record in worker["steps"]:
            step = int(record["step"])
            by_step[step] = max(by_step.get(step, 0.0), float(record["step_s"]))
    return [seconds for step, seconds in sorted(by_step.items()) if step > int(run["warmup_steps"])]


class Ringside:
    """`ringside run` with a strategy."""

    def __init__(self, build, strategy, flags=()):
        self.binary, self.strategy, self.flags = os.path.join(build, "bin", "ringside"), strategy, list(flags)
        self.name = strategy

    def command(self, workload, workers, out):
        return [self.binary, "run", f"--strategy={self.strategy}", f"--workers={workers}", f"--batch_size={workload.batch_size}",
                f"--steps={workload.length.steps}", f"--warmup_steps={workload.length.warmup_steps}", "--threads=1", "--evaluate=false",
                "--optimizer=sgd", "--learning_rate=0.01", "--momentum=0.9", f"--out={out}", *workload.ours, *self.flags]

    def step_times(self, workload, workers, timeout_s):
        folder = tempfile.mkdtemp(prefix="ringside_rival_")
        try:
            out = os.path.join(folder, "out")
            run_command(self.command(workload, workers, out), timeout_s)
            with open(os.path.join(out, "results.json"), encoding="utf-8") as file:
                return times_of_run(json.load(file)["runs"][0])
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def samples_per_s(self, workload, workers, timeout_s):
        times = self.step_times(workload, workers, timeout_s)
        return workload.batch_size * workers / statistics.median(times)


class Alone:
    """As many runs of one worker at the same time: what the ranks would reach if gradients needed not meet."""

    name = "alone"

    def __init__(self, build):
        self.one = Ringside(build, "ring")

    def samples_per_s(self, workload, workers, timeout_s):
        folder = tempfile.mkdtemp(prefix="ringside_alone_")
        outs = [os.path.join(folder, f"out-{i}") for i in range(workers)]
        running = []
        try:
            for out in outs:
                running.append(subprocess.Popen(self.one.command(workload, 1, out), stdout=subprocess.DEVNULL,
                                                stderr=subprocess.PIPE, text=True))
            rate = 0.0
            for process, out in zip(running, outs):
                try:
                    _, errors = process.communicate(timeout=timeout_s)
                except subprocess.TimeoutExpired as error:
                    raise Failed(f"a single worker still ran after {timeout_s:g} s") from error
                if process.returncode != 0:
                    raise Failed(last_words(errors))
                with open(os.path.join(out, "results.json"), encoding="utf-8") as file:
                    times = times_of_run(json.load(file)["runs"][0])
                rate += workload.batch_size / statistics.median(times)
            return rate
        except OSError as error:
            raise Failed(f"{self.one.binary}: {error.strerror}") from error
        finally:
            for process in running:
                if process.poll() is None:
                    process.terminate()  # the launcher takes its children with it
                process.wait()
            shutil.rmtree(folder, ignore_errors=True)


class PyTorch:
    """ddp_rival.py; with one worker the plain model."""

    def __init__(self, python, malloc="tuned"):
        self.python, self.malloc = python, malloc
        self.name = "pytorch" if malloc == "tuned" else "pytorch_stock"

    def step_times(self, workload, workers, timeout_s):
        output = run_command([self.python, os.path.join(FOLDER, "ddp_rival.py"), f"--workers={workers}",
                              f"--batch_size={workload.batch_size}", f"--steps={workload.length.steps}",
                              f"--warmup_steps={workload.length.warmup_steps}", f"--malloc={self.malloc}",
                              f"--timeout_s={timeout_s}", *workload.theirs], timeout_s + 30)
        return json.loads(output)["step_s"][workload.length.warmup_steps:]

    def samples_per_s(self, workload, workers, timeout_s):
        times = self.step_times(workload, workers, timeout_s)
        return workload.batch_size * workers / statistics.median(times)


def find_python():
    """Debian's first: it has the LibTorch that we link. None where no interpreter imports torch."""
    for python in ("/usr/bin/python3", sys.executable):
        probe = [python, "-c", "import torch"]
        try:
            if subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                return python
        except OSError:
            pass
    return None
