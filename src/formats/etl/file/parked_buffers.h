#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/etl/file/buffer_decoder.h"
#include "io/byte_source.h"
#include "io/spill_file.h"
#include "stackpack/result.h"

namespace stackpack::etl {

/// Decoded buffers of which only a part is in memory: on a machine of many processors one buffer of
/// each is open at a time. The events of a compressed buffer go to a scratch file; those of others
/// are in the trace.
class ParkedBuffers {
 public:
  /// `input` must outlive this. Streams are numbered from 0; each has one parked buffer at most.
  ParkedBuffers(io::ByteSource& input, std::size_t streams, std::string scratch_directory)
      : input_(input), places_(streams), scratch_(std::move(scratch_directory)) {}

  /// Keeps the events of `buffer`, so that its memory can be used for others. Errors: kIo.
  Status park(std::size_t stream, const DecodedBuffer& buffer);

  /// The events of the parked buffer from `begin` on, as many bytes as `into`; the buffer has them.
  /// Errors: kIo.
  Status read(std::size_t stream, std::uint64_t begin, std::span<std::byte> into) const;

 private:
  struct Place {
    std::uint64_t offset = 0;   // of the events, in the trace or in the scratch file
    std::uint64_t scratch = 0;  // the stream's room there
    std::uint32_t room = 0;
    bool in_scratch = false;
  };

  io::ByteSource& input_;
  std::vector<Place> places_;
  io::SpillFile scratch_;
};

}  // namespace stackpack::etl
