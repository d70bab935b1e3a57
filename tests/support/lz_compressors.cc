#include "support/lz_compressors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace stackpack::test {

namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
void put(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

struct Token {
  std::size_t length = 0;  // 0: a literal
  std::size_t distance = 0;
  std::byte literal{};
};

// Greedy parse of content[begin, end): matches may begin before `begin`, down to `floor`.
class MatchFinder {
 public:
  explicit MatchFinder(std::span<const std::byte> content)
      : content_(content), latest_(std::size_t{1} << 14, -1) {}

  Token next(std::size_t at, std::size_t floor, std::size_t end, std::size_t most_distance,
             std::size_t most_length) {
    Token token{0, 0, content_[at]};
    if (end - at >= 3) {
      const std::int64_t candidate = latest_[hash(at)];
      if (candidate >= static_cast<std::int64_t>(floor) &&
          at - static_cast<std::size_t>(candidate) <= most_distance) {
        const auto from = static_cast<std::size_t>(candidate);
        std::size_t length = 0;
        while (at + length < end && length < most_length &&
               content_[from + length] == content_[at + length]) {
          ++length;
        }
        if (length >= 3) {
          token.length = length;
          token.distance = at - from;
        }
      }
    }
    const std::size_t covered = std::max<std::size_t>(token.length, 1);
    for (std::size_t i = 0; i < std::min<std::size_t>(covered, 32); ++i) {
      if (at + i + 3 <= content_.size()) {
        latest_[hash(at + i)] = static_cast<std::int64_t>(at + i);
      }
    }
    return token;
  }

 private:
  [[nodiscard]] std::size_t hash(std::size_t at) const {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(content_[at + i]); };
    return ((byte(0) | (byte(1) << 8) | (byte(2) << 16)) * 2654435761U) >> 18;
  }

  std::span<const std::byte> content_;
  std::vector<std::int64_t> latest_;
};

// Flags of plain Xpress: a u32 of 32 flags stands in front of what they announce.
class FlagWriter {
 public:
  explicit FlagWriter(Bytes& out) : out_(out) {}

  void flag(bool value) {
    if (left_ == 0) {
      at_ = out_.size();
      put<std::uint32_t>(out_, 0);
      flags_ = 0;
      left_ = 32;
    }
    --left_;
    flags_ |= static_cast<std::uint32_t>(value ? 1 : 0) << left_;
    std::memcpy(out_.data() + at_, &flags_, sizeof flags_);
  }

  void finish() {
    do {
      flag(true);
    } while (left_ != 0);
  }

 private:
  Bytes& out_;
  std::size_t at_ = 0;
  std::uint32_t flags_ = 0;
  unsigned left_ = 0;
};

// Code lengths of at most 15 bits by package-merge; the code they make is complete.
std::array<std::uint8_t, 512> code_lengths(const std::array<std::uint32_t, 512>& counts) {
  struct Item {
    std::uint64_t weight;
    std::vector<std::uint16_t> symbols;
  };
  std::vector<Item> leaves;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] != 0) {
      leaves.push_back({counts[symbol], {static_cast<std::uint16_t>(symbol)}});
    }
  }
  for (std::uint16_t extra = 0; leaves.size() < 2; ++extra) {  // a code of one symbol is not whole
    if (counts[extra] == 0) {
      leaves.push_back({0, {extra}});
    }
  }
  const auto lighter = [](const Item& a, const Item& b) { return a.weight < b.weight; };
  std::stable_sort(leaves.begin(), leaves.end(), lighter);
  std::vector<Item> level = leaves;
  for (int bit = 1; bit < 15; ++bit) {
    std::vector<Item> packages;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      Item both{level[i].weight + level[i + 1].weight, level[i].symbols};
      both.symbols.insert(both.symbols.end(), level[i + 1].symbols.begin(),
                          level[i + 1].symbols.end());
      packages.push_back(std::move(both));
    }
    std::vector<Item> merged(leaves.size() + packages.size());
    std::merge(leaves.begin(), leaves.end(), packages.begin(), packages.end(), merged.begin(),
               lighter);
    level = std::move(merged);
  }
  std::array<std::uint8_t, 512> lengths{};
  for (std::size_t i = 0; i < 2 * leaves.size() - 2; ++i) {
    for (const std::uint16_t symbol : level[i].symbols) {
      ++lengths[symbol];
    }
  }
  return lengths;
}

// Bits and bytes as the Huffman decoder fetches them: it holds two words at first, takes one more
// as soon as fewer than 16 bits are left, and reads bytes from wherever it then stands.
class WordWriter {
 public:
  explicit WordWriter(Bytes& out) : out_(out) {
    reserve();
    reserve();
  }

  void bits(std::uint32_t value, unsigned count) {
    for (unsigned i = count; i-- > 0;) {
      word_ =
          static_cast<std::uint16_t>((static_cast<std::uint32_t>(word_) << 1) | ((value >> i) & 1));
      if (++filled_ == 16) {
        store();
      }
    }
    spare_ -= static_cast<int>(count);
    if (spare_ < 0) {
      reserve();
      spare_ += 16;
    }
  }

  template <typename T>
  void raw(T value) {
    put(out_, value);
  }

  void finish() {
    while (next_ < slots_.size()) {
      word_ = static_cast<std::uint16_t>(word_ << (16 - filled_));
      store();
    }
  }

 private:
  void reserve() {
    slots_.push_back(out_.size());
    put<std::uint16_t>(out_, 0);
  }
  void store() {
    std::memcpy(out_.data() + slots_[next_++], &word_, sizeof word_);
    word_ = 0;
    filled_ = 0;
  }

