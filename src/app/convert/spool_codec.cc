// A byte of bits says which fields follow; then the node and the time, which every sample has,
// then the fields that changed. Fields have fixed widths and are stored whether they count or not:
// it is the position that moves on or does not, so that there is hardly a branch to mispredict.
#include "app/convert/spool_codec.h"

#include <array>
#include <bit>
#include <cstring>

namespace stackpack::app {

namespace {

static_assert(std::endian::native == std::endian::little);

// The lowest two bits: the width of the time's difference.
constexpr unsigned kTimeBits = 3;
constexpr std::array<std::uint8_t, 4> kTimeBytes{2, 4, 8, 8};

enum Change : std::uint8_t {
  kPid = 4,
  kTid = 8,
  kCpu = 16,  // and it fits two bytes
  kWeight = 32,
  kPending = 64,  // has one
  kSeldom = 128,  // another byte of bits follows all of these
};

enum SeldomChange : std::uint8_t {
  kEvent = 1,
  kWideCpu = 2,
  kSegment = 4,
  kOrigin = 8,
  kFlags = 16,
};

static_assert(kMaxSpooledBytes >= 1 + 4 + 8 + 4 + 4 + 2 + 8 + 4 + 1 + 4 + 4 + 2 + 1 + 1);

// Writes fields one after the other.
class FieldWriter {
 public:
  explicit FieldWriter(std::byte* out) : out_(out) {}

  template <typename T>
  void put(T value, bool counts) {
    std::memcpy(out_ + size_, &value, sizeof value);
    size_ += counts ? sizeof value : 0;
  }
  void put_time(std::uint64_t value, unsigned bytes) {
    std::memcpy(out_ + size_, &value, sizeof value);
    size_ += bytes;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::byte* out_;
  std::size_t size_ = 0;
};

class FieldReader {
 public:
  explicit FieldReader(const std::byte* in) : in_(in) {}

  template <typename T>
  [[nodiscard]] T take(T otherwise, bool counts) {
    T stored;
    std::memcpy(&stored, in_ + position_, sizeof stored);
    position_ += counts ? sizeof stored : 0;
    return counts ? stored : otherwise;
  }
  std::uint64_t take_time(unsigned bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, in_ + position_, sizeof value);
    position_ += bytes;
    return value & (~std::uint64_t{0} >> (64 - 8 * bytes));
  }
  [[nodiscard]] std::size_t position() const { return position_; }

 private:
  const std::byte* in_;
  std::size_t position_ = 0;
};

constexpr unsigned bit_if(bool condition, unsigned bit) {
  return condition ? bit : 0;
}

}  // namespace

std::size_t encode_spooled(const SpooledSample& sample, const SpooledSample& last, std::byte* out) {
  const std::uint64_t difference = sample.time_ns - last.time_ns;
  const unsigned width = difference < 1U << 16 ? 0 : difference < std::uint64_t{1} << 32 ? 1 : 2;
  const bool wide_cpu = sample.cpu > 0xFFFF && sample.cpu != last.cpu;
  const unsigned seldom = bit_if(sample.event != last.event, kEvent) | bit_if(wide_cpu, kWideCpu) |
                          bit_if(sample.segment != last.segment, kSegment) |
                          bit_if(sample.origin != last.origin, kOrigin) |
                          bit_if(sample.flags != last.flags, kFlags);
  const unsigned bits =
      width | bit_if(sample.pid != last.pid, kPid) | bit_if(sample.tid != last.tid, kTid) |
      bit_if(sample.cpu != last.cpu && !wide_cpu, kCpu) |
      bit_if(sample.weight != last.weight, kWeight) |
      bit_if(sample.pending != SpooledSample::kNoPending, kPending) | bit_if(seldom != 0, kSeldom);
  FieldWriter fields(out);
  fields.put(static_cast<std::uint8_t>(bits), true);
  fields.put(sample.node, true);
  fields.put_time(difference, kTimeBytes[width]);
  fields.put(sample.pid, (bits & kPid) != 0);
  fields.put(sample.tid, (bits & kTid) != 0);
  fields.put(static_cast<std::uint16_t>(sample.cpu), (bits & kCpu) != 0);
  if ((bits & (kWeight | kPending | kSeldom)) != 0) {
    fields.put(sample.weight, (bits & kWeight) != 0);
    fields.put(sample.pending, (bits & kPending) != 0);
    fields.put(static_cast<std::uint8_t>(seldom), (bits & kSeldom) != 0);
    fields.put(sample.event, (seldom & kEvent) != 0);
    fields.put(sample.cpu, (seldom & kWideCpu) != 0);
    fields.put(sample.segment, (seldom & kSegment) != 0);
    fields.put(sample.origin, (seldom & kOrigin) != 0);
    fields.put(sample.flags, (seldom & kFlags) != 0);
  }
  return fields.size();
}

// Field by field, as a sample that is copied whole would be read before its fields are out of the
// processor.
std::size_t decode_spooled(const std::byte* in, const SpooledSample& last, SpooledSample& sample) {
  FieldReader fields(in);
  const auto bits = fields.take(std::uint8_t{0}, true);
  sample.node = fields.take(last.node, true);
  sample.time_ns = last.time_ns + fields.take_time(kTimeBytes[bits & kTimeBits]);
  sample.pid = fields.take(last.pid, (bits & kPid) != 0);
  sample.tid = fields.take(last.tid, (bits & kTid) != 0);
  const auto cpu = fields.take(std::uint16_t{0}, (bits & kCpu) != 0);
  sample.cpu = (bits & kCpu) != 0 ? cpu : last.cpu;
  const bool more = (bits & (kWeight | kPending | kSeldom)) != 0;
  sample.weight = more ? fields.take(last.weight, (bits & kWeight) != 0) : last.weight;
  sample.pending = more ? fields.take(SpooledSample::kNoPending, (bits & kPending) != 0)
                        : SpooledSample::kNoPending;
  const auto seldom = more ? fields.take(std::uint8_t{0}, (bits & kSeldom) != 0) : std::uint8_t{0};
  sample.event = last.event;
  sample.segment = last.segment;
  sample.origin = last.origin;
  sample.flags = last.flags;
  if (seldom != 0) {
    sample.event = fields.take(last.event, (seldom & kEvent) != 0);
    sample.cpu = fields.take(sample.cpu, (seldom & kWideCpu) != 0);
    sample.segment = fields.take(last.segment, (seldom & kSegment) != 0);
    sample.origin = fields.take(last.origin, (seldom & kOrigin) != 0);
    sample.flags = fields.take(last.flags, (seldom & kFlags) != 0);
  }
  return fields.position();
}

}  // namespace stackpack::app
