#include "common/config/job_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/job_flags.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

JobConfig Valid() {
  JobConfig config;
  config.steps = 10;
  return config;
}

template <typename Change>
std::string ErrorAfter(Change change) {
  JobConfig config = Valid();
  change(config);
  const absl::Status status = config.Validate();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(JobConfigTest, AnEmulatedNetworkHasHostsForTheProcessesThatMeet) {
  JobConfig config = Valid();
  config.workers = 4;
  config.ps_shards = 3;
  EXPECT_EQ(config.network_hosts(), 0);
  config.network = "1000mbit,0.1ms";
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_EQ(config.network_hosts(), 4);
  EXPECT_EQ(config.network_spec().bandwidth_mbit, 1000);
  EXPECT_EQ(config.SharedSettings()["network"], "1gbit,100us");
  EXPECT_EQ(config.SharedSettings()["placement"], "dedicated");
  EXPECT_EQ(config.ResumeSettings().count("network"), 0u);
  config.strategy = "ps";
  EXPECT_EQ(config.network_hosts(), 7);
  config.placement = "colocated";
  EXPECT_EQ(config.network_hosts(), 4);
  config.strategy = "local";
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_EQ(config.network_hosts(), 0);
}

TEST(JobConfigTest, EmulatedHostsShareNoMemory) {
  const auto with_network = [](JobConfig& c) {
    c.network = "1gbit";
    c.workers = 2;
  };
  EXPECT_EQ(ErrorAfter([&](JobConfig& c) {
              with_network(c);
              c.ring_link = "shm";
            }),
            "--ring_link=shm: must be auto, tcp or grpc with --network=1gbit, whose hosts share no "
            "memory");
  EXPECT_THAT(ErrorAfter([&](JobConfig& c) {
                with_network(c);
                c.schedule = "direct";
              }),
              HasSubstr("--schedule=direct: must be ring or auto with --network=1gbit"));
  EXPECT_THAT(ErrorAfter([&](JobConfig& c) {
                with_network(c);
                c.strategy = "ps";
                c.ps_link = "grpc_uds";
              }),
              HasSubstr("--ps_link=grpc_uds: must be auto or grpc_tcp with --network=1gbit"));
  EXPECT_THAT(ErrorAfter([&](JobConfig& c) {
                with_network(c);
                c.strategy = "nccl";
                c.device = "cuda:0";
              }),
              HasSubstr("--network=1gbit: must be empty with --strategy=nccl"));
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.placement = "near"; }),
            "--placement=near: must be one of dedicated, colocated");
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.network = "fast"; }), HasSubstr("--network=fast"));
  // One host alone.
  JobConfig config = Valid();
  config.network = "1gbit";
  config.ring_link = "shm";
  EXPECT_TRUE(config.Validate().ok());
}

TEST(JobConfigTest, DefaultsWithALengthAreValid) { EXPECT_TRUE(Valid().Validate().ok()); }

TEST(JobConfigTest, EveryErrorNamesFlagValueAndWhatIsAllowed) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.strategy = "tree"; }),
            "--strategy=tree: must be one of ps, ring, local, data_parallel, nccl");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.model = "vgg"; }),
            "--model=vgg: must be one of mlp, lenet, resnet18, resnet50, resnet101, vgg16, "
            "deeplabv3_resnet101, transformer, gpt, shapes");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.dataset = "x"; }),
            "--dataset=x: must be one of mnist, cifar10, image_folder, voc, imdb, text, synthetic");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.data_threads = -1; }),
            "--data_threads=-1: must be at least 0 and at most 256");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.workers = 0; }),
            "--workers=0: must be at least 1 and at most 1024");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.ps_shards = -1; }),
            "--ps_shards=-1: must be at least 1 and at most 1024");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.ps_shards = 900'000; }),
            "--ps_shards=900000: must be at least 1 and at most 1024");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.batch_size = 0; }),
            "--batch_size=0: must be at least 1");
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.steps = 0; }), HasSubstr("exactly one of them"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.epochs = 2; }), HasSubstr("exactly one of them"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.frame_bytes = 2 << 20; }),
              HasSubstr("from 4 to 1048576"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.frame_bytes = 6; }), HasSubstr("multiple of 4"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.lease = absl::ZeroDuration(); }),
              HasSubstr("--lease=0"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.restart_shards = -1; }),
              HasSubstr("--restart_shards=-1"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.hidden = {16, 0}; }), HasSubstr("--hidden=0"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.optimizer.name = "lion"; }), HasSubstr("lion"));
}

