#include "support/naive_decoders.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace stackpack::test {

namespace {

using etl::DecodeEnd;

// Little-endian values from a position that only moves forward; nullopt at the end.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::optional<std::uint32_t> value(std::size_t size) {
    if (bytes_.size() - at < size) {
      return std::nullopt;
    }
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < size; ++i) {
      result |= static_cast<std::uint32_t>(bytes_[at + i]) << (8 * i);
    }
    at += size;
    return result;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at; }
  [[nodiscard]] std::byte peek(std::size_t position) const { return bytes_[position]; }

  std::size_t at = 0;

 private:
  std::span<const std::byte> bytes_;
};

bool copy_back(std::vector<std::byte>& out, std::size_t distance, std::size_t length,
               std::size_t wanted) {
  if (distance > out.size() || length > wanted - out.size()) {
    return false;
  }
  for (std::size_t i = 0; i < length; ++i) {
    out.push_back(out[out.size() - distance]);
  }
  return true;
}

constexpr std::size_t kNowhere = ~std::size_t{0};

// Extra bytes of a plain Xpress length. `shared`: the byte whose high half is still to be used.
DecodeEnd plain_length(Input& in, std::size_t& shared, std::size_t& length) {
  if (shared != kNowhere) {
    length = static_cast<std::size_t>(in.peek(shared)) >> 4;
    shared = kNowhere;
  } else {
    shared = in.at;
    const auto byte = in.value(1);
    if (!byte) {
      return DecodeEnd::kShort;
    }
    length = *byte & 15;
  }
  if (length == 15) {
    auto more = in.value(1);
    if (!more) {
      return DecodeEnd::kShort;
    }
    if (*more == 255) {
      more = in.value(2);
      if (more && *more == 0) {
        more = in.value(4);
      }
      if (!more) {
        return DecodeEnd::kShort;
      }
      if (*more < 22) {
        return DecodeEnd::kCorrupt;
      }
      *more -= 22;
    }
    length = std::size_t{*more} + 15;
  }
  length += 7;
  return DecodeEnd::kComplete;
}

}  // namespace

NaiveOutcome naive_xpress_plain(std::span<const std::byte> bytes, std::size_t wanted) {
  NaiveOutcome result;
  Input in(bytes);
  std::uint32_t flags = 0;
  unsigned left = 0;
  std::size_t shared = kNowhere;
  const auto fail = [&result](DecodeEnd end) {
    result.end = end;
    return result;
  };
  while (result.content.size() < wanted) {
    if (left == 0) {
      const auto word = in.value(4);
      if (!word) {
        return fail(DecodeEnd::kShort);
      }
      flags = *word;
      left = 32;
    }
    --left;
    if (((flags >> left) & 1) == 0) {
      const auto literal = in.value(1);
      if (!literal) {
        return fail(DecodeEnd::kShort);
      }
      result.content.push_back(static_cast<std::byte>(*literal));
      continue;
    }
    const auto word = in.value(2);
    if (!word) {
      return fail(DecodeEnd::kShort);
    }
    std::size_t length = *word & 7;
    if (length == 7) {
      const DecodeEnd end = plain_length(in, shared, length);
      if (end != DecodeEnd::kComplete) {
        return fail(end);
      }
    }
    if (!copy_back(result.content, (*word >> 3) + 1, length + 3, wanted)) {
      return fail(DecodeEnd::kCorrupt);
    }
  }
  return result;
}

namespace {

// One block of Xpress Huffman, decoded bit by bit.
class NaiveBlock {
 public:
  NaiveBlock(Input& in, std::vector<std::byte>& out, std::size_t wanted)
      : in_(in), out_(out), wanted_(wanted) {}

  DecodeEnd run() {
    if (in_.left() < 256) {
      return DecodeEnd::kShort;
    }
    std::uint64_t space = 0;
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t pair = *in_.value(1);
      lengths_[2 * i] = pair & 15;
      lengths_[2 * i + 1] = pair >> 4;
    }
    for (const unsigned length : lengths_) {
      space += length == 0 ? 0 : std::uint64_t{1} << (15 - length);
    }
    if (space != 32768) {
      return DecodeEnd::kCorrupt;
    }
    if (in_.left() < 4) {
      return DecodeEnd::kShort;
    }
    fetch();
    fetch();
    const std::size_t end = std::min(wanted_, out_.size() + 65536);
    while (out_.size() < end) {
      const DecodeEnd step = one_symbol();
      if (step != DecodeEnd::kComplete) {
        return step;
      }
    }
    return DecodeEnd::kComplete;
  }

 private:
  void fetch() {
    const auto word = in_.value(2);
    if (!word) {
      in_.at += in_.left();
      ++missing_;
    }
    for (unsigned i = 16; i-- > 0;) {
      bits_.push_back(((word.value_or(0) >> i) & 1) != 0);
    }
  }

