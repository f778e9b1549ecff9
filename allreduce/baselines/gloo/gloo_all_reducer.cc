#include "allreduce/baselines/gloo/gloo_all_reducer.h"

#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_ring.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"

namespace ringside {
namespace {

constexpr int64_t kMaxElements = std::numeric_limits<int>::max() / int64_t{sizeof(float)};

// Gloo's store of addresses, made of our exchange. All ranks set the same number of keys, so every
// set is one exchange. Errors are exceptions, as Gloo wants them.
class ExchangeStore final : public gloo::rendezvous::Store {
 public:
  explicit ExchangeStore(const AddressExchange& exchange) : exchange_(exchange) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    const auto entries = exchange_(absl::StrCat(key, "=", std::string(data.begin(), data.end())));
    if (!entries.ok()) throw std::runtime_error(std::string(entries.status().message()));
    for (const std::string& entry : *entries) {
      const size_t split = entry.find('=');
      if (split == std::string::npos) throw std::runtime_error("an entry without a key");
      values_[entry.substr(0, split)].assign(entry.begin() + split + 1, entry.end());
    }
  }
  std::vector<char> get(const std::string& key) override {
    wait({key});
    return values_[key];
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) {
      if (values_.count(key) == 0) throw std::runtime_error(absl::StrCat("no key ", key));
    }
  }

 private:
  const AddressExchange& exchange_;
  std::map<std::string, std::vector<char>> values_;
};

absl::Status GlooError(const std::exception& exception) {
  return absl::UnavailableError(absl::StrCat("Gloo: ", exception.what()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GlooAllReducer>> GlooAllReducer::Create(const Config& config) {
  if (config.kind == Kind::kBcube && config.size > 1 && config.size % 2 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Gloo's bcube needs an even number of ranks, not ", config.size));
  }
  try {
    std::shared_ptr<gloo::transport::Device> device =
        gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr("127.0.0.1"));
    auto context = std::make_shared<gloo::rendezvous::Context>(config.rank, config.size);
    context->setTimeout(std::chrono::milliseconds(absl::ToInt64Milliseconds(config.timeout)));
    ExchangeStore store(config.exchange);
    context->connectFullMesh(store, device);
    return absl::WrapUnique(new GlooAllReducer(config, std::move(context)));
  } catch (const std::exception& exception) {
    return GlooError(exception);
  }
}

GlooAllReducer::GlooAllReducer(const Config& config, std::shared_ptr<gloo::Context> context)
    : kind_(config.kind),
      size_(config.size),
      registered_(config.registered),
      context_(std::move(context)) {}

GlooAllReducer::~GlooAllReducer() = default;

absl::Status GlooAllReducer::error() const {
  MutexLock lock(&mutex_);
  return error_;
}

absl::Status GlooAllReducer::Sum(CollectiveId, absl::Span<const float> in, absl::Span<float> out) {
  if (in.size() != out.size() || static_cast<int64_t>(in.size()) > kMaxElements) {
    return absl::InvalidArgumentError(absl::StrCat("Gloo cannot sum ", in.size(), " elements into ",
                                                   out.size(), "; equal lengths up to ",
                                                   kMaxElements, " are needed"));
  }
  if (absl::Status earlier = error(); !earlier.ok()) return earlier;
  try {
    // bcube exchanges at least one element with every rank, even where there are fewer.
    const bool too_short =
        kind_ == Kind::kBcube && in.size() < static_cast<size_t>(size_) && !in.empty();
    if (IsRegistered(out) && !too_short) {
      if (in.data() != out.data()) std::copy(in.begin(), in.end(), out.begin());
      SumInPlace(out);
    } else {
      SumThroughOwnBuffer(in, out);
    }
  } catch (const std::exception& exception) {
    MutexLock lock(&mutex_);
    if (error_.ok()) error_ = GlooError(exception);
    return error_;
  }
  return error();
}

bool GlooAllReducer::IsRegistered(absl::Span<const float> buffer) const {
  const std::less_equal<const float*> not_after;
  return !registered_.empty() && not_after(registered_.data(), buffer.data()) &&
         not_after(buffer.data() + buffer.size(), registered_.data() + registered_.size());
}

void GlooAllReducer::SumInPlace(absl::Span<float> buffer) {
  RunIn(buffer, &bound_[{buffer.data() - registered_.data(), buffer.size()}]);
}

void GlooAllReducer::SumThroughOwnBuffer(absl::Span<const float> in, absl::Span<float> out) {
  Bound& bound = bound_[{-1, in.size()}];
  const size_t least = kind_ == Kind::kBcube && !in.empty() ? static_cast<size_t>(size_) : 0;
  bound.own.resize(std::max(in.size(), least));
  std::copy(in.begin(), in.end(), bound.own.begin());
  RunIn(absl::MakeSpan(bound.own), &bound);
  std::copy_n(bound.own.begin(), out.size(), out.begin());
}

void GlooAllReducer::RunIn(absl::Span<float> buffer, Bound* bound) {
  const size_t turns = kind_ == Kind::kBcube && size_ > 2 ? 2 : 1;
  while (bound->algorithms.size() < turns) {
    bound->algorithms.push_back(MakeAlgorithm(buffer.data(), static_cast<int>(buffer.size())));
  }
  bound->algorithms[bound->next]->run();
  bound->next = (bound->next + 1) % turns;
}

std::unique_ptr<gloo::Algorithm> GlooAllReducer::MakeAlgorithm(float* buffer, int elements) const {
  const std::vector<float*> buffers = {buffer};
  switch (kind_) {
    case Kind::kRing:
      return std::make_unique<gloo::AllreduceRing<float>>(context_, buffers, elements);
    case Kind::kRingChunked:
      return std::make_unique<gloo::AllreduceRingChunked<float>>(context_, buffers, elements);
    case Kind::kBcube:
      return std::make_unique<gloo::AllreduceBcube<float>>(context_, buffers, elements);
  }
  return nullptr;
}

void GlooAllReducer::Abort(absl::Status cause) {
  {
    MutexLock lock(&mutex_);
    if (!error_.ok()) return;
    error_ = std::move(cause);
  }
  try {
    context_->closeConnections();
  } catch (const std::exception&) {
    // The connections are broken already, which is what was asked for.
  }
}

}  // namespace ringside
