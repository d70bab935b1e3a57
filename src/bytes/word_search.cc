#include "bytes/word_search.h"

namespace stackpack::bytes {

std::size_t bytes_without_word(std::span<const std::byte> bytes, std::size_t from,
                               std::uint64_t mask, std::uint64_t value) {
  std::size_t at = from;
  for (; at < bytes.size() && bytes.size() - at >= kVectorBytes; at += kVectorBytes) {
    std::uint64_t borrows = 0;  // into the highest bit, where nothing is left of a word
    for (std::size_t i = 0; i < kVectorBytes; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at + i, sizeof word);
      borrows |= ((word & mask) ^ value) - 1;
    }
    if (borrows >> 63 != 0) {
      break;
    }
  }
  return at - from;
}

}  // namespace stackpack::bytes
