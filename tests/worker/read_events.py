"""Prints every scalar of a folder of event files, as TensorBoard's own reader sees it: tag, step, value."""

import sys

from tensorboard.backend.event_processing import event_accumulator

# 0: keep all of them rather than a sample.
accumulator = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={event_accumulator.SCALARS: 0})
accumulator.Reload()
for tag in accumulator.Tags()["scalars"]:
    for event in accumulator.Scalars(tag):
        print(f"{tag} {event.step} {event.value:g}")
