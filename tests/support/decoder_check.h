// Compares a fast decoder with its naive counterpart on input of any kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/etl/codec/lznt1.h"
#include "formats/etl/codec/xpress_huffman.h"
#include "formats/etl/codec/xpress_plain.h"
#include "support/naive_decoders.h"

namespace stackpack::fuzz {

/// The first two bytes of `data` are the wanted size (up to 64 KiB), the rest is the stream.
/// Aborts when the decoders do not agree on the content and on how it ends.
inline void check_decoder(std::span<const std::byte> data,
                          etl::DecodeOutcome (*fast)(std::span<const std::byte>,
                                                     std::span<std::byte>, std::size_t),
                          test::NaiveOutcome (*naive)(std::span<const std::byte>, std::size_t)) {
  if (data.size() < 2) {
    return;
  }
  const std::size_t wanted =
      static_cast<std::size_t>(data[0]) | (static_cast<std::size_t>(data[1]) << 8);
  const std::vector<std::byte> stream(data.begin() + 2, data.end());
  std::vector<std::byte> out(wanted + etl::kDecodeSlack);
  const etl::DecodeOutcome outcome = fast(stream, out, wanted);
  const test::NaiveOutcome expected = naive(stream, wanted);
  out.resize(outcome.produced);
  if (outcome.end != expected.end || out != expected.content) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
