// Callstacks of names, given to a sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/callstack_sink.h"
#include "capture/synthetic_frames.h"
#include "capture/weighted_events.h"
#include "core/weight_scale.h"
#include "formats/stacks/stack_line.h"
#include "stackpack/result.h"

namespace stackpack::stacks {

inline constexpr std::size_t kMostFrames = 65'535;  // of a callstack that can be stored

/// Whose a callstack is, and what it counts for.
struct StackOwner {
  std::string event = std::string(kSamples);
  std::uint32_t pid = kUnknownId;
  std::uint32_t tid = kUnknownId;
  std::string comm;
};

class StackWriter {
 public:
  explicit StackWriter(capture::CallstackSink& sink)
      : sink_(sink), names_(sink.system()), events_(sink) {}

  /// The address that stands for a frame; nothing when there are too many names.
  std::optional<std::uint64_t> address_of(const TextFrame& frame);

  /// A sample of a callstack, leaf first. One without frames is left out.
  Status add(const std::vector<std::uint64_t>& stack, const StackOwner& owner,
             const core::DecimalWeight& weight, std::uint64_t offset);

  /// There was no sample.
  [[nodiscard]] bool is_empty() const { return described_.empty(); }

  /// A callstack without a count, or with too many frames.
  void lose(std::string_view name, std::uint64_t offset) {
    sink_.losses().add(name, LossKind::kDamage, 1, offset);
  }

 private:
  void describe_event(const std::string& event);
  void name_owner(const StackOwner& owner);

  capture::CallstackSink& sink_;
  capture::SyntheticFrames names_;
  capture::WeightedEvents events_;
  std::set<std::pair<std::uint32_t, std::string>> named_;  // processes
  std::string joined_;
  std::string described_;  // the event described last
};

}  // namespace stackpack::stacks
