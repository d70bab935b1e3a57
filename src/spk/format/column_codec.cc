#include "spk/format/column_codec.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bit_array.h"
#include "spk/format/layout.h"
#include "spk/format/stored_column.h"

namespace stackpack::spk {

namespace {

constexpr unsigned kPlanes = 8;

// Shorter planes gain less from tables of their own than the tables cost.
constexpr std::size_t kMinCutBytes = 2'048;

// Of longer columns, as many values stand for all when forms are compared.
constexpr std::size_t kJudged = 8'192;

// Bits after the leading one that are worth trying.
constexpr std::array<unsigned, 3> kTriedBits{2, 3, 4};

constexpr std::uint64_t plane_mask(unsigned plane) {
  return std::uint64_t{0xFF} << (8 * plane);
}

// The planes in which not all values have the same byte.
unsigned varying_planes(std::span<const std::uint64_t> values) {
  std::uint64_t varying = 0;
  for (const std::uint64_t value : values) {
    varying |= value ^ values.front();
  }
  unsigned mask = 0;
  for (unsigned plane = 0; plane < kPlanes; ++plane) {
    mask |= (varying & plane_mask(plane)) != 0 ? 1U << plane : 0U;
  }
  return mask;
}

// log2(value) * 256 of a value > 0, the same on every machine.
std::uint64_t log2_times_256(std::uint64_t value) {
  const unsigned whole = static_cast<unsigned>(std::bit_width(value) - 1) & 63U;
  // The fraction, bit by bit: squaring a number doubles its logarithm.
  std::uint64_t x = whole >= 31 ? value >> (whole - 31) : value << (31 - whole);
  std::uint64_t result = whole;
  for (unsigned bit = 0; bit < 8; ++bit) {
    x = (x * x) >> 31;
    const std::uint64_t carry = x >> 32;
    result = result * 2 + carry;
    x >>= carry;
  }
  return result;
}

// Bits of the bytes counted here when each takes its entropy.
std::uint64_t entropy_bits(const std::array<std::uint32_t, 256>& counts, std::uint64_t total) {
  std::uint64_t sum = 0;
  for (const std::uint32_t count : counts) {
    sum += count == 0 ? 0 : count * (log2_times_256(total) - log2_times_256(count));
  }
  return sum / 256;
}

// `mask`: the planes in which not all values have the same byte.
std::uint64_t estimate_planes(std::span<const std::uint64_t> values, unsigned mask) {
  std::uint64_t bits = 0;
  for (unsigned plane = 0; plane < kPlanes; ++plane) {
    if (((mask >> plane) & 1) != 0) {
      // Two tables in turn: equal bytes in a row would wait for each other's count.
      std::array<std::array<std::uint32_t, 256>, 2> counts{};
      const unsigned shift = 8 * plane;
      unsigned turn = 0;
      for (const std::uint64_t value : values) {
        ++counts[turn][(value >> shift) & 0xFF];
        turn ^= 1;
      }
      for (std::size_t byte = 0; byte < counts[0].size(); ++byte) {
        counts[0][byte] += counts[1][byte];
      }
      bits += entropy_bits(counts[0], values.size());
    }
  }
  return bits;
}

struct Bucket {
  std::uint64_t symbol;
  unsigned low_bits;  // stored apart
};

Bucket bucket_of(std::uint64_t value, unsigned kept) {
  const auto width = static_cast<unsigned>(std::bit_width(value));
  if (width < kept + 2) {
    return {value, 0};
  }
  const unsigned low = width - kept - 1;
  return {(std::uint64_t{width - kept} << kept) + ((value >> low) & core::low_bits(kept)), low};
}

// How many values fall into each bucket of the finest kind that is tried; the buckets of the others
// follow from these.
constexpr unsigned kFinest = kTriedBits.back();
using BucketCounts = std::array<std::uint32_t, std::size_t{64 - kFinest + 1} << kFinest>;

// The least of the values in a bucket of the finest kind.
std::uint64_t least_value_of(std::size_t symbol) {
  if (symbol < std::size_t{2} << kFinest) {
    return symbol;
  }
  const std::uint64_t leading = (symbol & core::low_bits(kFinest)) | std::uint64_t{1} << kFinest;
  return leading << ((symbol >> kFinest) - 1);
}

// ~0 when the symbol of a value of `width` bits would not fit a byte.
std::uint64_t estimate_buckets(const BucketCounts& finest, std::uint64_t total, unsigned kept,
                               unsigned width) {
  if (bucket_of(core::low_bits(width), kept).symbol > 0xFF) {
    return ~std::uint64_t{0};
  }
  std::array<std::uint32_t, 256> counts{};
  std::uint64_t bits = 0;
  for (std::size_t symbol = 0; symbol < finest.size(); ++symbol) {
    if (finest[symbol] == 0) {
      continue;
    }
    const Bucket bucket = bucket_of(least_value_of(symbol), kept);
    counts[bucket.symbol] += finest[symbol];
    bits += std::uint64_t{bucket.low_bits} * finest[symbol];
  }
  return bits + entropy_bits(counts, total);
}

void write_buckets(std::span<const std::uint64_t> values, unsigned kept, BlockContent& content) {
  bytes::ByteWriter& out = content.bytes();
  out.write(static_cast<std::uint8_t>(kBucketColumn + kept));
  content.cut();
  std::vector<std::byte> symbols;
  symbols.reserve(values.size());
  std::uint64_t total_bits = 0;
  for (const std::uint64_t value : values) {
    const Bucket bucket = bucket_of(value, kept);
    symbols.push_back(static_cast<std::byte>(bucket.symbol));
    total_bits += bucket.low_bits;
  }
  out.write_bytes(symbols);
  content.cut();
  std::vector<std::uint64_t> words(core::words_for_bits(static_cast<std::size_t>(total_bits)));
  core::BitAppender bits(words);
  for (const std::uint64_t value : values) {
    const unsigned width = bucket_of(value, kept).low_bits;
    bits.append(value & core::low_bits(width), width);
  }
  bits.finish();
  out.write_bytes(
      std::as_bytes(std::span(words)).first(static_cast<std::size_t>(total_bits + 7) / 8));
  content.cut();
}

void fail(bytes::ByteCursor& in) {
  in.skip(~std::uint64_t{0});
}

}  // namespace

void BlockContent::cut() {
  const std::size_t at = bytes_.size();
  if (at - (cuts_.empty() ? 0 : cuts_.back()) >= kMinCutBytes) {
    cuts_.push_back(at);
  }
}

std::vector<std::span<const std::byte>> BlockContent::parts() const {
  std::vector<std::span<const std::byte>> parts;
  const std::span<const std::byte> all = bytes_.bytes();
  std::size_t begin = 0;
  for (const std::size_t end : cuts_) {
    parts.push_back(all.subspan(begin, end - begin));
    begin = end;
  }
  if (begin < all.size() || parts.empty()) {
    parts.push_back(all.subspan(begin));
  }
  return parts;
}

void BlockContent::clear() {
  bytes_.clear();
  cuts_.clear();
}

void write_column(std::span<const std::uint64_t> values, BlockContent& content) {
  const unsigned mask = varying_planes(values);
  std::uint64_t constant = values.empty() ? 0 : values.front();
  for (unsigned plane = 0; plane < kPlanes; ++plane) {
    constant &= ((mask >> plane) & 1) != 0 ? ~plane_mask(plane) : ~std::uint64_t{0};
  }
  bytes::ByteWriter& out = content.bytes();
  out.write(kPlaneColumn);
  out.write(static_cast<std::uint8_t>(mask));
  out.write_varint(constant);
  std::vector<std::byte> bytes(values.size());
  for (unsigned plane = 0; plane < kPlanes; ++plane) {
    if (((mask >> plane) & 1) == 0) {
      continue;
    }
    std::transform(values.begin(), values.end(), bytes.begin(), [plane](std::uint64_t value) {
      return static_cast<std::byte>(value >> (8 * plane));
    });
    if (bytes.size() >= kMinCutBytes) {
      content.cut();
    }
    out.write_bytes(bytes);
    if (bytes.size() >= kMinCutBytes) {
      content.cut();
    }
  }
}

NumberForm choose_form(std::span<const std::uint64_t> values) {
  const unsigned mask = varying_planes(values);
  std::array<std::uint64_t, kJudged> some;  // filled before it is read
  std::span<const std::uint64_t> judged = values;
  if (values.size() > kJudged) {
    for (std::size_t i = 0; i < kJudged; ++i) {
      some[i] = values[i * values.size() / kJudged];
    }
    judged = some;
  }
  NumberForm best{estimate_planes(judged, mask)};
  // In one plane of bytes nothing is mixed, nothing to part.
  if (std::popcount(mask) > 1) {
    std::uint64_t any = 0;
    for (const std::uint64_t value : values) {
      any |= value;
    }
    const auto width = static_cast<unsigned>(std::bit_width(any));
    BucketCounts counts{};
    for (const std::uint64_t value : judged) {
      ++counts[bucket_of(value, kFinest).symbol];
    }
    for (const unsigned kept : kTriedBits) {
      const std::uint64_t bits = estimate_buckets(counts, judged.size(), kept, width);
      if (bits < best.bits) {
        best = {bits, true, kept};
      }
    }
  }
  if (!judged.empty()) {
    best.bits = best.bits * values.size() / judged.size();
  }
  return best;
}

void write_numbers(std::span<const std::uint64_t> values, const NumberForm& form,
                   BlockContent& content) {
  if (form.buckets) {
    write_buckets(values, form.kept, content);
  } else {
    write_column(values, content);
  }
}

void write_numbers(std::span<const std::uint64_t> values, BlockContent& content) {
  write_numbers(values, choose_form(values), content);
}

void read_column(bytes::ByteCursor& in, std::size_t count, std::vector<std::uint64_t>& values) {
  const StoredColumn column(in, count);
  if (!in.ok() || !column.unpack(~std::uint64_t{0}, values)) {
    values.clear();
  }
}

std::uint64_t read_varint(bytes::ByteCursor& in) {
  constexpr unsigned kLastShift = 63;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift; shift += 7) {
    const std::uint64_t byte = in.read<std::uint8_t>();
    const std::uint64_t payload = byte & 0x7F;
    if (shift == kLastShift && byte > 1) {
      break;
    }
    value |= payload << shift;
    if ((byte & 0x80) == 0) {
      return value;
    }
  }
  fail(in);  // too long
  return 0;
}

}  // namespace stackpack::spk
