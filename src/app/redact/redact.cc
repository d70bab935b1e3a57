#include "app/redact/redact.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "app/convert/code_rows.h"
#include "app/symbolize/renamed_file.h"
#include "bytes/label_bytes.h"
#include "capture/value_kinds.h"
#include "core/guard.h"
#include "io/byte_source.h"
#include "io/directories.h"
#include "io/output_file.h"
#include "io/output_rules.h"
#include "query/name_pattern.h"
#include "query/selection/label_choice.h"
#include "spk/format/directory.h"
#include "spk/format/layout.h"
#include "spk/format/table_codec.h"
#include "spk/read/block_reader.h"
#include "spk/read/file_opener.h"
#include "spk/write/name_writer.h"
#include "spk/write/section_writer.h"
#include "spk/write/value_writer.h"
#include "stackpack/reader.h"

namespace stackpack::app {

namespace {

using spk::SectionKind;

constexpr int kRedactLevel = 9;
constexpr std::uint64_t kNumberBytes = std::uint64_t{4} << 20;

/// What is written in place of sections.
struct Redacted {
  capture::SystemTables tables;
  Names names;
  std::vector<std::string> value_texts;
  bool keeps_values = false;
  std::vector<ControlGroup> control_groups;
  std::vector<std::string> label_sets;
  RedactedCounts counts;
};

// Whether nothing but texts can be names of something: another kind or field may be called so.
bool are_known(std::span<const ValueSchema> kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [](const ValueSchema& kind) {
    const auto known = capture::value_kind_named(kind.name);
    if (!known) {
      return false;
    }
    const auto fields = capture::value_kinds()[static_cast<std::size_t>(*known)].fields;
    return std::equal(kind.fields.begin(), kind.fields.end(), fields.begin(), fields.end(),
                      [](const ValueField& a, const capture::ValueKindField& b) {
                        return a.name == b.name && a.type == b.type;
                      });
  });
}

Status redact_values(const Reader& reader, StandIns& stand_ins, Redacted& result) {
  const Result<std::vector<ValueSchema>> kinds = reader.event_value_kinds();
  Result<std::vector<std::string>> texts = reader.event_value_texts();
  if (!kinds || !texts) {
    return kinds ? Status(texts.error()) : Status(kinds.error());
  }
  result.keeps_values = are_known(*kinds);
  std::uint64_t rows = 0;
  const Status counted = reader.event_values([&rows](std::span<const EventValue> values) {
    rows += values.size();
    return true;
  });
  if (!counted) {
    return counted;
  }
  if (!result.keeps_values) {
    result.counts.values_dropped = rows;
    return {};
  }
  result.value_texts = std::move(*texts);
  for (std::string& text : result.value_texts) {
    result.counts.value_texts += text.empty() ? 0U : 1U;
    text = stand_ins.of("text", text);
  }
  return {};
}

// Keys stay, values get stand-ins, numbers as well.
Status redact_labels(const Reader& reader, StandIns& stand_ins, Redacted& result) {
  return reader.label_sets([&](std::span<const LabelSet> sets) {
    for (LabelSet set : sets) {
      for (Label& label : set) {
        label = {std::move(label.key),
                 LabelType::kText,
                 stand_ins.of("label", query::label_text(label)),
                 0,
                 {}};
      }
      bytes::write_labels(set, result.label_sets.emplace_back());
    }
    return true;
  });
}

Result<Redacted> redacted(const Reader& reader, const RedactOptions& options) {
  Redacted result;
  auto processes = reader.processes();
  auto threads = reader.threads();
  auto modules = reader.modules();
  auto metadata = reader.metadata();
  auto names = reader.names();
  const auto sources = reader.sources();
  auto groups = reader.control_groups();
  if (!groups) {
    return groups.error();
  }
  if (!processes || !threads || !modules || !metadata || !names || !sources) {
    return !processes  ? processes.error()
           : !threads  ? threads.error()
           : !modules  ? modules.error()
           : !metadata ? metadata.error()
           : !names    ? names.error()
                       : sources.error();
  }
  if (!sources->empty()) {
    return Error{ErrorCode::kUnsupported, kNoOffset,
                 "is a merged file; redact its captures before they are merged"};
  }
  const std::vector<bool> kept = kept_modules(*modules, options.kept_modules);
  result.tables = {
      std::move(*processes), std::move(*threads), std::move(*modules), std::move(*metadata), {}};
  StandIns stand_ins(options.key);
  if (const Status values = redact_values(reader, stand_ins, result); !values) {
    return values.error();
  }
  if (const Status labels = redact_labels(reader, stand_ins, result); !labels) {
    return labels.error();
  }
  redact_tables(result.tables, kept, stand_ins, result.counts);
  redact_control_groups(*groups, stand_ins);
  result.control_groups = std::move(*groups);
  const bool keeps_kernel = query::fits_any("[kernel.kallsyms]", options.kept_modules);
  result.names = redacted_names(*names, kept, keeps_kernel, stand_ins, result.counts);
  return result;
}

Status write_summary_without_fingerprint(const spk::SectionRecord& section,
                                         spk::BlockReader& blocks, spk::SectionWriter& sections) {
  spk::BlockReader::Lease scratch = blocks.borrow();
  const auto content = blocks.read(section.offset, section.blocks.front(), *scratch);
  if (!content) {
    return content.error();
  }
  const auto patched =
      with_fingerprint(*content, [](const std::string& /*before*/) { return std::string(); });
  if (!patched) {
    return patched.error();
  }
  spk::BlockContent block;
  block.bytes().write_bytes(*patched);
  sections.begin_section(SectionKind::kSummary);
  if (const auto record = sections.add_block(block); !record) {
    return record.error();
  }
  sections.end_section(1);
  return {};
}

// What stays byte by byte. All else is written anew or left out, also a kind that a later version
// adds: it may hold names. Texts of values are: paths of files, messages of exceptions, types.
constexpr std::array kCopied{
    SectionKind::kFrames,          SectionKind::kEdges,           SectionKind::kPages,
    SectionKind::kPageIndex,       SectionKind::kSamples,         SectionKind::kSampleIndex,
    SectionKind::kStackCounts,     SectionKind::kEvents,          SectionKind::kIntervals,
    SectionKind::kWaitReasons,     SectionKind::kBranchEdges,     SectionKind::kBranchRanges,
    SectionKind::kSampleFields,    SectionKind::kBranchEntries,   SectionKind::kBranchSuccessors,
    SectionKind::kBranchPages,     SectionKind::kBranchPageIndex, SectionKind::kCycleValues,
    SectionKind::kCycleSuccessors, SectionKind::kCyclePages,      SectionKind::kCyclePageIndex};

Status write_section(const spk::SectionRecord& section, const Redacted& redacted, bool has_names,
                     spk::BlockReader& blocks, spk::SectionWriter& sections) {
  const capture::SystemTables& tables = redacted.tables;
  switch (static_cast<SectionKind>(section.kind)) {
    case SectionKind::kProcesses:
      return spk::write_table(sections, SectionKind::kProcesses, std::span(tables.processes));
    case SectionKind::kThreads:
      return spk::write_table(sections, SectionKind::kThreads, std::span(tables.threads));
    case SectionKind::kModules:
      return spk::write_table(sections, SectionKind::kModules, std::span(tables.modules));
    case SectionKind::kMetadata:
      return spk::write_table(sections, SectionKind::kMetadata, std::span(tables.metadata));
    case SectionKind::kControlGroups:
      return spk::write_table(sections, SectionKind::kControlGroups,
                              std::span(redacted.control_groups));
    case SectionKind::kLabelSets: {
      spk::LabelSetWriter writer(sections);
      Status added;
      for (const std::string& set : redacted.label_sets) {
        added = added ? writer.add(set) : added;
      }
      return added ? writer.end() : added;
    }
    case SectionKind::kSummary: {
      if (has_names) {
        spk::NameWriter writer(sections, io::temporary_directory(), kNumberBytes);
        const Status added = write_rows(redacted.names, writer);
        if (const Status ended = added ? writer.end() : added; !ended) {
          return ended;
        }
      }
      return write_summary_without_fingerprint(section, blocks, sections);
    }
    case SectionKind::kEventValues:
    case SectionKind::kValueKinds:
      return redacted.keeps_values ? sections.copy_section(section, blocks.source()) : Status();
    case SectionKind::kValueTexts:
      return redacted.keeps_values ? spk::write_value_texts(redacted.value_texts, sections)
                                   : Status();
    default: {
      const bool stays = std::find(kCopied.begin(), kCopied.end(),
                                   static_cast<SectionKind>(section.kind)) != kCopied.end();
      return stays ? sections.copy_section(section, blocks.source()) : Status();
    }
  }
}

Status write_redacted(const std::string& input, const Redacted& redacted, io::OutputFile& out) {
  Result<std::unique_ptr<io::ByteSource>> source = io::open_source(input);
  if (!source) {
    return source.error();
  }
  spk::BlockReader blocks(std::move(*source));
  spk::OpenedFile file;
  if (const Status opened = spk::open_file(blocks, file); !opened) {
    return opened;
  }
  const auto& before = file.directory.sections;
  const bool has_names = std::any_of(before.begin(), before.end(), is_section_of_names);
  spk::SectionWriter sections(out, kRedactLevel);
  if (const Status begun = sections.begin_file(); !begun) {
    return begun;
  }
  for (const spk::SectionRecord& section : before) {
    if (const Status written = write_section(section, redacted, has_names, blocks, sections);
        !written) {
      return written;
    }
  }
  return sections.finish_file();
}

Error of_redacted_output(Error error) {
  error.part = kOutputPart;
  return error;
}

}  // namespace

