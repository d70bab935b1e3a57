#include "formats/perf/capture_reader.h"

#include <algorithm>
#include <array>
#include <vector>

#include "formats/perf/features.h"
#include "formats/perf/file_turns.h"
#include "formats/perf/not_kept.h"
#include "formats/perf/perf_losses.h"
#include "formats/perf/record_scan.h"
#include "formats/perf/record_stream.h"
#include "formats/perf/simpleperf.h"
#include "io/buffered_reader.h"

namespace stackpack::perf {

namespace {

constexpr std::uint64_t kSectionEntryBytes = 16;
// Larger feature sections are not read: of the ones we use, none comes near.
constexpr const char* kSymbolFileCut = "perf: symbols: the file ends inside them";
constexpr std::uint64_t kMaxFeatureBytes = std::uint64_t{16} << 20;

bool lies_within(const FileSection& section, std::uint64_t bytes) {
  return section.offset <= bytes && section.size <= bytes - section.offset;
}

StreamKind kind_of(bool whole) {
  return whole ? StreamKind::kSection : StreamKind::kOpenSection;
}

Status status_of(const Result<bool>& done) {
  return done ? Status() : done.error();
}

// The part of `section` that exists in a file of this size.
FileSection clip(const FileSection& section, std::uint64_t bytes) {
  const std::uint64_t offset = std::min(section.offset, bytes);
  return {offset, std::min(section.size, bytes - offset)};
}

}  // namespace

Result<capture::ByteAccount> CaptureReader::run(Input& input) {
  capture::LossCounters& losses = context_.sink.losses();
  losses.add(loss::kRecorderLostEvents, LossKind::kRecorder, 0);
  losses.add(loss::kRecorderLostSamples, LossKind::kRecorder, 0);
  context_.sink.system().metadata("os.name", "Linux");

  io::ByteSource& main = *input.main;
  parts_ = input.parts;
  Status done;
  if (main.seekable()) {
    std::array<std::byte, kDetectBytes> head{};
    const Result<std::size_t> count = main.read_at(0, head);
    if (!count) {
      return count.error();
    }
    const FileMagic magic = read_magic(std::span(head).first(*count));
    done = magic.container == Container::kFile ? read_file(main, magic) : read_pipe(main);
  } else {
    done = read_pipe(main);
  }
  for (std::size_t i = 0; done && i < parts_.size(); ++i) {
    done = read_part(parts_[i]);
  }
  if (done) {
    done = converter_.finish();
  }
  if (const std::uint64_t forgotten = namespaces_.finish(context_.first_sample_ns);
      forgotten != 0) {
    context_.notice(loss::kNamespacesOverLimit, forgotten, kNoOffset);
  }
  if (!done) {
    return done.error();
  }
  return context_.account;
}

Status CaptureReader::read_pipe(io::ByteSource& source) {
  // One that can be read again is read from its beginning.
  io::BufferedReader reader =
      source.seekable()
          ? io::BufferedReader(source, 0, ~std::uint64_t{0}, io::BufferedReader::kDefaultCapacity)
          : io::BufferedReader(source);
  const auto head = reader.peek(kDetectBytes);
  if (!head) {
    return head.error();
  }
  const FileMagic magic = read_magic(head->first(std::min(head->size(), kDetectBytes)));
  switch (magic.container) {
    case Container::kNotPerf:
      return Error{ErrorCode::kCorrupt, 0, "perf: header: not a perf.data capture"};
    case Container::kFile:
      return Error{ErrorCode::kUnsupported, 0,
                   "perf: header: a capture in file mode cannot be read from a pipe"};
    case Container::kPipe:
      break;
  }
  context_.order = magic.order;
  context_.account.parsed += kPipeHeaderBytes;
  reader.consume(kPipeHeaderBytes);
  Status done = status_of(RecordStream(StreamKind::kPipe, context_, converter_).run(reader));
  context_.account.total = reader.offset();
  if (done && context_.attrs.rows().empty()) {
    return Error{ErrorCode::kTruncated, reader.offset(), "perf: pipe: no attribute in the stream"};
  }
  return done;
}

Status CaptureReader::read_file(io::ByteSource& source, const FileMagic& magic) {
  const Result<FileHeader> header = read_file_header(source, magic);
  if (!header) {
    return header.error();
  }
  context_.order = magic.order;
  file_bytes_ = source.size().value_or(0);
  context_.account.total = file_bytes_;
  sections_.parsed({0, header->header_size});
  Status done = read_attributes(source, *header);
  if (!done) {
    return done;
  }
  FileSection data = header->data;
  bool whole = true;
  if (data.size == 0) {
    context_.damage(loss::kDataSizeMissing, 1, 48);
    data.size = ~std::uint64_t{0};
    whole = false;
  } else if (!lies_within(data, file_bytes_)) {
    context_.damage(loss::kDataSectionCut, 1, file_bytes_);
    whole = false;
  } else {
    done = read_features(source, *header);
  }
  sections_.skipped(header->event_types, skip::kUnreadSections);
  data = clip(data, file_bytes_);
  if (done) {
    done = context_.attrs.without_times() && !parts_.empty() ? read_in_turns(source, data, whole)
                                                             : read_section(source, data, whole);
  }
  for (std::size_t i = 0; done && i < symbol_files_.size(); ++i) {
    done = read_symbol_files(source, symbol_files_[i].first, symbol_files_[i].second);
  }
  return done ? account_for_sections(source, data, whole) : done;
}

Status CaptureReader::account_for_sections(io::ByteSource& source, const FileSection& data,
                                           bool whole) {
  const bool sound = whole && context_.sink.losses().count(name_of(skip::kFeaturesDamaged)) == 0 &&
                     context_.sink.losses().count(loss::kRecordHeaderDamaged) == 0;
  const Result<SectionAccount::Unnamed> unnamed =
      sections_.finish(source, file_bytes_, data, sound, context_.account);
  if (!unnamed) {
    return unnamed.error();
  }
  if (unnamed->between != 0) {
    context_.damage(name_of(skip::kUnreferenced), unnamed->between, kNoOffset);
  }
  if (unnamed->trailing != 0) {
    context_.notice(name_of(skip::kTrailingBytes), unnamed->trailing, unnamed->trailing_at);
  }
  return {};
}

Status CaptureReader::read_attributes(io::ByteSource& source, const FileHeader& header) {
  if (header.attr_entry_size < kAttrMinBytes + kSectionEntryBytes ||
      header.attr_entry_size > kMaxRecordBytes) {
    return Error{ErrorCode::kCorrupt, 16, "perf: header: impossible size of an attribute"};
  }
  if (!lies_within(header.attrs, file_bytes_)) {
    return Error{ErrorCode::kCorrupt, 24, "perf: header: attribute section lies outside the file"};
  }
  const std::uint64_t count = header.attrs.size / header.attr_entry_size;
  if (count == 0) {
    return Error{ErrorCode::kCorrupt, 32, "perf: header: no attribute"};
  }
  sections_.parsed(header.attrs);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, AttrTable::kMaxRows); ++i) {
    const FileSection entry{header.attrs.offset + i * header.attr_entry_size,
                            header.attr_entry_size};
    Status done = read_attribute(source, entry);
    if (!done) {
      return done;
    }
  }
  if (count > AttrTable::kMaxRows) {
    context_.attrs.forbid_guessing();
    context_.damage(loss::kBadAttributes, count - AttrTable::kMaxRows, header.attrs.offset);
  }
  return {};
}

