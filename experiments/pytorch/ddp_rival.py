#!/usr/bin/env python3
"""The rival: trains the same models with Python's torch, DistributedDataParallel over Gloo, and prints its step times.

  ddp_rival.py --model=mlp --workers=2 --batch_size=64 --steps=60

One process a rank, one thread each; with one worker the plain model without DistributedDataParallel. Prints one JSON object:
step_s of each step (the slowest rank's; a step runs from making the batch to the optimizer's end, as in docs/metrics.md),
median_step_s and samples_per_s without the warm-up, and what ran. Exit status 2: torch is missing; 1: a rank failed.

The setting --malloc=tuned is that of docs/benchmarks.md; glibc reads it when a process starts, so ranks get it by environment.
"""

import argparse
import gzip
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TUNED_MALLOC = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
    "MALLOC_TOP_PAD_": "67108864",
    "MALLOC_ARENA_MAX": "1",
}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["mlp", "resnet18"], default="mlp")
    parser.add_argument("--hidden", default="2560,2560,512", help="widths of the mlp's hidden layers")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--batch_size", type=int, default=64, help="samples per rank and step")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup_steps", type=int, default=10)
    parser.add_argument("--learning_rate", type=float, default=0.01)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data_dir", default="data/mnist10k", help="MNIST in IDX format, for the mlp")
    parser.add_argument("--malloc", choices=["tuned", "stock"], default="tuned")
    parser.add_argument("--bucket_cap_mb", type=float, default=25, help="of DistributedDataParallel; 25 is its default")
    parser.add_argument("--timeout_s", type=float, default=600)
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)  # of a child of this script
    parser.add_argument("--folder", help=argparse.SUPPRESS)  # where ranks meet and leave their times
    arguments = parser.parse_args()
    if arguments.steps <= arguments.warmup_steps:
        parser.error(f"--steps={arguments.steps}: must be more than --warmup_steps={arguments.warmup_steps}")
    return arguments


def make_mlp(torch, hidden, classes):
    layers, inputs = [], 28 * 28
    for width in hidden:
        layers += [torch.nn.Linear(inputs, width), torch.nn.ReLU()]
        inputs = width
    return torch.nn.Sequential(*layers, torch.nn.Linear(inputs, classes))


def make_resnet18(torch, classes):
    """As torchvision's (He et al. 2015), which need not be installed."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, width, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(width)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or inputs != width:
                self.downsample = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

        def forward(self, images):
            values = self.relu(self.bn1(self.conv1(images)))
            values = self.bn2(self.conv2(values))
            values += images if self.downsample is None else self.downsample(images)
            return self.relu(values)

    stages, inputs = [], 64
    for stage, width in enumerate([64, 128, 256, 512]):
        stages.append(nn.Sequential(Block(inputs, width, 1 if stage == 0 else 2), Block(width, width, 1)))
        inputs = width
    return nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True),
                         nn.MaxPool2d(3, 2, 1), *stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


def read_idx(path, header):
    if not os.path.exists(path):
        path += ".gz"
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return bytearray(file.read()[header:])


def make_data(torch, arguments):
    """All samples as normalised floats, made before the first step, and their labels."""
    if arguments.model == "mlp":
        pixels = read_idx(os.path.join(arguments.data_dir, "train-images-idx3-ubyte"), 16)
        labels = read_idx(os.path.join(arguments.data_dir, "train-labels-idx1-ubyte"), 8)
        images = torch.frombuffer(pixels, dtype=torch.uint8).reshape(-1, 28 * 28).float()
        return (images / 255 - 0.1307) / 0.3081, torch.frombuffer(labels, dtype=torch.uint8).long()
    generator = torch.Generator().manual_seed(arguments.seed)
    samples = 2048
    images = torch.randn(samples, 3, 32, 32, generator=generator)
    return images, torch.randint(arguments.classes, (samples,), generator=generator)


def make_model(torch, arguments):
    torch.manual_seed(arguments.seed)
    if arguments.model == "mlp":
        return make_mlp(torch, [int(width) for width in arguments.hidden.split(",") if width], arguments.classes)
    return make_resnet18(torch, arguments.classes)


def batches(torch, samples, arguments):
    """The indices of this rank's share of each global batch: one permutation an epoch, nothing repeated in it."""
    generator = torch.Generator().manual_seed(arguments.seed)
    size = arguments.batch_size * arguments.workers
    while True:
        order = torch.randperm(samples, generator=generator)
        for begin in range(0, samples - size + 1, size):
            first = begin + arguments.rank * arguments.batch_size
            yield order[first:first + arguments.batch_size]


