// The files of a directory without times, in the order in which the perf tool reads them: some of
// each in turns. What a record means then depends on what was read before it, from whatever file.
//
// With times nobody needs this: the records of all files are put in order by them.
#pragma once

#include <cstdint>
#include <deque>

#include "formats/perf/capture_context.h"
#include "formats/perf/record_converter.h"
#include "formats/perf/record_stream.h"
#include "io/byte_source.h"
#include "stackpack/result.h"

namespace stackpack::perf {

class FileTurns {
 public:
  FileTurns(CaptureContext& context, RecordConverter& converter)
      : context_(context), converter_(converter) {}

  /// Appends the records from `begin` to `end` of a seekable source, which outlives this.
  /// `number`: of the file, for errors.
  void add(io::ByteSource& source, std::uint64_t begin, std::uint64_t end, StreamKind kind,
           std::uint32_t number);

  /// Converts the records of all files, as RecordStream::run(). Call once.
  /// Memory: one buffer, and the state of a decoder for each file with compressed records.
  Status run();

 private:
  struct File {
    File(io::ByteSource& bytes, std::uint64_t begin, std::uint64_t stop, std::uint32_t part,
         StreamKind kind, CaptureContext& context, RecordConverter& converter)
        : source(bytes), at(begin), end(stop), number(part), stream(kind, context, converter) {}

    io::ByteSource& source;
    std::uint64_t at;
    std::uint64_t end;
    std::uint32_t number;
    RecordStream stream;
    bool done = false;
  };

  Status take_turn(File& file);

  CaptureContext& context_;
  RecordConverter& converter_;
  std::deque<File> files_;
  std::uint64_t offsets_ = 0;  // the sum of File::at
};

}  // namespace stackpack::perf
