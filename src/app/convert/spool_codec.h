#pragma once

#include <cstddef>
#include <cstdint>

#include "stackpack/model.h"

namespace stackpack::app {

/// A sample on its way into the file: its stack is a node of a builder that may still grow.
struct SpooledSample : Sample {
  static constexpr std::uint32_t kNoPending = ~std::uint32_t{0};

  std::uint16_t segment = 0;  ///< which builder `node` belongs to
  std::uint32_t node = 0;     ///< 0 (the root): no stack; or the fallback of a pending one
  /// Number of a pending stack, which replaces `node`; in a merge the rank of the source.
  std::uint32_t pending = kNoPending;

  friend bool operator==(const SpooledSample&, const SpooledSample&) = default;
};

/// Most bytes that encode_spooled() writes for a sample, and that decode_spooled() looks at.
inline constexpr std::size_t kMaxSpooledBytes = 48;

/// Writes `sample` as it differs from `last`, the one before it in the same run (a fresh
/// SpooledSample for the first). Times within a run do not go back. A form for scratch files: it
/// is read by the process that wrote it and promises nothing to anyone else.
/// `out`: room for kMaxSpooledBytes, all of which may be touched. Result: how many count.
std::size_t encode_spooled(const SpooledSample& sample, const SpooledSample& last, std::byte* out);

/// The inverse. `last`: as it was written, another one than `sample`, which is replaced.
/// `in`: kMaxSpooledBytes, whatever they are. Result: how many were the sample's.
std::size_t decode_spooled(const std::byte* in, const SpooledSample& last, SpooledSample& sample);

}  // namespace stackpack::app
