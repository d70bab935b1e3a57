#include <array>
#include <string>
#include <utility>
#include <vector>

#include "app/arrow/capture_tables.h"
#include "app/listing/listed_texts.h"
#include "bytes/byte_text.h"
#include "query/naming/build_id_text.h"
#include "query/selection/file_name.h"
#include "query/selection/pid_sources.h"

namespace stackpack::app {

namespace {

using arrow::Batch;
using arrow::ColumnType;
using arrow::Field;

enum FunctionField : std::size_t {
  kFunctionId,
  kFunctionName,
  kFunctionLinkage,
  kFunctionImage,
  kFunctionBuildId,
  kFunctionOwnerName,
  kFunctionPid,
  kFunctionModule,
  kFunctionStart,
  kFunctionSize,
  kFunctionBorn,
  kFunctionSourceName,
  kFunctionFile,
  kFunctionLine,
};
constexpr std::array<Field, 14> kFunctionFields{{
    {"id", ColumnType::kUInt32, false},
    {"name", ColumnType::kText, false},
    {"linkage", ColumnType::kText, true},
    {"image", ColumnType::kDictionary, true},
    {"build_id", ColumnType::kDictionary, true},
    {"owner", ColumnType::kDictionary, false},
    {"pid", ColumnType::kUInt32, true},
    {"module", ColumnType::kUInt32, true},
    {"start", ColumnType::kUInt64, false},
    {"size", ColumnType::kUInt64, false, "bytes"},
    {"born_ns", ColumnType::kUInt64, true, "ns"},
    {"named_by", ColumnType::kDictionary, false},
    {"file", ColumnType::kDictionary, true},
    {"line", ColumnType::kUInt32, true},
}};

constexpr std::array<Field, 11> kModuleFields{{
    {"id", ColumnType::kUInt32, false},
    {"pid", ColumnType::kUInt32, true},
    {"path", ColumnType::kDictionary, false},
    {"image", ColumnType::kDictionary, false},
    {"build_id", ColumnType::kDictionary, true},
    {"debug_name", ColumnType::kDictionary, true},
    {"base", ColumnType::kUInt64, false},
    {"size", ColumnType::kUInt64, false, "bytes"},
    {"file_offset", ColumnType::kUInt64, false, "bytes"},
    {"start_ns", ColumnType::kUInt64, true, "ns"},
    {"end_ns", ColumnType::kUInt64, true, "ns"},
}};

constexpr std::array<Field, 8> kProcessFields{{
    {"pid", ColumnType::kUInt32, true},
    {"parent_pid", ColumnType::kUInt32, true},
    {"start_ns", ColumnType::kUInt64, true, "ns"},
    {"end_ns", ColumnType::kUInt64, true, "ns"},
    {"name", ColumnType::kDictionary, false},
    {"command_line", ColumnType::kText, true},
    {"source", ColumnType::kUInt32, true},
    {"recorded_pid", ColumnType::kUInt32, true},
}};

constexpr std::array<Field, 6> kThreadFields{{
    {"pid", ColumnType::kUInt32, true},
    {"tid", ColumnType::kUInt32, true},
    {"start_ns", ColumnType::kUInt64, true, "ns"},
    {"end_ns", ColumnType::kUInt64, true, "ns"},
    {"name", ColumnType::kDictionary, false},
    {"source", ColumnType::kUInt32, true},
}};

constexpr std::array<Field, 4> kEventFields{{
    {"id", ColumnType::kUInt32, false},
    {"name", ColumnType::kText, false},
    {"has_weight", ColumnType::kBool, false},
    {"samples", ColumnType::kUInt64, false},
}};

enum SourceField : std::size_t {
  kSourceId,
  kSourceDigest,
  kSourceKindName,
  kSourceBytes,
  kSourceFingerprint,
  kSourceHost,
  kSourceCommand,
  kSourceStart,
  kSourceWallOffset,
  kSourceSamples,
  kSourceRecords,
  kSourceEmptyChains,
  kSourceStackDumpOnly,
  kSourceUnwound,
  kSourceCallstacks,
  kSourceFunctions,
};
constexpr std::array<Field, 16> kSourceFields{{
    {"id", ColumnType::kUInt32, false},
    {"digest", ColumnType::kText, true},
    {"kind", ColumnType::kDictionary, false},
    {"bytes", ColumnType::kUInt64, false, "bytes"},
    {"fingerprint", ColumnType::kText, true},
    {"host", ColumnType::kDictionary, true},
    {"command_line", ColumnType::kText, true},
    {"start_ns", ColumnType::kUInt64, true, "ns"},
    {"wall_offset_ns", ColumnType::kInt64, true, "ns"},
    {"samples", ColumnType::kUInt64, false},
    {"records", ColumnType::kUInt64, false},
    {"empty_chains", ColumnType::kUInt64, false},
    {"stack_dump_only", ColumnType::kUInt64, false},
    {"unwound", ColumnType::kUInt64, false},
    {"callstacks", ColumnType::kUInt64, false},
    {"functions", ColumnType::kUInt64, false},
}};

constexpr std::array<Field, 4> kLossFields{{
    {"name", ColumnType::kText, false},
    {"kind", ColumnType::kDictionary, false},
    {"count", ColumnType::kUInt64, false},
    {"first_offset", ColumnType::kUInt64, true, "bytes"},
}};

constexpr std::array<Field, 2> kMetadataFields{{
    {"key", ColumnType::kText, false},
    {"value", ColumnType::kText, false},
}};

std::string_view owner_name(FunctionOwner owner) {
  switch (owner) {
    case FunctionOwner::kProcess:
      return "process";
    case FunctionOwner::kKernel:
      return "kernel";
    case FunctionOwner::kImage:
      return "image";
  }
  return "process";
}

using View = query::CaptureView;

void put_function(Batch& batch, const View& view, std::size_t number, const Function& row) {
  const TextTable& texts = view.names.texts;
  const bool in_image = row.owner == FunctionOwner::kImage && row.module < view.modules.size();
  batch.put_number(kFunctionId, number);
  batch.put_text(kFunctionName, texts[row.name]);
  batch.put_text_or_null(kFunctionLinkage, texts[row.linkage == kNoText ? row.name : row.linkage]);
  if (in_image) {
    const Module& module = view.modules[row.module];
    batch.put_text_or_null(kFunctionImage, query::file_name_of(module));
    batch.put_text_or_null(kFunctionBuildId, query::build_id_text(module));
    batch.put_number(kFunctionModule, row.module);
  } else {
    batch.put_null(kFunctionImage);
    batch.put_null(kFunctionBuildId);
    batch.put_null(kFunctionModule);
  }
  batch.put_text(kFunctionOwnerName, owner_name(row.owner));
  batch.put_number(kFunctionPid, row.owner == FunctionOwner::kProcess ? row.pid : kKernelPid,
                   kKernelPid);
  batch.put_number(kFunctionStart, row.start);
  batch.put_number(kFunctionSize, row.size);
  batch.put_number(kFunctionBorn, row.born_ns, kUnknownTime);
  batch.put_text(kFunctionSourceName, source_name(row.source));
  batch.put_text_or_null(kFunctionFile, texts[row.file]);
  batch.put_number(kFunctionLine, row.line, 0);
}

void put_module(Batch& batch, std::size_t number, const Module& row) {
  std::size_t field = 0;
  batch.put_number(field++, number);
  batch.put_number(field++, row.pid, kKernelPid);
  batch.put_text(field++, row.path);
  batch.put_text(field++, query::file_name_of(row));
  batch.put_text_or_null(field++, query::build_id_text(row));
  batch.put_text_or_null(field++, row.debug_name);
  batch.put_number(field++, row.base);
  batch.put_number(field++, row.size);
  batch.put_number(field++, row.file_offset);
  batch.put_number(field++, row.start_ns, kUnknownTime);
  batch.put_number(field++, row.end_ns, kUnknownTime);
}

void put_process(Batch& batch, const query::PidSources& sources, const Process& row) {
  const query::PidSources::Origin origin = sources.of(row.pid);
  std::size_t field = 0;
  batch.put_number(field++, row.pid, kUnknownId);
  batch.put_number(field++, row.parent_pid, kUnknownId);
  batch.put_number(field++, row.start_ns, kUnknownTime);
  batch.put_number(field++, row.end_ns, kUnknownTime);
  batch.put_text(field++, row.name);
  batch.put_text_or_null(field++, row.command_line);
  batch.put_number(field++, origin.source, kUnknownId);
  batch.put_number(field++, origin.pid, kUnknownId);
}

void put_thread(Batch& batch, const query::PidSources& sources, const Thread& row) {
  std::size_t field = 0;
  batch.put_number(field++, row.pid, kUnknownId);
  batch.put_number(field++, row.tid, kUnknownId);
  batch.put_number(field++, row.start_ns, kUnknownTime);
  batch.put_number(field++, row.end_ns, kUnknownTime);
  batch.put_text(field++, row.name);
  batch.put_number(field++, sources.of(row.pid).source, kUnknownId);
}

// Empty for a capture that nothing identifies: it changed while it was read.
std::string digest_text(const MergedSource& source) {
  std::string text;
  if (source.id != MergedSource::Hash{}) {
    for (const std::byte byte : source.id) {
      bytes::append_hex(text, std::to_integer<std::uint64_t>(byte), 2);
    }
  }
  return text;
}

void put_source(Batch& batch, std::size_t number, const MergedSource& row) {
  batch.put_number(kSourceId, number);
  batch.put_text_or_null(kSourceDigest, digest_text(row));
  batch.put_text(kSourceKindName, row.kind);
  batch.put_number(kSourceBytes, row.bytes);
  batch.put_text_or_null(kSourceFingerprint, row.fingerprint);
  batch.put_text_or_null(kSourceHost, row.host);
  batch.put_text_or_null(kSourceCommand, row.command_line);
  batch.put_number(kSourceStart, row.start_ns, kUnknownTime);
  if (row.wall_offset_ns) {
    batch.put_number(kSourceWallOffset, static_cast<std::uint64_t>(*row.wall_offset_ns));
  } else {
    batch.put_null(kSourceWallOffset);
  }
  batch.put_number(kSourceSamples, row.samples);
  batch.put_number(kSourceRecords, row.records);
  batch.put_number(kSourceEmptyChains, row.empty_chains);
  batch.put_number(kSourceStackDumpOnly, row.stack_dump_only);
  batch.put_number(kSourceUnwound, row.unwound);
  batch.put_number(kSourceCallstacks, row.callstacks);
  batch.put_number(kSourceFunctions, row.functions);
}

// Rows of one of the view's tables: put(batch, view, row number, row).
template <typename Row, typename Put>
NextRows rows_of_view(const SharedTables& tables, std::uint32_t most, std::vector<Row> View::*table,
                      Put put) {
  return [tables, most, table, put, next = std::size_t{0}](Batch& batch) mutable -> Status {
    const auto view = tables->view();
    if (!view) {
      return view.error();
    }
    const std::vector<Row>& rows = (*view)->*table;
    for (; next < rows.size() && !batch.full(most); ++next) {
      put(batch, **view, next, rows[next]);
      batch.end_row();
    }
    return {};
  };
}

// The same with where processes come from: put(batch, sources, row).
template <typename Row, typename Put>
NextRows rows_of_sources(const SharedTables& tables, std::uint32_t most,
                         std::vector<Row> View::*table, Put put) {
  return [tables, most, table, put, next = std::size_t{0}](Batch& batch) mutable -> Status {
    const auto view = tables->view();
    const auto sources = tables->sources();
    if (!view || !sources) {
      return view ? Status(sources.error()) : Status(view.error());
    }
    const query::PidSources origins(**sources, (*view)->source_count != 0);
    const std::vector<Row>& all = (*view)->*table;
    for (; next < all.size() && !batch.full(most); ++next) {
      put(batch, origins, all[next]);
      batch.end_row();
    }
    return {};
  };
}

NextRows function_rows(const SharedTables& tables, std::uint32_t most) {
  return [tables, most, next = std::size_t{0}](Batch& batch) mutable -> Status {
    const auto view = tables->view();
    if (!view) {
      return view.error();
    }
    const std::vector<Function>& rows = (*view)->names.functions;
    for (; next < rows.size() && !batch.full(most); ++next) {
      put_function(batch, **view, next, rows[next]);
      batch.end_row();
    }
    return {};
  };
}

void put_event(Batch& batch, const View& view, std::size_t number, const Event& row) {
  batch.put_number(0, number);
  batch.put_text(1, row.name);
  batch.put_bool(2, row.has_weight);
  batch.put_number(3, number < view.event_samples.size() ? view.event_samples[number] : 0);
}

void put_loss(Batch& batch, const View&, std::size_t, const LossCounter& row) {
  batch.put_text(0, row.name);
  batch.put_text(1, loss_kind_name(row.kind));
  batch.put_number(2, row.count);
  batch.put_number(3, row.first_offset, ~std::uint64_t{0});
}

}  // namespace

std::span<const Field> system_fields(ArrowTable table) {
  switch (table) {
    case ArrowTable::kFunctions:
      return kFunctionFields;
    case ArrowTable::kModules:
      return kModuleFields;
    case ArrowTable::kProcesses:
      return kProcessFields;
    case ArrowTable::kThreads:
      return kThreadFields;
    case ArrowTable::kEvents:
      return kEventFields;
    case ArrowTable::kSources:
      return kSourceFields;
    case ArrowTable::kLosses:
      return kLossFields;
    default:
      return kMetadataFields;
  }
}

NextRows system_rows(const SharedTables& tables, ArrowTable table, const ArrowOptions& options) {
  const std::uint32_t most = options.batch_rows;
  switch (table) {
    case ArrowTable::kFunctions:
      return function_rows(tables, most);
    case ArrowTable::kModules:
      return rows_of_view(tables, most, &View::modules,
                          [](Batch& batch, const View&, std::size_t number, const Module& row) {
                            put_module(batch, number, row);
                          });
    case ArrowTable::kProcesses:
      return rows_of_sources(tables, most, &View::processes, put_process);
    case ArrowTable::kThreads:
      return rows_of_sources(tables, most, &View::threads, put_thread);
    case ArrowTable::kEvents:
      return rows_of_view(tables, most, &View::events, put_event);
    case ArrowTable::kSources:
      return rows_in_memory(
          most, [tables] { return tables->sources(); }, put_source);
    case ArrowTable::kLosses:
      return rows_of_view(tables, most, &View::losses, put_loss);
    default:
      return rows_of_view(tables, most, &View::metadata,
                          [](Batch& batch, const View&, std::size_t, const MetadataEntry& row) {
                            batch.put_text(0, row.key);
                            batch.put_text(1, row.value);
                          });
  }
}

}  // namespace stackpack::app
