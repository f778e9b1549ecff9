// The standard services beside the shard's own, over gRPC. Their messages are written by hand,
// because no package has their generated code.
#include "ps_server/shard_health.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "common/network/grpc_server.h"
#include "common/network/grpc_status.h"
#include "ps_server/election_service.h"
#include "ps_server/shard_service.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

std::string Text(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (!message.Valid() || !message.Dump(&slices).ok()) return "";
  std::string text;
  for (const grpc::Slice& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

grpc::ByteBuffer Message(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

// One request and one answer on a stream of messages, or one call.
class Exchange final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Exchange(const Endpoint& endpoint, const std::string& method, const std::string& request)
      : stub_(CreateGrpcChannel(endpoint)), request_(Message(request)) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    stub_.PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
    StartRead(&answer_);
    StartWriteLast(&request_, grpc::WriteOptions());
    StartCall();
  }
  void OnDone(const grpc::Status& status) override {
    MutexLock lock(&mutex_);
    status_ = FromGrpcStatus(status);
    done_ = true;
    changed_.NotifyAll();
  }
  absl::StatusOr<std::string> Await() {
    MutexLock lock(&mutex_);
    while (!done_) changed_.Wait(&mutex_);
    if (!status_.ok()) return status_;
    return Text(answer_);
  }

 private:
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer answer_;
  Mutex mutex_;
  CondVar changed_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

// A shard's server, as ShardProcess starts it.
class ShardHealthTest : public ::testing::Test {
 protected:
  ShardHealthTest() {
    EnableHealthAndReflection();
    auto started =
        StartGrpcServer({"127.0.0.1", "127.0.0.1", {}}, [this](grpc::ServerBuilder* builder) {
          builder->RegisterCallbackGenericService(&service_);
          builder->RegisterService(&elections_);
        });
    EXPECT_TRUE(started.ok()) << started.status();
    server_ = std::move(started).value();
  }
  ~ShardHealthTest() override {
    server_.server->Shutdown(std::chrono::system_clock::now());
    server_.server.reset();
  }

  // Of HealthCheckResponse, field 1: 1 is SERVING, 2 NOT_SERVING.
  std::string Health() const {
    const auto answer = Exchange(server_.endpoint, "/grpc.health.v1.Health/Check", "").Await();
    return answer.ok() ? *answer : answer.status().ToString();
  }

  ShardService service_{0, "sesame"};
  ElectionService elections_{"sesame"};
  GrpcServer server_;
};

TEST_F(ShardHealthTest, HealthFollowsTheShard) {
  SetServing(server_.server.get(), false);
  EXPECT_EQ(Health(), std::string("\x08\x02"));
  SetServing(server_.server.get(), true);
  EXPECT_EQ(Health(), std::string("\x08\x01"));
  SetServing(server_.server.get(), false);
  EXPECT_EQ(Health(), std::string("\x08\x02"));
}

TEST_F(ShardHealthTest, ReflectionListsTheServices) {
  // ServerReflectionRequest with list_services (field 7) = "".
  const auto answer =
      Exchange(server_.endpoint, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
               std::string("\x3a\x00", 2))
          .Await();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(*answer, HasSubstr("grpc.reflection.v1alpha.ServerReflection"));
  EXPECT_THAT(*answer, HasSubstr("ringside."));
}

TEST_F(ShardHealthTest, OtherMethodsAreStillTheShards) {
  const auto answer = Exchange(server_.endpoint, "/ringside.ParameterServer/Other", "").Await();
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(answer.status().message()), HasSubstr("shard 0 has no method"));
}

}  // namespace
}  // namespace ringside
