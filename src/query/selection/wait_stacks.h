// Callstacks of waits with what else is known of them: who ended them, and where; or why they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "query/selection/capture_view.h"
#include "query/selection/waker_threads.h"
#include "stackpack/filter.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"
#include "stackpack/symbols.h"
#include "stackpack/waits.h"

namespace stackpack::query {

/// Gives callstacks numbers of their own, after those of the file, for each waker or reason. With
/// WaitDetail::kWakers such a callstack is that of the waker, a frame that names the waker, and
/// below it, as what led there, that of the wait. What the waker's frames are in its own process is
/// looked up once: they are functions without addresses, whose names end in ` (READIED_BY)`.
///
/// An interrupt has its frame and none of the thread that it came upon.
/// Memory: 80 bytes for each of these callstacks, at most kMostStacks, and their wakers' frames.
class WaitStacks {
 public:
  static constexpr std::size_t kMostStacks = std::size_t{1} << 21;

  /// The reader must outlive this; the view is read here and in finish().
  WaitStacks(const Reader& reader, WaitDetail detail, const CaptureView& view);

  /// One after the other all intervals that samples are made of. Errors: kUsage: too many.
  Status note(const WaitInterval& row);
  /// Adds the names of wakers and of their frames to the view. `reasons`: of the intervals.
  /// Errors: those of the reader; kUsage: too many frames.
  Status finish(const std::vector<std::string>& reasons, CaptureView& view);

  /// The number of the callstack of an interval that was noted.
  [[nodiscard]] StackId id_of(const WaitInterval& row) const;
  [[nodiscard]] StackId stack_count() const {
    return first_ + static_cast<StackId>(stacks_.size());
  }
  /// Waker or reason; empty for a callstack of the file.
  [[nodiscard]] std::string_view label_of(StackId stack) const;
  /// As Reader::callstacks.
  Status callstacks(std::span<const StackId> ids,
                    const std::function<bool(std::size_t, std::span<const Frame>)>& visit) const;

 private:
  struct Key {
    StackId stack = kNoStack;
    StackId waker_stack = kNoStack;
    std::uint32_t who = 0;    // row of reasons, of threads_, or a tid
    std::uint32_t waker = 0;  // WakerKind; kUnnamed where `who` is a tid
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct JointStack {
    Key key;
    std::uint64_t time_ns = 0;
    std::uint32_t label = 0;
    std::size_t first_frame = 0;
    std::size_t frames = 0;
  };
  static constexpr std::uint32_t kUnnamed = 8;
  static constexpr std::size_t kMostFrames = std::size_t{1} << 24;

  [[nodiscard]] Key key_of(const WaitInterval& row) const;
  [[nodiscard]] bool is_joint(const Key& key) const;
  [[nodiscard]] std::string title_of(const Key& key, const std::vector<std::string>& reasons) const;
  [[nodiscard]] std::uint32_t pid_of(const Key& key) const;
  std::uint64_t address_of(std::string_view text);
  Status add_wakers();
  void add_frames(const Symbols& symbols, std::span<const Frame> frames, JointStack& stack);
  void add_names(CaptureView& view) const;

  const Reader& reader_;
  WaitDetail detail_;
  StackId first_;
  WakerThreads threads_;
  std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
  std::vector<JointStack> stacks_;
  std::vector<std::string> labels_;
  std::map<std::string, std::uint32_t, std::less<>> label_numbers_;
  std::map<std::string, std::uint64_t, std::less<>> names_;  // with their addresses
  std::vector<Frame> frames_;  // of wakers, each leaf first, with the frame that names the waker
  std::vector<CodeLocation> locations_;
  std::vector<InlineFrame> inlined_;
};

}  // namespace stackpack::query