TEST(JobConfigTest, StepsAreTracedAndRanksMadeSlow) {
  JobConfig config = Valid();
  EXPECT_TRUE(config.trace_window().empty());
  config.trace_steps = "3:5";
  config.workers = 2;
  config.stragglers = "1:50ms,0:1s@2:3";
  ASSERT_TRUE(config.Validate().ok()) << config.Validate();
  EXPECT_EQ(config.trace_window().from, 3);
  EXPECT_EQ(config.trace_window().to, 5);
  EXPECT_EQ(config.SharedSettings()["trace_steps"], "3:5");
  EXPECT_EQ(config.SharedSettings()["stragglers"], "1:50ms,0:1s@2:3");
  EXPECT_EQ(config.ResumeSettings().count("stragglers"), 0u);  // no bit depends on them
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.trace_steps = "5:3"; }),
              HasSubstr("--trace_steps=5:3: steps 5 to 3"));
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.trace_steps = "1:1001"; }),
            "--trace_steps=1:1001: 1001 steps; must be at most 1000");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.workers = 2, c.stragglers = "2:1ms"; }),
            "--stragglers=2:1ms: there is no rank 2; must be from 0 to 1");
}

TEST(JobConfigTest, EveryModelHasDataWhenNoneIsTold) {
  JobConfig config = Valid();
  config.model = "lenet";
  EXPECT_EQ(config.dataset_name(), "mnist");
  config.model = "gpt";
  EXPECT_EQ(config.dataset_name(), "synthetic");
  EXPECT_EQ(config.SharedSettings()["dataset"], "synthetic");
  config.dataset = "text";
  EXPECT_EQ(config.dataset_name(), "text");
}

TEST(JobConfigTest, ACosineKnowsItsTotal) {
  JobConfig config = Valid();
  config.lr.schedule = "cosine";
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_EQ(config.lr_schedule().total_steps, 10);  // of --steps
  config.lr.total_steps = 7;
  EXPECT_EQ(config.lr_schedule().total_steps, 7);
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_THAT(ErrorAfter([](JobConfig& c) {
                c.steps = 0;
                c.epochs = 3;
                c.lr.schedule = "cosine";
              }),
              HasSubstr("--lr_total_steps=0: must be at least 1"));
  EXPECT_EQ(Valid().lr_schedule().total_steps, 0);  // of no other schedule
}

TEST(JobConfigTest, TheRateIsScaledByTheWorkers) {
  JobConfig config = Valid();
  config.workers = 4;
  config.optimizer.learning_rate = 0.5;
  EXPECT_EQ(config.scaled_optimizer().learning_rate, 0.5);
  config.lr_scaling = "linear";
  EXPECT_EQ(config.scaled_optimizer().learning_rate, 2);
  config.lr_scaling = "sqrt";
  EXPECT_EQ(config.scaled_optimizer().learning_rate, 1);
  // The schedule goes from the scaled rate down.
  config.lr.schedule = "cosine";
  config.lr.final_rate = 0.75;
  EXPECT_TRUE(config.Validate().ok()) << config.Validate();
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.lr_scaling = "cubic"; }),
            "--lr_scaling=cubic: must be one of none, linear, sqrt");
}

