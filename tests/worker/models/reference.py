"""The same modules in Python's torch, to compare with: reference.py FOLDER.

Reads FOLDER/sizes.txt ("key value" lines; "kind" says which module) and the tensors of
FOLDER/request.txt and .bin, loads the parameters "p:<name>" by name, runs "input" forward in
training mode without dropout (where "precision" is bf16, under autocast), takes the loss (against
"labels", or the sum of the output times "probe"), and runs backward. Writes FOLDER/answer.txt and
.bin: "loss", "output" where there is a probe, "g:<name>" by parameter, "b:<name>" by buffer, and
with labels "evaluated", the scores of the same input in evaluation mode.

The models follow torchvision's and GPT-2's published sources, so names and shapes are theirs.
"""

import math
import os
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, inputs, width, stride, dilation):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, dilation, dilation, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, dilation, dilation, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        if stride != 1 or inputs != width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + self.downsample(x))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, inputs, width, stride, dilation):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, dilation, dilation, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))
        else:
            self.downsample = nn.Identity()

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        return F.relu(self.bn3(self.conv3(out)) + self.downsample(x))


class Trunk(nn.Module):
    def __init__(self, block, blocks, width, channels, dilated):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        inputs, dilation = width, 1
        for stage, count in enumerate(blocks):
            stride = 1 if stage == 0 else 2
            before = dilation
            if dilated and stage >= 2:
                dilation *= stride
                stride = 1
            layers = [block(inputs, width << stage, stride, before)]
            inputs = (width << stage) * block.expansion
            layers += [block(inputs, width << stage, 1, dilation) for _ in range(count - 1)]
            self.add_module(f"layer{stage + 1}", nn.Sequential(*layers))

    def features(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        third = self.layer3(self.layer2(self.layer1(x)))
        return third, self.layer4(third)


class Resnet(Trunk):
    def __init__(self, block, blocks, width, channels, classes):
        super().__init__(block, blocks, width, channels, False)
        self.fc = nn.Linear(8 * width * block.expansion, classes)

    def forward(self, x):
        return self.fc(F.adaptive_avg_pool2d(self.features(x)[1], 1).flatten(1))


def activated(inputs, outputs, kernel, dilation=1):
    padding = dilation * (kernel // 2)
    return [nn.Conv2d(inputs, outputs, kernel, 1, padding, dilation, bias=False),
            nn.BatchNorm2d(outputs), nn.ReLU()]


class Aspp(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.convs = nn.ModuleList(
            [nn.Sequential(*activated(inputs, 256, 1))]
            + [nn.Sequential(*activated(inputs, 256, 3, d)) for d in (12, 24, 36)]
            + [nn.Sequential(nn.AdaptiveAvgPool2d(1), *activated(inputs, 256, 1))])
        self.project = nn.Sequential(*activated(5 * 256, 256, 1))

    def forward(self, x):
        parts = [branch(x) for branch in self.convs]
        parts[-1] = F.interpolate(parts[-1], size=x.shape[2:], mode="bilinear", align_corners=False)
        return self.project(torch.cat(parts, 1))


class Deeplab(nn.Module):
    def __init__(self, blocks, width, channels, classes):
        super().__init__()
        self.backbone = Trunk(Bottleneck, blocks, width, channels, True)
        self.classifier = nn.Sequential(
            Aspp(32 * width), *activated(256, 256, 3), nn.Conv2d(256, classes, 1))
        self.aux_classifier = nn.Sequential(
            *activated(16 * width, 4 * width, 3), nn.Identity(), nn.Conv2d(4 * width, classes, 1))

    def forward(self, x):
        third, last = self.backbone.features(x)
        def enlarge(y):
            return F.interpolate(y, size=x.shape[2:], mode="bilinear", align_corners=False)
        return enlarge(self.classifier(last)), enlarge(self.aux_classifier(third))


def vgg16(channels, hidden, classes):
    layers, inputs = [], channels
    for outputs in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        if outputs == 0:
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
            inputs = outputs
    model = nn.Sequential()
    model.add_module("features", nn.Sequential(*layers))
    model.add_module("pool", nn.AdaptiveAvgPool2d(7))
    model.add_module("flatten", nn.Flatten())
    model.add_module("classifier", nn.Sequential(
        nn.Linear(512 * 49, hidden), nn.ReLU(), nn.Identity(),
        nn.Linear(hidden, hidden), nn.ReLU(), nn.Identity(), nn.Linear(hidden, classes)))
    return model


def encoder_layer(width, heads, feedforward):
    return nn.TransformerEncoderLayer(width, heads, feedforward, dropout=0, batch_first=True)


class EncoderBlock(nn.Module):
    """An encoder layer that sees tokens other than the last two of each sequence."""

    def __init__(self, *sizes):
        super().__init__()
        self.layer = encoder_layer(*sizes)

    def forward(self, x):
        hidden = torch.zeros(x.shape[:2], dtype=torch.bool)
        hidden[:, -2:] = True
        return self.layer(x, src_key_padding_mask=hidden)


class Transformer(nn.Module):
    def __init__(self, layers, width, heads, feedforward, vocabulary, sequence, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(sequence, width)
        self.encoder = nn.TransformerEncoder(encoder_layer(width, heads, feedforward), layers,
                                             enable_nested_tensor=False)
        self.classifier = nn.Linear(width, classes)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions(torch.arange(tokens.shape[1]))
        padded = tokens == 0
        x = self.encoder(x, src_key_padding_mask=padded)
        counted = (~padded).unsqueeze(2)
        return self.classifier((x * counted).sum(1) / counted.sum(1))


class Conv1D(nn.Module):
    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class GptBlock(nn.Module):
    def __init__(self, width, heads, feedforward):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.attn = nn.Module()
        self.attn.c_attn = Conv1D(3 * width, width)
        self.attn.c_proj = Conv1D(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Module()
        self.mlp.c_fc = Conv1D(feedforward, width)
        self.mlp.c_proj = Conv1D(width, feedforward)

    def attend(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2)
                   for t in self.attn.c_attn(x).split(width, dim=2))
        scores = q @ k.transpose(2, 3) / math.sqrt(width / self.heads)
        later = torch.ones(length, length).triu(1).bool()
        weights = scores.masked_fill(later, float("-inf")).softmax(3)
        return self.attn.c_proj((weights @ v).transpose(1, 2).reshape(n, length, width))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        h = self.mlp.c_fc(self.ln_2(x))
        h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))
        return x + self.mlp.c_proj(h)


class Gpt(nn.Module):
    def __init__(self, layers, width, heads, feedforward, vocabulary, sequence):
        super().__init__()
        self.transformer = nn.Module()
        self.transformer.wte = nn.Embedding(vocabulary, width)
        self.transformer.wpe = nn.Embedding(sequence, width)
        self.transformer.h = nn.ModuleList(
            [GptBlock(width, heads, feedforward) for _ in range(layers)])
        self.transformer.ln_f = nn.LayerNorm(width)

    def forward(self, tokens):
        t = self.transformer
        x = t.wte(tokens) + t.wpe(torch.arange(tokens.shape[1]))
        for block in t.h:
            x = block(x)
        return (t.ln_f(x) @ t.wte.weight.T).transpose(1, 2)


def mlp(inputs, hidden, classes):
    model = nn.Sequential()
    model.add_module("flatten", nn.Flatten())
    for i, width in enumerate(hidden + [classes], 1):
        if i > 1:
            model.add_module(f"relu{i - 1}", nn.ReLU())
        model.add_module(f"fc{i}", nn.Linear(inputs, width))
        inputs = width
    return model


def lenet(channels, features, classes):
    model = nn.Sequential()
    for name, layer in [
            ("conv1", nn.Conv2d(channels, 16, 5)), ("r1", nn.ReLU()), ("p1", nn.MaxPool2d(2)),
            ("conv2", nn.Conv2d(16, 32, 5)), ("r2", nn.ReLU()), ("p2", nn.MaxPool2d(2)),
            ("flatten", nn.Flatten()), ("fc1", nn.Linear(features, 128)), ("r3", nn.ReLU()),
            ("fc2", nn.Linear(128, classes))]:
        model.add_module(name, layer)
    return model


def make(sizes):
    kind = sizes["kind"]

    def n(*keys):
        return [int(sizes[key]) for key in keys]

    def many(key):
        return [int(text) for text in sizes[key].split(",")]

    if kind in ("basic_block", "bottleneck"):
        block = BasicBlock if kind == "basic_block" else Bottleneck
        return block(*n("inputs", "width", "stride", "dilation"))
    if kind == "aspp":
        return Aspp(*n("inputs"))
    if kind == "encoder_layer":
        return EncoderBlock(*n("width", "heads", "feedforward"))
    if kind == "gpt_block":
        return GptBlock(*n("width", "heads", "feedforward"))
    if kind == "resnet":
        block = Bottleneck if sizes["bottleneck"] == "1" else BasicBlock
        return Resnet(block, many("blocks"), *n("width", "channels", "classes"))
    if kind == "deeplab":
        return Deeplab(many("blocks"), *n("width", "channels", "classes"))
    if kind == "vgg16":
        return vgg16(*n("channels", "hidden", "classes"))
    if kind == "transformer":
        return Transformer(*n("layers", "width", "heads", "feedforward", "vocabulary", "sequence",
                              "classes"))
    if kind == "gpt":
        return Gpt(*n("layers", "width", "heads", "feedforward", "vocabulary", "sequence"))
    if kind == "mlp":
        return mlp(*n("inputs"), many("hidden"), *n("classes"))
    if kind == "lenet":
        return lenet(*n("channels", "features", "classes"))
    raise ValueError(f"unknown kind {kind}")


def sample_mean_loss(scores, labels, ignored):
    """Sample by sample, as slowly and plainly as can be."""
    losses = []
    for own_scores, own_labels in zip(scores, labels):
        if own_labels.dim() > 0 and (own_labels == ignored).all():
            losses.append(own_scores.sum() * 0)
            continue
        losses.append(F.cross_entropy(own_scores.unsqueeze(0), own_labels.unsqueeze(0),
                                      ignore_index=ignored))
    return torch.stack(losses).mean()


def read(path):
    tensors = {}
    with open(path + ".txt") as lines, open(path + ".bin", "rb") as data:
        for line in lines:
            name, dtype, *shape = line.split()
            shape = [int(extent) for extent in shape]
            values = numpy.fromfile(data, dtype=dtype, count=math.prod(shape))
            tensors[name] = torch.from_numpy(values.reshape(shape))
    return tensors


def write(path, tensors):
    with open(path + ".txt", "w") as lines, open(path + ".bin", "wb") as data:
        for name, tensor in tensors.items():
            values = tensor.detach().contiguous().numpy()
            print(name, values.dtype, *values.shape, file=lines)
            values.tofile(data)


def main():
    folder = sys.argv[1]
    torch.set_num_threads(1)
    with open(os.path.join(folder, "sizes.txt")) as lines:
        sizes = dict(line.split() for line in lines)
    request = read(os.path.join(folder, "request"))
    model = make(sizes)
    # An encoder layer is wrapped here, for its mask.
    prefix = "layer." if sizes["kind"] == "encoder_layer" else ""
    own = dict(model.named_parameters())
    given = {prefix + name[2:]: value for name, value in request.items() if name.startswith("p:")}
    assert list(own) and set(own) == set(given), (sorted(own), sorted(given))
    with torch.no_grad():
        for name, value in given.items():
            assert own[name].shape == value.shape, (name, own[name].shape, value.shape)
            own[name].copy_(value)
    model.train()
    answer = {}

    def compute():
        with torch.autocast("cpu", torch.bfloat16, enabled=sizes.get("precision") == "bf16"):
            output = model(request["input"])
        heads = output if isinstance(output, tuple) else (output,)
        return [head.float() for head in heads]

    heads = compute()
    output = heads[0]
    if "probe" in request:
        answer["output"] = output
        loss = (output * request["probe"]).sum()
    else:
        labels, ignored = request["labels"], int(sizes["ignored"])
        loss = sample_mean_loss(heads[0], labels, ignored)
        if len(heads) > 1:
            loss = loss + 0.5 * sample_mean_loss(heads[1], labels, ignored)
    loss.backward()
    answer["loss"] = loss
    for name, parameter in own.items():
        answer["g:" + name[len(prefix):]] = parameter.grad
    for name, buffer in model.named_buffers():
        answer["b:" + name] = buffer.to(torch.float32)
    if "labels" in request:
        # Gradients stay on, because without them the encoder takes another path.
        model.eval()
        output = compute()[0]
        losses = F.cross_entropy(output, labels, ignore_index=ignored, reduction="none")
        predicted = output.argmax(1)
        answer["correct"] = (predicted == labels).sum().to(torch.float32)
        answer["label_loss"] = losses.sum()
        answer["sample_loss"] = sample_mean_loss(output, labels, ignored) * len(labels)
        if labels.dim() == 3:
            counted = labels != ignored
            classes = range(output.shape[1])
            answer["intersections"] = torch.tensor(
                [((predicted == c) & (labels == c)).sum().item() for c in classes]).float()
            answer["unions"] = torch.tensor(
                [(((predicted == c) | (labels == c)) & counted).sum().item() for c in classes]).float()
    write(os.path.join(folder, "answer"), answer)


if __name__ == "__main__":
    main()
