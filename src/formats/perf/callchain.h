// A recorded call chain, and the stack it stands for.
//
// A chain is a list of u64, leaf first: the kernel part, then the user part. Values from
// 2^64 - 4095 on are no addresses but context markers, which give the mode of the entries after
// them. Addresses alone do not give the mode: a walk along frame pointers through code that has
// none reads arbitrary words, some of them with the highest bit set. Some of those words even lie
// in the range of the markers; such a word is no frame, changes no mode, and is counted.
//
// USER_DEFERRED is followed by a cookie, no address: the user part comes later, in a
// CALLCHAIN_DEFERRED record of the same thread (deferred_chains.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bytes/byte_cursor.h"
#include "capture/stack_view.h"
#include "stackpack/model.h"

namespace stackpack::perf {

/// The mode in which a sample was taken: bits 0 to 2 of `misc` in its header.
FrameMode mode_of_misc(std::uint16_t misc);

/// Whether a chain entry lies in the range of the context markers, and so is no address.
constexpr bool is_context_marker(std::uint64_t entry) {
  return entry >= ~std::uint64_t{4095} + 1;
}

/// The first address of a chain; nothing when only markers are among its first entries. Few of them
/// can precede it: more are garbage, and a search for records would read them at every byte.
std::optional<std::uint64_t> first_address(bytes::ByteCursor entries, std::uint64_t count);

/// Turns chains into stacks. Keeps its memory between chains.
class ChainDecoder {
 public:
  /// Reads `count` entries of `entries`, which must hold them; `mode` is that of entries before
  /// the first marker. Replaces the stack.
  void decode(bytes::ByteCursor entries, std::uint64_t count, FrameMode mode);

  /// Appends entries to the stack, the first of them in `mode`.
  void append(bytes::ByteCursor entries, std::uint64_t count, FrameMode mode);

  /// Appends user frames that were found otherwise, leaf first.
  void append_user(std::span<const std::uint64_t> addresses);

  /// Replaces the stack by a copy of `stack`, which may be appended to.
  void restore(const capture::StackView& stack);

  /// Replaces the user part by the call stack that the processor recorded (LBR): `user_ip`, or the
  /// place where the newest branch arrived, then where each branch came from, newest first.
  void replace_user_part(bytes::ByteCursor branches, std::uint64_t count,
                         std::optional<std::uint64_t> user_ip);

  /// Makes `leaf` the frame before all others, in place of the first `replaced`, which are of one
  /// mode.
  void put_in_front(const Frame& leaf, std::uint32_t replaced);

  /// The stack, until the next decode or append.
  [[nodiscard]] capture::StackView stack() const {
    return {std::span(addresses_).first(depth_), runs_};
  }
  [[nodiscard]] bool has_user_frames() const { return has_user_frames_; }
  /// Whether a USER marker was there, with or without entries after it.
  [[nodiscard]] bool has_user_marker() const { return has_user_marker_; }
  /// The cookie after USER_DEFERRED at the end of the chain.
  [[nodiscard]] std::optional<std::uint64_t> cookie() const { return cookie_; }
  /// Entries in the range of the markers that are none, so far, over all chains.
  [[nodiscard]] std::uint64_t unknown_contexts() const { return unknown_contexts_; }

 private:
  void close_run(FrameMode mode);
  void push(std::uint64_t address);
  void clear();

  std::vector<std::uint64_t> entries_;
  std::vector<std::uint64_t> addresses_;
  std::size_t depth_ = 0;
  std::size_t run_start_ = 0;
  std::vector<capture::ModeRun> runs_;
  std::optional<std::uint64_t> cookie_;
  bool has_user_frames_ = false;
  bool has_user_marker_ = false;
  std::uint64_t unknown_contexts_ = 0;
};

}  // namespace stackpack::perf
