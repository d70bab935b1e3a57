#include "app/spool_codec.h"

#include <array>
#include <span>

namespace stackpack::app {

namespace {

// Fields which repeat from sample to sample are written when they change.
enum ChangeBits : std::uint8_t {
  kChangedThread = 1,  // pid and tid
  kChangedCpu = 2,
  kChangedEvent = 4,
  kChangedWeight = 8,
  kChangedSegment = 16,
  kHasPromise = 32,
};

}  // namespace

void encode_spooled(const SpooledSample& sample, const SpooledSample& last, io::ByteWriter& out) {
  std::array<std::byte, kMaxSpooledBytes> bytes;  // filled before it is read
  std::size_t size = 0;
  const auto put_byte = [&](std::uint64_t value) { bytes[size++] = static_cast<std::byte>(value); };
  const auto put_varint = [&](std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      put_byte(value | 0x80);
    }
    put_byte(value);
  };

  std::uint8_t bits = 0;
  bits |= sample.pid != last.pid || sample.tid != last.tid ? kChangedThread : 0;
  bits |= sample.cpu != last.cpu ? kChangedCpu : 0;
  bits |= sample.event != last.event ? kChangedEvent : 0;
  bits |= sample.weight != last.weight ? kChangedWeight : 0;
  bits |= sample.segment != last.segment ? kChangedSegment : 0;
  bits |= sample.promise != SpooledSample::kNoPromise ? kHasPromise : 0;
  put_byte(bits);
  put_byte(static_cast<std::uint8_t>(sample.origin));
  put_byte(sample.flags);
  put_varint(sample.time_ns - last.time_ns);
  put_varint(sample.node);
  if ((bits & kChangedThread) != 0) {
    put_varint(sample.pid);
    put_varint(sample.tid);
  }
  if ((bits & kChangedCpu) != 0) {
    put_varint(sample.cpu);
  }
  if ((bits & kChangedEvent) != 0) {
    put_varint(sample.event);
  }
  if ((bits & kChangedWeight) != 0) {
    put_varint(sample.weight);
  }
  if ((bits & kChangedSegment) != 0) {
    put_varint(sample.segment);
  }
  if ((bits & kHasPromise) != 0) {
    put_varint(sample.promise);
  }
  out.write_bytes(std::span(bytes).first(size));
}

SpooledSample decode_spooled(io::ByteCursor& in, const SpooledSample& last) {
  const auto varint32 = [&in] { return static_cast<std::uint32_t>(in.read_varint()); };
  SpooledSample sample = last;
  const auto bits = in.read<std::uint8_t>();
  sample.origin = static_cast<StackOrigin>(in.read<std::uint8_t>());
  sample.flags = in.read<std::uint8_t>();
  sample.time_ns = last.time_ns + in.read_varint();
  sample.node = varint32();
  if ((bits & kChangedThread) != 0) {
    sample.pid = varint32();
    sample.tid = varint32();
  }
  if ((bits & kChangedCpu) != 0) {
    sample.cpu = varint32();
  }
  if ((bits & kChangedEvent) != 0) {
    sample.event = varint32();
  }
  if ((bits & kChangedWeight) != 0) {
    sample.weight = in.read_varint();
  }
  if ((bits & kChangedSegment) != 0) {
    sample.segment = static_cast<std::uint16_t>(in.read_varint());
  }
  sample.promise = (bits & kHasPromise) != 0 ? varint32() : SpooledSample::kNoPromise;
  return sample;
}

}  // namespace stackpack::app