Result<RedactedCounts> redact_file(const std::string& input, const std::string& output,
                                   const RedactOptions& options) {
  return core::guarded([&]() -> Result<RedactedCounts> {
    io::OutputRules rules;
    rules.force = options.force;
    rules.replaceable = spk::looks_like_spk;
    rules.refusal = "exists and is not a .spk file; option force replaces it";
    if (const Status noted = io::add_inputs(rules, std::span(&input, 1)); !noted) {
      return noted.error();
    }
    if (const Status allowed = io::check_output(output, rules); !allowed) {
      return of_redacted_output(allowed.error());
    }
    const Result<std::unique_ptr<Reader>> reader = Reader::open(input);
    if (!reader) {
      return reader.error();
    }
    // Most sections are copied as they are.
    if (const Status sound = (*reader)->verify(); !sound) {
      return sound.error();
    }
    const Result<Redacted> content = redacted(**reader, options);
    if (!content) {
      return content.error();
    }
    Result<std::unique_ptr<io::OutputFile>> out = io::OutputFile::create(output, rules);
    if (!out) {
      return of_redacted_output(out.error());
    }
    if (const Status written = write_redacted(input, *content, **out); !written) {
      return written.error();
    }
    if (const Status committed = (*out)->commit(); !committed) {
      return of_redacted_output(committed.error());
    }
    return content->counts;
  });
}

}  // namespace stackpack::app
