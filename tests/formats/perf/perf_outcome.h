// Runs perf::read_capture over bytes in memory and keeps what came out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/perf/perf_source.h"
#include "io/byte_source.h"
#include "support/collecting_sink.h"
#include "support/source_folder.h"
#include "support/test_bytes.h"

namespace stackpack::test {

/// Memory that can only be read from its start to its end, a few bytes at a time: a pipe.
class TrickleSource final : public io::ByteSource {
 public:
  TrickleSource(std::span<const std::byte> bytes, std::size_t step) : rest_(bytes), step_(step) {}

  Result<std::size_t> read(std::span<std::byte> into) override {
    const std::size_t count = std::min({into.size(), rest_.size(), step_});
    std::copy_n(rest_.begin(), count, into.begin());
    rest_ = rest_.subspan(count);
    return count;
  }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> /*into*/) override {
    return Error{ErrorCode::kUnsupported, offset, "not seekable"};
  }
  [[nodiscard]] bool seekable() const override { return false; }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return std::nullopt; }

 private:
  std::span<const std::byte> rest_;
  std::size_t step_;
};

struct PerfOutcome {
  std::unique_ptr<CollectingSink> sink = std::make_unique<CollectingSink>();
  Status status;
  capture::ByteAccount account;

  using Listing = std::map<std::string, std::uint64_t>;

  [[nodiscard]] Listing listing() const { return sink->listing(); }
  [[nodiscard]] std::uint64_t count(std::string_view counter) const {
    return sink->counters.count(counter);
  }
  [[nodiscard]] bool damaged() const {
    for (const LossCounter& counter : sink->counters.sorted()) {
      if (counter.kind == LossKind::kDamage && counter.count != 0) {
        return true;
      }
    }
    return false;
  }
  /// Every byte is accounted for.
  [[nodiscard]] bool balanced() const { return account.balanced(); }
};

inline PerfOutcome read_perf(perf::Input& input, const perf::ReadOptions& options = {}) {
  PerfOutcome outcome;
  const Result<capture::ByteAccount> read = perf::read_capture(input, *outcome.sink, options);
  if (read) {
    outcome.account = *read;
  } else {
    outcome.status = read.error();
  }
  return outcome;
}

inline PerfOutcome read_perf(std::span<const std::byte> bytes) {
  perf::Input input;
  input.main = io::source_of_memory(bytes);
  return read_perf(input);
}

inline PerfOutcome read_perf_pipe(std::span<const std::byte> bytes, std::size_t step) {
  perf::Input input;
  input.main = std::make_unique<TrickleSource>(bytes, step);
  return read_perf(input);
}

inline std::vector<std::byte> testdata(std::string_view name) {
  return read_test_file(source_folder() + "/testdata/" + std::string(name));
}

/// Whether `part` has no stack that `whole` has not, nor more of one.
inline bool is_subset(const PerfOutcome::Listing& part, const PerfOutcome::Listing& whole) {
  for (const auto& [stack, count] : part) {
    const auto found = whole.find(stack);
    if (found == whole.end() || found->second < count) {
      return false;
    }
  }
  return true;
}

inline std::map<std::string, std::string> metadata_of(const PerfOutcome& outcome) {
  std::map<std::string, std::string> facts;
  for (const MetadataEntry& entry : outcome.sink->system_facts.finish().metadata) {
    facts[entry.key] = entry.value;
  }
  return facts;
}

}  // namespace stackpack::test
