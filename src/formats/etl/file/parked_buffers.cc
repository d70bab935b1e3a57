#include "formats/etl/file/parked_buffers.h"

namespace stackpack::etl {

Status ParkedBuffers::park(std::size_t stream, const DecodedBuffer& buffer) {
  Place& place = places_[stream];
  place.in_scratch = buffer.header.compressed();
  if (!place.in_scratch) {
    place.offset = buffer.where.offset + kBufferHeaderBytes;
    return {};
  }
  if (buffer.event_bytes <= place.room) {
    place.offset = place.scratch;
    return scratch_.write_at(place.offset, buffer.events());
  }
  const Result<std::uint64_t> added = scratch_.append(buffer.events());
  if (!added) {
    return added.error();
  }
  place.scratch = *added;
  place.room = static_cast<std::uint32_t>(buffer.event_bytes);
  place.offset = place.scratch;
  return {};
}

Status ParkedBuffers::read(std::size_t stream, std::uint64_t begin,
                           std::span<std::byte> into) const {
  const Place& place = places_[stream];
  return place.in_scratch ? scratch_.read_at(place.offset + begin, into)
                          : io::read_exactly_at(input_, place.offset + begin, into, "etl: buffer");
}

}  // namespace stackpack::etl
