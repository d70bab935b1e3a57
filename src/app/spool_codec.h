#pragma once

#include <cstddef>
#include <cstdint>

#include "io/byte_cursor.h"
#include "io/byte_writer.h"
#include "stackpack/model.h"

namespace stackpack::app {

/// A sample on its way into the file: its stack is a node of a builder that may still grow.
struct SpooledSample : Sample {
  static constexpr std::uint32_t kNoPromise = ~std::uint32_t{0};

  std::uint16_t segment = 0;           ///< which builder `node` belongs to
  std::uint32_t node = 0;              ///< 0 (the root): no stack; or the fallback of a promise
  std::uint32_t promise = kNoPromise;  ///< number of a pending stack, which replaces `node`

  friend bool operator==(const SpooledSample&, const SpooledSample&) = default;
};

/// Most bytes that encode_spooled() writes for a sample.
inline constexpr std::size_t kMaxSpooledBytes = 3 + 10 + 5 + 5 * 6 + 10;

/// Appends `sample` as it differs from `last`, the one before it in the same run (a fresh
/// SpooledSample for the first). Times within a run do not go back. A form for scratch files: it
/// is read by the process that wrote it and promises nothing to anyone else.
void encode_spooled(const SpooledSample& sample, const SpooledSample& last, io::ByteWriter& out);

/// The inverse. A short window leaves `in` failed.
SpooledSample decode_spooled(io::ByteCursor& in, const SpooledSample& last);

}  // namespace stackpack::app