Status CaptureReader::read_attribute(io::ByteSource& source, const FileSection& entry) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(entry.size));
  const Status read =
      io::read_exactly_at(source, entry.offset, bytes, "perf: attribute: the file ends inside it");
  if (!read) {
    return read;
  }
  bytes::ByteCursor in(bytes, entry.offset, context_.order);
  const Result<Attr> attr = read_attr(in.sub(entry.size - kSectionEntryBytes));
  FileSection section;
  section.offset = in.read<std::uint64_t>();
  section.size = in.read<std::uint64_t>();
  if (!attr) {
    return attr.error();
  }
  std::vector<std::byte> ids;
  Status done = read_ids(source, section, ids);
  if (done &&
      !converter_.add_attribute(*attr, bytes::ByteCursor(ids, section.offset, context_.order))) {
    context_.damage(loss::kEventIdsMissing, 1, entry.offset);
  }
  return done;
}

Status CaptureReader::read_ids(io::ByteSource& source, const FileSection& section,
                               std::vector<std::byte>& ids) {
  const std::uint64_t room = std::uint64_t{context_.attrs.room_for_ids()} * 8;
  if (section.size == 0) {
    return {};
  }
  if (!lies_within(section, file_bytes_) || section.size > room) {
    context_.damage(loss::kEventIdsMissing, 1, section.offset);
    context_.attrs.forbid_guessing();
    return {};
  }
  sections_.parsed(section);
  ids.resize(static_cast<std::size_t>(section.size));
  return io::read_exactly_at(source, section.offset, ids, "perf: event ids: the file ends inside");
}

Status CaptureReader::read_features(io::ByteSource& source, const FileHeader& header) {
  const FileSection table{header.data.offset + header.data.size,
                          header.features.count() * kSectionEntryBytes};
  const FileSection present = clip(table, file_bytes_);
  sections_.feature_table(present);
  if (present.size < table.size) {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, file_bytes_);
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(present.size));
  const Status read = io::read_exactly_at(source, present.offset, bytes,
                                          "perf: feature table: the file ends inside it");
  if (!read) {
    return read;
  }
  bytes::ByteCursor in(bytes, present.offset, context_.order);
  for (std::uint32_t feature = 0; feature < kFeatureBits; ++feature) {
    if (!header.features[feature] || in.remaining() < kSectionEntryBytes) {
      continue;
    }
    FileSection section;
    section.offset = in.read<std::uint64_t>();
    section.size = in.read<std::uint64_t>();
    Status done = read_feature(source, feature, section);
    if (!done) {
      return done;
    }
  }
  return {};
}

