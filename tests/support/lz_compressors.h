// Compressors for the three formats of .etl buffers: small and plain, made for tests.
//
// They find real matches (a hash of three bytes, the latest position), use every form a length can
// take, and know nothing of the decoders they are meant to exercise.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stackpack::test {

std::vector<std::byte> compress_xpress_plain(std::span<const std::byte> content);
std::vector<std::byte> compress_xpress_huffman(std::span<const std::byte> content);
std::vector<std::byte> compress_lznt1(std::span<const std::byte> content);

}  // namespace stackpack::test
