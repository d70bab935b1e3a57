#include "formats/perf/file_turns.h"

#include "io/buffered_reader.h"

namespace stackpack::perf {

namespace {

// READER_MAX_SIZE in tools/perf/util/session.c, and the record with which a turn is full.
constexpr std::uint64_t kTurnBytes = std::uint64_t{2} << 20;

}  // namespace

void FileTurns::add(io::ByteSource& source, std::uint64_t begin, std::uint64_t end, StreamKind kind,
                    std::uint32_t number) {
  files_.emplace_back(source, begin, end, number, kind, context_, converter_);
  offsets_ += begin;
}

Status FileTurns::run() {
  for (std::size_t left = files_.size(); left != 0;) {
    for (File& file : files_) {
      if (file.done) {
        continue;
      }
      if (const Status taken = take_turn(file); !taken) {
        Error error = taken.error();
        error.part = file.number;
        return error;
      }
      left -= file.done ? 1 : 0;
    }
  }
  return {};
}

// The buffer lives for the turn: there may be a file for each of a thousand processors.
Status FileTurns::take_turn(File& file) {
  context_.bytes_before = offsets_ - file.at;
  io::BufferedReader reader(file.source, file.at, file.end, io::BufferedReader::kDefaultCapacity);
  const Result<bool> done = file.stream.run(reader, kTurnBytes);
  offsets_ += reader.offset() - file.at;
  file.at = reader.offset();
  file.done = done && *done;
  return done ? Status() : done.error();
}

}  // namespace stackpack::perf