TEST(JobConfigTest, WhatNeedsTheWholeGradientNeedsAnUpdateOnWorkers) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.clip_norm = -1; }),
            "--clip_norm=-1: must be at least 0 and finite");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.on_nonfinite = "ignore"; }),
            "--on_nonfinite=ignore: must be one of stop, skip");
  const auto on_server = [](JobConfig& c) { c.strategy = "ps", c.update = "server"; };
  EXPECT_EQ(ErrorAfter([&](JobConfig& c) { on_server(c), c.clip_norm = 1; }),
            "--clip_norm=1: needs the whole gradient, which with --update=server no process has; "
            "use --update=worker");
  EXPECT_EQ(ErrorAfter([&](JobConfig& c) { on_server(c), c.on_nonfinite = "skip"; }),
            "--on_nonfinite=skip: needs the whole gradient, which with --update=server no process "
            "has; use --update=worker");
  for (const char* mode : {"async", "ssp", "backup"}) {
    EXPECT_EQ(ErrorAfter([&](JobConfig& c) {
                c.strategy = "ps", c.workers = 2, c.ps_mode = mode;
                c.optimizer.name = "lars";
              }),
              std::string("--optimizer=lars: needs the whole gradient, which with --ps_mode=") +
                  mode + " no process has; use --ps_mode=sync and --update=worker");
  }
  // What is said of servers means nothing to a ring.
  JobConfig config = Valid();
  config.update = "server";
  config.clip_norm = 1;
  config.on_nonfinite = "skip";
  config.optimizer.name = "lars";
  for (const char* strategy : {"ring", "local", "ps"}) {
    config.strategy = strategy;
    EXPECT_EQ(config.Validate().ok(), config.strategy != "ps");
  }
  config.update = "worker";
  EXPECT_TRUE(config.Validate().ok());
}

TEST(JobConfigTest, SnapshotsLieInOutUnlessToldOtherwise) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.snapshot_steps = -1; }),
            "--snapshot_steps=-1: must be at least 0");
  JobConfig config = Valid();
  config.strategy = "ps";
  config.snapshot_steps = 5;
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_EQ(config.snapshot_folder(), "");
  config.out = "results/a";
  EXPECT_EQ(config.snapshot_folder(), "results/a/snapshots");
  config.snapshot_dir = "elsewhere";
  EXPECT_EQ(config.snapshot_folder(), "elsewhere");
  EXPECT_EQ(config.SharedSettings().count("snapshot_steps"), 1u);
  EXPECT_EQ(config.SharedSettings().count("snapshot_dir"), 0u);
}

TEST(JobConfigTest, CheckpointsLieInOutUnlessToldOtherwise) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.checkpoint_steps = -1; }),
            "--checkpoint_steps=-1: must be at least 0");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.keep_checkpoints = 0; }),
            "--keep_checkpoints=0: must be at least 1");
  JobConfig config = Valid();
  EXPECT_FALSE(config.checkpoints());
  config.checkpoint_steps = 5;
  EXPECT_TRUE(config.Validate().ok());
  EXPECT_TRUE(config.checkpoints());
  EXPECT_EQ(config.checkpoint_folder(), "");
  config.out = "results/a";
  EXPECT_EQ(config.checkpoint_folder(), "results/a/checkpoints");
  config.checkpoint_dir = "elsewhere";
  EXPECT_EQ(config.checkpoint_folder(), "elsewhere");
  for (const char* name : {"checkpoint_dir", "resume", "keep_checkpoints"}) {
    EXPECT_EQ(config.SharedSettings().count(name), 0u);
  }
}

TEST(JobConfigTest, WhereTheServerUpdatesTheShardsSaveTheState) {
  const auto on_server = [](const std::function<void(JobConfig&)>& change) {
    return ErrorAfter([&](JobConfig& c) {
      c.strategy = "ps";
      c.update = "server";
      change(c);
    });
  };
  EXPECT_THAT(on_server([](JobConfig& c) { c.checkpoint_steps = 5; }),
              HasSubstr("--checkpoint_steps=5: must not be given with --ps_mode=sync "
                        "--update=server"));
  EXPECT_THAT(on_server([](JobConfig& c) { c.resume = "latest"; }),
              HasSubstr("--snapshot_steps saves it there"));
  EXPECT_THAT(on_server([](JobConfig& c) {
                c.update = "worker";
                c.ps_mode = "async";
                c.checkpoint_dir = "d";
              }),
              HasSubstr("--checkpoint_dir=d"));
}

