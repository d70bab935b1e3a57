#include "workload/xpress_writer.h"

#include <algorithm>
#include <array>

namespace stackpack::bench {
namespace {

constexpr std::size_t kWindow = 8192;
constexpr std::size_t kLeastMatch = 3;
constexpr std::size_t kMostMatch = 60'000;
constexpr unsigned kHashBits = 15;

class Output {
 public:
  explicit Output(std::vector<std::byte>& out) : out_(out) {}

  void literal(std::byte value) {
    flag(false);
    out_.push_back(value);
  }

  void match(std::size_t distance, std::size_t length) {
    flag(true);
    const std::size_t more = length - kLeastMatch;
    put16((distance - 1) << 3 | std::min<std::size_t>(more, 7));
    if (more >= 7) {
      long_length(more - 7);
    }
  }

  // Unused flags are ones: a reader that asks for another match finds the end of the input.
  void finish() {
    while (flags_left_ > 0) {
      flag(true);
    }
  }

 private:
  // 32 flags stand in front of what they describe, the first one in the highest bit.
  void flag(bool is_match) {
    if (flags_left_ == 0) {
      flags_at_ = out_.size();
      out_.resize(out_.size() + 4);
      flags_ = 0;
      flags_left_ = 32;
    }
    --flags_left_;
    flags_ |= (is_match ? 1U : 0U) << flags_left_;
    for (unsigned i = 0; i < 4; ++i) {
      out_[flags_at_ + i] = static_cast<std::byte>(flags_ >> (8 * i));
    }
  }

  // Half a byte - two matches share one -, then a byte, then two.
  void long_length(std::size_t more) {
    const auto nibble = static_cast<unsigned>(std::min<std::size_t>(more, 15));
    if (nibble_at_ == kNoNibble) {
      nibble_at_ = out_.size();
      out_.push_back(static_cast<std::byte>(nibble));
    } else {
      out_[nibble_at_] |= static_cast<std::byte>(nibble << 4);
      nibble_at_ = kNoNibble;
    }
    if (more < 15) {
      return;
    }
    if (more - 15 < 255) {
      out_.push_back(static_cast<std::byte>(more - 15));
    } else {
      out_.push_back(std::byte{255});
      put16(more + 7);  // the length less kLeastMatch
    }
  }

  void put16(std::size_t value) {
    out_.push_back(static_cast<std::byte>(value));
    out_.push_back(static_cast<std::byte>(value >> 8));
  }

  static constexpr std::size_t kNoNibble = ~std::size_t{0};
  std::vector<std::byte>& out_;
  std::size_t flags_at_ = 0;
  std::uint32_t flags_ = 0;
  unsigned flags_left_ = 0;
  std::size_t nibble_at_ = kNoNibble;
};

std::uint32_t hash_at(std::span<const std::byte> content, std::size_t at) {
  const std::uint32_t three = std::to_integer<std::uint32_t>(content[at]) |
                              std::to_integer<std::uint32_t>(content[at + 1]) << 8 |
                              std::to_integer<std::uint32_t>(content[at + 2]) << 16;
  return three * 2'654'435'761U >> (32 - kHashBits);
}

std::size_t match_length(std::span<const std::byte> content, std::size_t from, std::size_t at) {
  const std::size_t most = std::min(content.size() - at, kMostMatch);
  std::size_t length = 0;
  while (length < most && content[from + length] == content[at + length]) {
    ++length;
  }
  return length;
}

}  // namespace

void xpress_compress(std::span<const std::byte> content, std::vector<std::byte>& out) {
  out.clear();
  Output output(out);
  std::array<std::uint32_t, 1U << kHashBits> last{};  // position + 1 of the last three such bytes
  for (std::size_t at = 0; at < content.size();) {
    std::size_t length = 0;
    std::size_t distance = 0;
    if (content.size() - at >= kLeastMatch) {
      std::uint32_t& entry = last[hash_at(content, at)];
      if (entry != 0 && at - (entry - 1) <= kWindow) {
        distance = at - (entry - 1);
        length = match_length(content, entry - 1, at);
      }
      entry = static_cast<std::uint32_t>(at + 1);
    }
    if (length < kLeastMatch) {
      output.literal(content[at]);
      ++at;
      continue;
    }
    output.match(distance, length);
    for (std::size_t i = kLeastMatch; i < length && content.size() - (at + i) >= kLeastMatch;
         i += kLeastMatch) {
      last[hash_at(content, at + i)] = static_cast<std::uint32_t>(at + i + 1);
    }
    at += length;
  }
  output.finish();
}

}  // namespace stackpack::bench