def run_rank(arguments):
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    model = make_model(torch, arguments)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    if arguments.workers > 1:
        dist.init_process_group("gloo", init_method="file://" + os.path.join(arguments.folder, "meeting"),
                                rank=arguments.rank, world_size=arguments.workers)
        # Gradients are views of the buckets: the fastest that it offers.
        model = torch.nn.parallel.DistributedDataParallel(model, gradient_as_bucket_view=True,
                                                          bucket_cap_mb=arguments.bucket_cap_mb)
    images, labels = make_data(torch, arguments)
    if len(labels) < arguments.batch_size * arguments.workers:
        raise ValueError(f"{len(labels)} samples are fewer than one global batch")
    optimizer = torch.optim.SGD(model.parameters(), lr=arguments.learning_rate, momentum=arguments.momentum)
    loss_of = torch.nn.CrossEntropyLoss()
    source = batches(torch, len(labels), arguments)
    times, loss = [], None
    if arguments.workers > 1:
        dist.barrier()
    for _ in range(arguments.steps):
        begin = time.perf_counter()
        indices = next(source)
        batch, wanted = images[indices], labels[indices]
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(batch), wanted)
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - begin)
    result = {"step_s": times, "parameters": parameters, "last_loss": loss.item(), "torch": torch.__version__}
    with open(os.path.join(arguments.folder, f"rank-{arguments.rank}.json"), "w") as file:
        json.dump(result, file)
    if arguments.workers > 1:
        dist.barrier()
        dist.destroy_process_group()


def child_environment(arguments):
    environment = dict(os.environ)
    for name in TUNED_MALLOC:
        environment.pop(name, None)
    if arguments.malloc == "tuned":
        environment.update(TUNED_MALLOC)
    environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    environment.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return environment


def run_all(arguments):
    """Starts the ranks, waits for them, ends all of them where one fails; returns their results by rank."""
    with tempfile.TemporaryDirectory(prefix="ddp_rival_") as folder:
        command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--folder", folder, "--rank"]
        environment = child_environment(arguments)
        ranks = [subprocess.Popen(command + [str(rank)], env=environment) for rank in range(arguments.workers)]
        deadline = time.monotonic() + arguments.timeout_s
        try:
            waiting = dict(enumerate(ranks))
            while waiting:
                for rank, process in list(waiting.items()):
                    status = process.poll()
                    if status is None:
                        continue
                    if status != 0:
                        raise RuntimeError(f"rank {rank} ended with status {status}")
                    del waiting[rank]
                if waiting and time.monotonic() > deadline:
                    raise RuntimeError(f"ranks {sorted(waiting)} still run after --timeout_s={arguments.timeout_s:g}")
                time.sleep(0.05)
        finally:
            for process in ranks:
                if process.poll() is None:
                    process.kill()
                process.wait()
        results = []
        for rank in range(arguments.workers):
            with open(os.path.join(folder, f"rank-{rank}.json")) as file:
                results.append(json.load(file))
        return results


def main():
    arguments = parse_arguments()
    if arguments.rank is not None:
        return run_rank(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the ranks end, too
    if subprocess.run([sys.executable, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print(f"ddp_rival: {sys.executable} cannot import torch; Debian's is python3-torch for /usr/bin/python3",
              file=sys.stderr)
        return 2
    try:
        results = run_all(arguments)
    except RuntimeError as error:
        print(f"ddp_rival: {error}", file=sys.stderr)
        return 1
    step_s = [max(times) for times in zip(*(result["step_s"] for result in results))]
    median = statistics.median(step_s[arguments.warmup_steps:])
    print(json.dumps({
        "model": arguments.model, "parameters": results[0]["parameters"], "workers": arguments.workers,
        "batch_size": arguments.batch_size, "threads": 1, "malloc": arguments.malloc, "torch": results[0]["torch"],
        "steps": arguments.steps, "warmup_steps": arguments.warmup_steps, "median_step_s": median,
        "samples_per_s": arguments.batch_size * arguments.workers / median,
        "last_loss": statistics.mean(result["last_loss"] for result in results), "step_s": step_s}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