  Bytes& out_;
  std::vector<std::size_t> slots_;
  std::size_t next_ = 0;
  std::uint16_t word_ = 0;
  unsigned filled_ = 0;
  int spare_ = 16;
};

std::size_t symbol_of(const Token& token) {
  if (token.length == 0) {
    return static_cast<std::size_t>(token.literal);
  }
  const auto distance_bits = static_cast<std::size_t>(std::bit_width(token.distance)) - 1;
  return 256 + std::min<std::size_t>(token.length - 3, 15) + 16 * distance_bits;
}

void write_huffman_block(const std::vector<Token>& tokens, Bytes& out) {
  std::array<std::uint32_t, 512> counts{};
  for (const Token& token : tokens) {
    ++counts[symbol_of(token)];
  }
  const std::array<std::uint8_t, 512> lengths = code_lengths(counts);
  for (std::size_t i = 0; i < 256; ++i) {
    out.push_back(static_cast<std::byte>(lengths[2 * i] | (lengths[2 * i + 1] << 4)));
  }
  std::array<std::uint32_t, 512> codes{};
  std::uint32_t code = 0;
  for (unsigned length = 1; length <= 15; ++length) {
    for (std::size_t symbol = 0; symbol < 512; ++symbol) {
      if (lengths[symbol] == length) {
        codes[symbol] = code++;
      }
    }
    code <<= 1;
  }
  WordWriter words(out);
  for (const Token& token : tokens) {
    const std::size_t symbol = symbol_of(token);
    words.bits(codes[symbol], lengths[symbol]);
    if (token.length == 0) {
      continue;
    }
    const std::size_t length = token.length - 3;
    if (length >= 15 && length - 15 < 255) {
      words.raw(static_cast<std::uint8_t>(length - 15));
    } else if (length >= 15) {
      words.raw(std::uint8_t{255});
      words.raw(static_cast<std::uint16_t>(length));
    }
    const auto distance_bits = static_cast<unsigned>(std::bit_width(token.distance)) - 1;
    words.bits(static_cast<std::uint32_t>(token.distance) & ((1U << distance_bits) - 1),
               distance_bits);
  }
  words.finish();
}

}  // namespace

Bytes compress_xpress_plain(std::span<const std::byte> content) {
  Bytes out;
  FlagWriter flags(out);
  MatchFinder finder(content);
  std::size_t nibble_at = 0;
  bool nibble_open = false;
  for (std::size_t at = 0; at < content.size();) {
    const Token token = finder.next(at, 0, content.size(), 8192, std::size_t{1} << 20);
    flags.flag(token.length != 0);
    if (token.length == 0) {
      out.push_back(token.literal);
      ++at;
      continue;
    }
    const std::size_t length = token.length - 3;
    put(out,
        static_cast<std::uint16_t>(((token.distance - 1) << 3) | std::min<std::size_t>(length, 7)));
    if (length >= 7) {
      const std::size_t low = std::min<std::size_t>(length - 7, 15);
      if (nibble_open) {
        out[nibble_at] |= static_cast<std::byte>(low << 4);
      } else {
        nibble_at = out.size();
        out.push_back(static_cast<std::byte>(low));
      }
      nibble_open = !nibble_open;
      if (length >= 22 && length - 22 < 255) {
        out.push_back(static_cast<std::byte>(length - 22));
      } else if (length >= 22) {
        out.push_back(std::byte{255});
        if (length <= 0xFFFF) {
          put(out, static_cast<std::uint16_t>(length));
        } else {
          put(out, std::uint16_t{0});
          put(out, static_cast<std::uint32_t>(length));
        }
      }
    }
    at += token.length;
  }
  flags.finish();
  return out;
}

Bytes compress_xpress_huffman(std::span<const std::byte> content) {
  constexpr std::size_t kBlock = 65536;
  Bytes out;
  MatchFinder finder(content);
  for (std::size_t begin = 0; begin < content.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, content.size());
    std::vector<Token> tokens;
    for (std::size_t at = begin; at < end;) {
      tokens.push_back(finder.next(at, 0, end, 65535, kBlock - 1));
      at += std::max<std::size_t>(tokens.back().length, 1);
    }
    write_huffman_block(tokens, out);
  }
  return out;
}

Bytes compress_lznt1(std::span<const std::byte> content) {
  constexpr std::size_t kChunk = 4096;
  Bytes out;
  MatchFinder finder(content);
  for (std::size_t begin = 0; begin < content.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, content.size());
    Bytes body;
    std::size_t flag_at = 0;
    unsigned tokens = 8;
    for (std::size_t at = begin; at < end;) {
      const auto width = at == begin ? 0 : static_cast<unsigned>(std::bit_width(at - begin - 1));
      const unsigned length_bits = 16 - std::max(width, 4U);
      const Token token = finder.next(at, begin, end, kChunk, (std::size_t{1} << length_bits) + 2);
      if (tokens == 8) {
        flag_at = body.size();
        body.push_back(std::byte{0});
        tokens = 0;
      }
      if (token.length == 0) {
        body.push_back(token.literal);
        ++at;
      } else {
        body[flag_at] |= static_cast<std::byte>(1U << tokens);
        put(body,
            static_cast<std::uint16_t>(((token.distance - 1) << length_bits) | (token.length - 3)));
        at += token.length;
      }
      ++tokens;
    }
    if (body.size() >= end - begin) {
      put(out, static_cast<std::uint16_t>(0x3000 | (end - begin - 1)));
      out.insert(out.end(), content.begin() + static_cast<std::ptrdiff_t>(begin),
                 content.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      put(out, static_cast<std::uint16_t>(0xB000 | (body.size() - 1)));
      out.insert(out.end(), body.begin(), body.end());
    }
  }
  put<std::uint16_t>(out, 0);
  return out;
}

}  // namespace stackpack::test
