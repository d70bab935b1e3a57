#include "query/name_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stackpack::query {

namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::size_t kWordBits = 64;

// Whether a piece, which has no star, stands at the front of `text`, which is as long at least.
bool begins_with(std::string_view text, std::string_view piece) {
  return std::equal(piece.begin(), piece.end(), text.begin(),
                    [](char wanted, char found) { return wanted == '?' || wanted == found; });
}

/// Where a piece of up to any length ends first in a text: bit i of the state says whether its
/// first i + 1 bytes end at the byte that was read last (Baeza-Yates and Gonnet's shift-and).
class PieceSearch {
 public:
  explicit PieceSearch(std::string_view piece)
      : words_((piece.size() + kWordBits - 1) / kWordBits),
        masks_(kBytes * words_),
        state_(words_) {
    last_ = std::uint64_t{1} << ((piece.size() - 1) % kWordBits);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      if (piece[i] == '?') {
        for (std::size_t byte = 0; byte < kBytes; ++byte) {
          set(byte, i);
        }
      } else {
        set(static_cast<unsigned char>(piece[i]), i);
      }
    }
  }

  [[nodiscard]] std::size_t end_in(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      step(static_cast<unsigned char>(text[at]));
      if ((state_.back() & last_) != 0) {
        return at + 1;
      }
    }
    return kNowhere;
  }

 private:
  static constexpr std::size_t kBytes = 256;

  void set(std::size_t byte, std::size_t bit) {
    masks_[byte * words_ + bit / kWordBits] |= std::uint64_t{1} << (bit % kWordBits);
  }

  void step(std::size_t byte) {
    std::uint64_t carried = 1;
    for (std::size_t word = 0; word < words_; ++word) {
      const std::uint64_t next = state_[word] >> (kWordBits - 1);
      state_[word] = (state_[word] << 1 | carried) & masks_[byte * words_ + word];
      carried = next;
    }
  }

  std::size_t words_;
  std::vector<std::uint64_t> masks_;  // of each byte: where the piece takes it
  std::vector<std::uint64_t> state_;
  std::uint64_t last_ = 0;
};

// The end of the first place of a piece in a text; kNowhere: it does not occur.
std::size_t end_of_piece(std::string_view text, std::string_view piece) {
  // Trying short ones at each place is faster than making tables.
  constexpr std::size_t kShort = 32;
  if (piece.size() > text.size()) {
    return kNowhere;
  }
  if (piece.size() > kShort) {
    return PieceSearch(piece).end_in(text);
  }
  for (std::size_t at = 0; at + piece.size() <= text.size(); ++at) {
    if (begins_with(text.substr(at), piece)) {
      return at + piece.size();
    }
  }
  return kNowhere;
}

}  // namespace

// What stands between stars is taken where it fits first; what stands after the last one, at the
// end.
bool fits_pattern(std::string_view name, std::string_view pattern) {
  const std::size_t first = pattern.find('*');
  if (first == kNowhere) {
    return name.size() == pattern.size() && begins_with(name, pattern);
  }
  const std::size_t last = pattern.rfind('*');
  const std::string_view head = pattern.substr(0, first);
  const std::string_view tail = pattern.substr(last + 1);
  if (head.size() + tail.size() > name.size() || !begins_with(name, head) ||
      !begins_with(name.substr(name.size() - tail.size()), tail)) {
    return false;
  }
  name = name.substr(head.size(), name.size() - head.size() - tail.size());
  std::string_view middle = pattern.substr(first, last - first);
  while (!middle.empty()) {
    middle.remove_prefix(1);
    const std::string_view piece = middle.substr(0, middle.find('*'));
    middle.remove_prefix(piece.size());
    const std::size_t end = end_of_piece(name, piece);
    if (end == kNowhere) {
      return false;
    }
    name.remove_prefix(end);
  }
  return true;
}

bool fits_any(std::string_view name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [name](const std::string& pattern) { return fits_pattern(name, pattern); });
}

}  // namespace stackpack::query