TEST(JobConfigTest, LinksAndSettingsOfTheServersTransportAreChecked) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.ps_link = "tcp"; }),
            "--ps_link=tcp: must be one of auto, grpc_tcp, grpc_uds, shm");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.shard_threads = 0; }),
            "--shard_threads=0: must be at least 1 and at most 64");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.shard_threads = 65; }),
            "--shard_threads=65: must be at least 1 and at most 64");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.malloc = "je"; }),
            "--malloc=je: must be one of tuned, stock");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.grpc.max_frame_bytes = 1000; }),
            "--grpc_max_frame_bytes=1000: must be 0 (gRPC's own) or from 16384 to 16777215");
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.grpc.lookahead_bytes = -1; }),
              HasSubstr("--grpc_lookahead_bytes=-1"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.grpc.write_buffer_bytes = -1; }),
              HasSubstr("--grpc_write_buffer_bytes=-1"));
  EXPECT_THAT(ErrorAfter([](JobConfig& c) { c.grpc.read_chunk_bytes = 64 << 20; }),
              HasSubstr("--grpc_read_chunk_bytes=67108864"));
}

TEST(JobConfigTest, OnlyNcclRunsOnAGpu) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.device = "gpu"; }),
            "--device=gpu: must be cpu, cuda:N (a GPU's number) or cuda:LOCAL_RANK");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.device = "cuda:0"; }),
            "--device=cuda:0: strategy ring runs on the cpu; only nccl uses a GPU");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.strategy = "nccl"; }),
            "--device=cpu: strategy nccl needs a GPU, cuda:N or cuda:LOCAL_RANK");
  JobConfig config = Valid();
  config.strategy = "nccl";
  for (const char* device : {"cuda:1", "cuda:LOCAL_RANK"}) {
    config.device = device;
    EXPECT_TRUE(config.Validate().ok()) << device;
  }
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.strategy = "nccl";
              c.device = "cuda:0";
              c.wire_dtype = "bf16";
            }),
            "--wire_dtype=bf16: must be fp32 with --strategy=nccl");
}

TEST(JobConfigTest, SixteenBitsTravelInRingsOnly) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.strategy = "ps";
              c.wire_dtype = "bf16";
            }),
            "--wire_dtype=bf16: must be fp32 with --strategy=ps");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.schedule = "direct";
              c.wire_dtype = "fp16";
            }),
            "--wire_dtype=fp16: must be fp32 with --schedule=direct");
  JobConfig config = Valid();
  config.wire_dtype = "bf16";
  config.schedule = "auto";
  EXPECT_TRUE(config.Validate().ok());
  config.strategy = "local";
  EXPECT_TRUE(config.Validate().ok());
}

TEST(JobConfigTest, HalfPrecisionNeedsAModelThatComputesOnTheCpu) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) { c.precision = "fp16"; }),
            "--precision=fp16: must be one of fp32, bf16");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.model = "shapes";
              c.precision = "bf16";
            }),
            "--precision=bf16: must be fp32 with --model=shapes, which computes nothing that could "
            "be rounded");
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.strategy = "nccl";
              c.device = "cuda:LOCAL_RANK";
              c.precision = "bf16";
            }),
            "--precision=bf16: must be fp32 with --device=cuda:LOCAL_RANK; autocast is offered on "
            "the cpu alone");
  JobConfig config = Valid();
  EXPECT_EQ(config.SharedSettings()["precision"], "fp32");
  config.precision = "bf16";
  for (const char* strategy : {"ps", "ring", "local", "data_parallel"}) {
    config.strategy = strategy;
    EXPECT_TRUE(config.Validate().ok()) << strategy;
  }
  EXPECT_EQ(config.SharedSettings()["precision"], "bf16");
  EXPECT_EQ(config.ResumeSettings()["precision"], "bf16");
}

TEST(JobConfigTest, ADirectScheduleNeedsSharedMemory) {
  EXPECT_EQ(ErrorAfter([](JobConfig& c) {
              c.strategy = "ring";
              c.schedule = "direct";
              c.ring_link = "grpc";
            }),
            "--ring_link=grpc: must be auto or shm with --schedule=direct");
}

TEST(JobConfigTest, APsOrLocalJobIgnoresWhatIsSaidOfRings) {
  for (const char* strategy : {"ps", "local"}) {
    JobConfig config = Valid();
    config.strategy = strategy;
    config.schedule = "direct";
    config.ring_link = "shm";
    EXPECT_TRUE(config.Validate().ok()) << strategy;
  }
}

