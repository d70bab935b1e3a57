#include "app/merge/merge_input.h"

#include <algorithm>
#include <array>
#include <utility>

#include "app/merge/source_set.h"
#include "bytes/byte_writer.h"
#include "bytes/hash.h"
#include "capture/source_identity.h"
#include "capture/synthetic_frames.h"
#include "io/byte_source.h"
#include "spk/format/layout.h"
#include "spk/read/block_reader.h"
#include "spk/read/file_opener.h"

namespace stackpack::app {

namespace {

bool is_any_of(const spk::SectionRecord& section, std::span<const spk::SectionKind> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&section](spk::SectionKind kind) {
    return section.kind == static_cast<std::uint32_t>(kind);
  });
}

// The checksums of blocks stand for the blocks, those of an index section for the blocks in it.
MergedSource::Hash hash_of_sections(const spk::Directory& directory, bool of_names) {
  constexpr std::array kSummary{spk::SectionKind::kSummary};
  bytes::ByteWriter text;
  for (const spk::SectionRecord& section : directory.sections) {
    if (is_any_of(section, spk::kNameSections) != of_names || is_any_of(section, kSummary)) {
      continue;
    }
    text.write(section.kind);
    text.write(section.items);
    text.write(section.raw_bytes);
    for (const spk::BlockRecord& block : section.blocks) {
      text.write(block.hash);
    }
  }
  return bytes::xxh3_128(text.bytes());
}

// Of an imported profile frames are numbers in the order of their names: the names are what it
// says, and two profiles of the same shape are not the same.
MergedSource::Hash with_names(const MergedSource::Hash& id, const MergedSource::Hash& names) {
  bytes::ByteWriter text;
  text.write_bytes(id);
  text.write_bytes(names);
  return bytes::xxh3_128(text.bytes());
}

// The file as its own source.
Result<MergedSource> whole_file(const std::string& path, const Reader& reader) {
  Result<std::unique_ptr<io::ByteSource>> file = io::open_source(path);
  if (!file) {
    return file.error();
  }
  spk::BlockReader blocks(std::move(*file));
  spk::OpenedFile opened;
  if (const Status status = spk::open_file(blocks, opened); !status) {
    return status.error();
  }
  const auto metadata = reader.metadata();
  const auto range = reader.time_range();
  if (!metadata) {
    return metadata.error();
  }
  if (!range) {
    return range.error();
  }
  const Statistics& statistics = reader.statistics();
  const SourceClock clock = SourceClock::of(*metadata);
  const spk::SectionRecord* const functions = opened.directory.find(spk::SectionKind::kFunctions);
  MergedSource source;
  const auto identity = capture::identity_of(*metadata);
  source.id = identity.value_or(hash_of_sections(opened.directory, false));
  source.names_hash = hash_of_sections(opened.directory, true);
  if (!identity && value_of(*metadata, capture::SyntheticFrames::kMetadataKey) == "1") {
    source.id = with_names(source.id, source.names_hash);
  }
  source.functions = functions == nullptr ? 0 : functions->items;
  source.kind = statistics.source_kind;
  source.fingerprint = opened.fingerprint;
  source.host = value_of(*metadata, "host.name");
  source.command_line = value_of(*metadata, "command_line");
  source.start_ns = *range ? clock.time((*range)->from_ns) : kUnknownTime;
  source.wall_offset_ns = clock.wall_offset_ns;
  take_figures(source, statistics);
  for (const LossCounter& loss : statistics.losses) {
    source.losses.push_back({loss.name, loss.kind, loss.count, kNoOffset});
  }
  return source;
}

}  // namespace

Result<MergeInput> MergeInput::open(const std::string& path, const ConvertOptions& options,
                                    ConvertProgress* progress) {
  Result<PackedFile> file = PackedFile::make(path, {options}, progress);
  if (!file) {
    return file.error();
  }
  MergeInput input;
  input.packed_ = std::move(*file);
  const Result<std::unique_ptr<Reader>> reader = input.reader();
  if (!reader) {
    return reader.error();
  }
  Result<std::vector<MergedSource>> sources = (*reader)->sources();
  if (!sources) {
    return sources.error();
  }
  input.sources_ = std::move(*sources);
  input.merged_ = !input.sources_.empty();
  if (!input.merged_) {
    Result<MergedSource> source = whole_file(input.packed_.path(), **reader);
    if (!source) {
      return source.error();
    }
    input.sources_.push_back(std::move(*source));
  }
  return input;
}

Result<std::unique_ptr<Reader>> MergeInput::reader() const {
  return Reader::open(packed_.path());
}

}  // namespace stackpack::app