  // The next word is fetched when fewer than 16 bits are left after a whole code or number.
  std::uint32_t take(unsigned count) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      value = (value << 1) | (bits_[used_ + i] ? 1U : 0U);
    }
    used_ += count;
    if (bits_.size() - used_ < 16) {
      fetch();
    }
    return value;
  }

  std::size_t take_symbol() {
    std::uint32_t code = 0;  // the first code of the length in question
    for (unsigned length = 1; length <= 15; ++length) {
      std::uint32_t value = 0;
      for (unsigned i = 0; i < length; ++i) {
        value = (value << 1) | (bits_[used_ + i] ? 1U : 0U);
      }
      for (std::size_t symbol = 0; symbol < 512; ++symbol) {
        if (lengths_[symbol] == length && value == code++) {
          take(length);
          return symbol;
        }
      }
      code <<= 1;
    }
    return 0;  // cannot be: the code is complete
  }

  DecodeEnd one_symbol() {
    const std::size_t symbol = take_symbol();
    if (symbol < 256) {
      if (missing_ >= 2) {
        return DecodeEnd::kShort;
      }
      out_.push_back(static_cast<std::byte>(symbol));
      return DecodeEnd::kComplete;
    }
    std::size_t length = symbol & 15;
    if (length == 15) {
      auto more = in_.value(1);
      if (!more) {
        return DecodeEnd::kShort;
      }
      if (*more == 255) {
        more = in_.value(2);
        if (more && *more == 0) {
          more = in_.value(4);
        }
        if (!more) {
          return DecodeEnd::kShort;
        }
        if (*more < 15) {
          return DecodeEnd::kCorrupt;
        }
        *more -= 15;
      }
      length = std::size_t{*more} + 15;
    }
    const auto width = static_cast<unsigned>((symbol >> 4) & 15);
    const std::size_t distance = (std::size_t{1} << width) | take(width);
    if (missing_ >= 2) {
      return DecodeEnd::kShort;
    }
    return copy_back(out_, distance, length + 3, wanted_) ? DecodeEnd::kComplete
                                                          : DecodeEnd::kCorrupt;
  }

  Input& in_;
  std::vector<std::byte>& out_;
  std::size_t wanted_;
  unsigned lengths_[512] = {};
  std::vector<bool> bits_;
  std::size_t used_ = 0;
  unsigned missing_ = 0;
};

}  // namespace

NaiveOutcome naive_xpress_huffman(std::span<const std::byte> bytes, std::size_t wanted) {
  NaiveOutcome result;
  Input in(bytes);
  while (result.content.size() < wanted && result.end == DecodeEnd::kComplete) {
    result.end = NaiveBlock(in, result.content, wanted).run();
  }
  return result;
}

NaiveOutcome naive_lznt1(std::span<const std::byte> bytes, std::size_t wanted) {
  NaiveOutcome result;
  Input in(bytes);
  const auto fail = [&result](DecodeEnd end) {
    result.end = end;
    return result;
  };
  while (result.content.size() < wanted) {
    const auto header = in.value(2);
    if (!header || *header == 0) {
      return fail(DecodeEnd::kShort);
    }
    if ((*header & 0x7000) != 0x3000) {
      return fail(DecodeEnd::kCorrupt);
    }
    const std::size_t named = (*header & 0xFFF) + 1;
    const std::size_t body_end = in.at + std::min(named, in.left());
    const bool cut = body_end - in.at < named;
    const std::size_t chunk_start = result.content.size();
    const std::size_t chunk_end = std::min(wanted, chunk_start + 4096);
    if ((*header & 0x8000) == 0) {
      while (in.at < body_end && result.content.size() < wanted) {
        result.content.push_back(static_cast<std::byte>(*in.value(1)));
      }
      continue;
    }
    while (in.at < body_end && result.content.size() < wanted) {
      const std::uint32_t flags = *in.value(1);
      for (unsigned token = 0; token < 8 && in.at < body_end; ++token) {
        const std::size_t position = result.content.size() - chunk_start;
        if (result.content.size() == wanted) {
          return result;
        }
        if (result.content.size() == chunk_end) {
          return fail(cut ? DecodeEnd::kShort : DecodeEnd::kCorrupt);
        }
        if (((flags >> token) & 1) == 0) {
          result.content.push_back(static_cast<std::byte>(*in.value(1)));
          continue;
        }
        if (body_end - in.at < 2 || position == 0) {
          return fail(cut ? DecodeEnd::kShort : DecodeEnd::kCorrupt);
        }
        const std::uint32_t word = *in.value(2);
        unsigned distance_bits = 4;
        while ((std::size_t{1} << distance_bits) < position) {
          ++distance_bits;
        }
        const unsigned length_bits = 16 - distance_bits;
        const std::size_t distance = (word >> length_bits) + 1;
        const std::size_t length = (word & ((1U << length_bits) - 1)) + 3;
        if (distance > position || !copy_back(result.content, distance, length, chunk_end)) {
          return fail(cut ? DecodeEnd::kShort : DecodeEnd::kCorrupt);
        }
      }
    }
    if (result.content.size() < std::min(chunk_start + 4096, wanted) && !cut) {
      const bool at_end =
          in.left() < 2 || (in.peek(in.at) == std::byte{0} && in.peek(in.at + 1) == std::byte{0});
      return fail(at_end ? DecodeEnd::kShort : DecodeEnd::kCorrupt);
    }
  }
  return result;
}

}  // namespace stackpack::test
