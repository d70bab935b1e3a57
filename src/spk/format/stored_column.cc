#include "spk/format/stored_column.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/bit_array.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

constexpr std::size_t kSymbols = 256;
constexpr std::uint64_t kImpossible = std::uint64_t{1} << 63;

// What the symbols of a column in buckets mean.
struct SymbolTable {
  std::array<std::uint64_t, kSymbols> least;  // of its values
  std::array<std::uint64_t, kSymbols> low;    // bits that are stored apart; or kImpossible
};

SymbolTable symbol_table(unsigned kept) {
  SymbolTable table;
  for (std::size_t symbol = 0; symbol < kSymbols; ++symbol) {
    if (symbol < std::size_t{2} << kept) {
      table.least[symbol] = symbol;
      table.low[symbol] = 0;
      continue;
    }
    const std::size_t low = (symbol >> kept) - 1;
    const std::uint64_t first = std::uint64_t{1} << kept;
    const std::uint64_t leading = (symbol & (first - 1)) | first;
    const bool fits = low + kept + 1 <= 64;
    table.least[symbol] = fits ? leading << low : 0;
    table.low[symbol] = fits ? low : kImpossible;
  }
  return table;
}

void fail_column(bytes::ByteCursor& in) {
  in.skip(~std::uint64_t{0});
}

// The innermost loops have plain pointers: a hardened library's checks keep a compiler from making
// them wide.
template <typename Number>
Number greatest_of(const Number* values, std::size_t count) {
  Number greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    greatest = values[i] > greatest ? values[i] : greatest;
  }
  return greatest;
}

}  // namespace

StoredColumn::StoredColumn(bytes::ByteCursor& in, std::size_t count) : count_(count) {
  const unsigned form = in.read<std::uint8_t>();
  if (form == kPlaneColumn) {
    open_planes(in);
  } else if (form >= kBucketColumn && form <= kBucketColumn + kMaxKeptBits) {
    open_buckets(in, form - kBucketColumn);
  } else {
    fail_column(in);
  }
  count_ = in.ok() ? count_ : 0;
}

void StoredColumn::open_planes(bytes::ByteCursor& in) {
  mask_ = in.read<std::uint8_t>();
  constant_ = in.read_varint();
  for (unsigned plane = 0; plane < kPlanes; ++plane) {
    if (((mask_ >> plane) & 1) == 0) {
      continue;
    }
    planes_[plane] = in.read_bytes(count_);
    if ((constant_ >> (8 * plane) & 0xFF) != 0) {  // a stored plane has no constant
      fail_column(in);
    }
  }
}

void StoredColumn::open_buckets(bytes::ByteCursor& in, unsigned kept) {
  buckets_ = true;
  kept_ = kept;
  symbols_ = in.read_bytes(count_);
  const SymbolTable table = symbol_table(kept);
  const std::byte* const symbols = symbols_.data();
  std::uint64_t bits = 0;
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    const std::uint64_t low = table.low[std::to_integer<std::size_t>(symbols[i])];
    bits += low;
    any |= low;
  }
  if ((any & kImpossible) != 0) {
    fail_column(in);
    return;
  }
  low_bits_ = in.read_bytes((bits + 7) / 8);
  if (bits % 8 != 0 && in.ok() && std::to_integer<unsigned>(low_bits_.back()) >> (bits % 8) != 0) {
    fail_column(in);
  }
}

template <typename Number>
void StoredColumn::unpack_planes(Number* values) const {
  const auto constant = static_cast<Number>(constant_);
  bool first = true;
  for (unsigned plane = 0; plane < sizeof(Number); ++plane) {
    if (((mask_ >> plane) & 1) == 0) {
      continue;
    }
    const std::byte* const bytes = planes_[plane].data();
    const unsigned shift = 8 * plane;
    if (first) {
      for (std::size_t i = 0; i < count_; ++i) {
        values[i] = static_cast<Number>(constant | static_cast<Number>(bytes[i]) << shift);
      }
    } else {
      for (std::size_t i = 0; i < count_; ++i) {
        values[i] = static_cast<Number>(values[i] | static_cast<Number>(bytes[i]) << shift);
      }
    }
    first = false;
  }
  if (first) {
    std::fill_n(values, count_, constant);
  }
}

template <typename Number>
void StoredColumn::unpack_buckets(Number* values) const {
  const SymbolTable table = symbol_table(kept_);
  // With room after the last bit for whole words.
  std::vector<std::uint64_t> words(core::words_for_bits(8 * low_bits_.size()));
  if (!low_bits_.empty()) {
    std::memcpy(words.data(), low_bits_.data(), low_bits_.size());
  }
  const std::byte* const bytes = std::as_bytes(std::span(words)).data();
  const std::byte* const symbols = symbols_.data();
  std::size_t bit = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const auto symbol = std::to_integer<std::size_t>(symbols[i]);
    const auto low = static_cast<unsigned>(table.low[symbol]);
    std::uint64_t word = 0;
    if (low <= core::kShortBits) {
      std::memcpy(&word, bytes + bit / 8, sizeof word);
      word = (word >> (bit % 8)) & core::low_bits(low);
    } else {
      word = core::read_bits(words, bit, low);
    }
    values[i] = static_cast<Number>(table.least[symbol] | word);
    bit += low;
  }
}

template <typename Number>
bool StoredColumn::unpack(std::uint64_t limit, std::vector<Number>& values) const {
  values.resize(count_);
  constexpr std::uint64_t kMost = std::numeric_limits<Number>::max();
  constexpr unsigned kFits = (1U << sizeof(Number)) - 1;
  if constexpr (sizeof(Number) < sizeof(std::uint64_t)) {
    // Wider than they need to be: planes of zeros, or values that do not fit.
    if (buckets_ || (mask_ & ~kFits) != 0 || constant_ > kMost) {
      std::vector<std::uint64_t> wide;
      if (!unpack(limit, wide)) {
        return false;
      }
      std::transform(wide.begin(), wide.end(), values.begin(),
                     [](std::uint64_t value) { return static_cast<Number>(value); });
      return true;
    }
  }
  if (buckets_) {
    unpack_buckets(values.data());
  } else {
    unpack_planes(values.data());
  }
  return limit >= kMost || greatest_of(values.data(), count_) <= limit;
}

template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint8_t>&) const;
template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint32_t>&) const;
template bool StoredColumn::unpack(std::uint64_t, std::vector<std::uint64_t>&) const;

}  // namespace stackpack::spk
