#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "capture/stack_view.h"
#include "stackpack/model.h"
#include "workload/workload.h"

namespace stackpack::bench {

/// A stream of callstacks in memory, so that a benchmark measures what it wants to and not where
/// the stream comes from. Order of arrival; addresses leaf first.
class StackStream {
 public:
  struct Entry {
    std::uint64_t first_address;
    std::uint32_t first_run;
    std::uint32_t run_count;
    std::uint32_t depth;
    std::uint32_t thread;
    std::uint32_t cpu;
  };

  /// Thread and cpu of the entry are those of the sample.
  void add(const capture::StackView& stack, const Sample& sample);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t frame_count() const { return addresses_.size(); }
  [[nodiscard]] const Entry& entry(std::size_t i) const { return entries_[i]; }
  [[nodiscard]] const Sample& sample(std::size_t i) const { return samples_[i]; }
  [[nodiscard]] capture::StackView stack(std::size_t i) const {
    const Entry& entry = entries_[i];
    return {std::span(addresses_).subspan(entry.first_address, entry.depth),
            std::span(runs_).subspan(entry.first_run, entry.run_count)};
  }

 private:
  std::vector<Entry> entries_;
  std::vector<Sample> samples_;
  std::vector<std::uint64_t> addresses_;
  std::vector<capture::ModeRun> runs_;
};

/// The reference workload as a stream: kernel frames above user frames.
StackStream workload_stream(const WorkloadOptions& options);

/// The recorded callstacks of a perf.data file. Result: false when it cannot be read.
bool perf_stream(const std::string& path, StackStream& stream);

/// The samples with recorded callstacks of a .spk file. Result: false when it cannot be read.
bool spk_stream(const std::string& path, StackStream& stream);

}  // namespace stackpack::bench