TEST(JobConfigTest, LocalIsOneProcessAndOnlyPsHasShards) {
  JobConfig config = Valid();
  config.workers = 4;
  config.ps_shards = 3;
  config.strategy = "local";
  EXPECT_EQ(config.worker_processes(), 1);
  EXPECT_EQ(config.shards(), 0);
  config.strategy = "ps";
  EXPECT_EQ(config.worker_processes(), 4);
  EXPECT_EQ(config.shards(), 3);
  EXPECT_EQ(config.global_batch_size(), 128);
}

TEST(JobConfigTest, AChildReadsBackWhatItsParentWrote) {
  JobConfig config = Valid();
  config.strategy = "ps";
  config.workers = 3;
  config.hidden = {64, 32, 16};
  config.optimizer.learning_rate = 0.1;
  config.optimizer.nesterov = true;
  config.optimizer.momentum = 1.0 / 3;
  config.lr.schedule = "step";
  config.lr.warmup_steps = 5;
  config.lr.decay_steps = 30;
  config.lr.decay_factor = 1.0 / 7;
  config.optimizer.lars_trust = 1.0 / 300;
  config.lr_scaling = "sqrt";
  config.clip_norm = 1.0 / 9;
  config.on_nonfinite = "skip";
  config.lease = absl::Milliseconds(2500);
  config.restart_shards = 3;
  config.evaluate = false;
  config.ps_link = "grpc_uds";
  config.grpc = {1 << 20, 2 << 20, 3 << 20, 4 << 20, false, true};
  config.malloc = "stock";
  config.network = "200mbit,5ms";
  config.placement = "colocated";
  config.shard_threads = 2;
  config.precision = "bf16";
  config.out = "a folder";
  config.snapshot_steps = 50;
  config.snapshot_dir = "another";
  config.tensorboard_dir = "a third";
  config.model = "shapes";
  config.model_args = "preset=gpt2,compute_ms=2.5";
  config.checkpoint_steps = 7;
  config.checkpoint_dir = "saved";
  config.keep_checkpoints = 3;
  config.resume = "latest";
  config.trial = 2;
  const std::vector<std::string> flags = config.ToFlags();
  std::vector<const char*> argv = {"worker"};
  for (const std::string& flag : flags) argv.push_back(flag.c_str());
  ASSERT_TRUE(ParseFlags(static_cast<int>(argv.size()), argv.data()).ok());
  const absl::StatusOr<JobConfig> parsed = JobConfigFromFlags();
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const JobConfig& read = *parsed;
  EXPECT_EQ(read.ToFlags(), flags);
  EXPECT_EQ(read.hidden, config.hidden);
  EXPECT_EQ(read.optimizer.momentum, 1.0 / 3);
  EXPECT_EQ(read.lr.schedule, "step");
  EXPECT_EQ(read.lr.warmup_steps, 5);
  EXPECT_EQ(read.lr.decay_steps, 30);
  EXPECT_EQ(read.lr.decay_factor, 1.0 / 7);
  EXPECT_EQ(read.optimizer.lars_trust, 1.0 / 300);
  EXPECT_EQ(read.lr_scaling, "sqrt");
  EXPECT_EQ(read.clip_norm, 1.0 / 9);
  EXPECT_EQ(read.on_nonfinite, "skip");
  EXPECT_EQ(read.lease, absl::Milliseconds(2500));
  EXPECT_EQ(read.restart_shards, 3);
  EXPECT_EQ(read.out, "a folder");
  EXPECT_EQ(read.snapshot_steps, 50);
  EXPECT_EQ(read.snapshot_dir, "another");
  EXPECT_EQ(read.checkpoint_steps, 7);
  EXPECT_EQ(read.checkpoint_dir, "saved");
  EXPECT_EQ(read.keep_checkpoints, 3);
  EXPECT_EQ(read.resume, "latest");
  EXPECT_EQ(read.ps_link, "grpc_uds");
  EXPECT_EQ(read.grpc.Settings(), config.grpc.Settings());
  EXPECT_EQ(read.malloc, "stock");
  EXPECT_EQ(read.network, "200mbit,5ms");
  EXPECT_EQ(read.placement, "colocated");
  EXPECT_EQ(read.shard_threads, 2);
  EXPECT_EQ(read.precision, "bf16");
}

}  // namespace
}  // namespace ringside
