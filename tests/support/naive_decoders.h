// The three decompressions of .etl buffers, written as the description reads: byte by byte, bit by
// bit, with a check before each step. The fast decoders must agree with them on any input.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formats/etl/codec/decompress.h"

namespace stackpack::test {

struct NaiveOutcome {
  std::vector<std::byte> content;
  etl::DecodeEnd end = etl::DecodeEnd::kComplete;
};

NaiveOutcome naive_xpress_plain(std::span<const std::byte> in, std::size_t wanted);
NaiveOutcome naive_xpress_huffman(std::span<const std::byte> in, std::size_t wanted);
NaiveOutcome naive_lznt1(std::span<const std::byte> in, std::size_t wanted);

}  // namespace stackpack::test