Status CaptureReader::read_feature(io::ByteSource& source, std::uint32_t feature,
                                   const FileSection& section) {
  if (!lies_within(section, file_bytes_)) {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, section.offset);
    sections_.skipped(clip(section, file_bytes_), skip::kFeaturesDamaged);
    return {};
  }
  if (lists_symbol_files(feature)) {
    symbol_files_.push_back({feature, section});  // read when all mappings are known
    return {};
  }
  if (const std::string_view loss = feature_loss(feature); !loss.empty() && section.size != 0) {
    context_.notice(loss, 1, section.offset);
  }
  if (static_cast<Feature>(feature) == Feature::kTracingData && wants_formats(context_)) {
    if (const Status read = read_tracing_data(source, section); !read) {
      return read;
    }
  }
  if (!is_used_feature(feature) || section.size == 0) {
    sections_.skipped(section, skip::kUnreadSections);
    return {};
  }
  if (section.size > kMaxFeatureBytes) {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, section.offset);
    sections_.skipped(section, skip::kFeaturesDamaged);
    return {};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(section.size));
  const Status read =
      io::read_exactly_at(source, section.offset, bytes, "perf: feature: the file ends inside it");
  if (!read) {
    return read;
  }
  if (converter_.convert_feature(feature,
                                 bytes::ByteCursor(bytes, section.offset, context_.order))) {
    sections_.parsed(section);
  } else {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, section.offset);
    sections_.skipped(section, skip::kFeaturesDamaged);
  }
  return {};
}

// Nothing of it is kept; it says what samples of tracepoints mean.
Status CaptureReader::read_tracing_data(io::ByteSource& source, const FileSection& section) {
  if (section.size > kMaxFeatureBytes) {
    return {};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(section.size));
  const Status read = io::read_exactly_at(source, section.offset, bytes,
                                          "perf: formats of tracepoints: the file ends inside");
  if (read && !read_formats(context_, bytes::ByteCursor(bytes, section.offset, context_.order))) {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, section.offset);
  }
  return read;
}

// One file after the other, as a section may have the symbols of hundreds.
Status CaptureReader::read_symbol_files(io::ByteSource& source, std::uint32_t feature,
                                        const FileSection& section) {
  constexpr std::uint64_t kSizeBytes = 4;
  std::vector<std::byte> bytes;
  std::uint64_t at = 0;
  bool good = true;
  while (good && section.size - at >= kSizeBytes) {
    bytes.resize(kSizeBytes);
    const std::uint64_t offset = section.offset + at;
    if (const Status read = io::read_exactly_at(source, offset, bytes, kSymbolFileCut); !read) {
      return read;
    }
    const auto size = bytes::ByteCursor(bytes, offset, context_.order).read<std::uint32_t>();
    at += kSizeBytes;
    good = size <= section.size - at && size <= kMaxFeatureBytes;
    if (!good) {
      break;
    }
    bytes.resize(size);
    const std::uint64_t content = section.offset + at;
    if (const Status read = io::read_exactly_at(source, content, bytes, kSymbolFileCut); !read) {
      return read;
    }
    good =
        convert_symbol_file(feature, bytes::ByteCursor(bytes, content, context_.order), context_);
    at += size;
  }
  if (good && at == section.size) {
    sections_.parsed(section);
  } else {
    context_.damage(name_of(skip::kFeaturesDamaged), 1, section.offset);
    sections_.skipped(section, skip::kFeaturesDamaged);
  }
  return {};
}

Status CaptureReader::read_section(io::ByteSource& source, const FileSection& data, bool whole) {
  const std::uint64_t end = data.offset + data.size;
  std::uint64_t begin = data.offset;
  if (context_.without_samples || context_.unwinder != nullptr) {
    const Result<std::uint64_t> scanned = scan_records(source, begin, end, context_, converter_);
    if (!scanned) {
      return scanned.error();
    }
    begin = *scanned;
  }
  io::BufferedReader reader(source, begin, end, io::BufferedReader::kDefaultCapacity);
  return status_of(RecordStream(kind_of(whole), context_, converter_).run(reader));
}

// The main file's records, and those of the parts, which are then read.
Status CaptureReader::read_in_turns(io::ByteSource& source, const FileSection& data, bool whole) {
  FileTurns turns(context_, converter_);
  turns.add(source, data.offset, data.offset + data.size, kind_of(whole), kMainPart);
  for (const Input::Part& part : std::exchange(parts_, {})) {
    const std::uint64_t bytes = part.source->size().value_or(0);
    turns.add(*part.source, 0, bytes, kind_of(false), part.number);
    context_.account.total += bytes;
  }
  return turns.run();
}

Status CaptureReader::read_part(Input::Part& part) {
  const std::uint64_t bytes = part.source->size().value_or(0);
  context_.bytes_before = context_.account.total;
  context_.account.total += bytes;
  Status done = read_section(*part.source, {0, bytes}, false);
  if (!done) {
    Error error = done.error();
    error.part = part.number;
    return error;
  }
  return done;
}

}  // namespace stackpack::perf
