#include "spk/format/source_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "bytes/byte_cursor.h"
#include "bytes/byte_text.h"
#include "bytes/byte_writer.h"
#include "spk/format/layout.h"

namespace stackpack::spk {

namespace {

Error broken_source(std::string_view rule) {
  return {ErrorCode::kCorrupt, kNoOffset, rule};
}

std::string text_of_hash(const MergedSource::Hash& hash) {
  return std::string(bytes::text_of(hash));
}

bool take_hash(const std::string& text, MergedSource::Hash& hash) {
  if (text.size() != hash.size()) {
    return false;
  }
  const auto raw = std::as_bytes(std::span(text));
  std::copy(raw.begin(), raw.end(), hash.begin());
  return true;
}

std::string text_of_pids(std::span<const std::uint32_t> pids) {
  bytes::ByteWriter out;
  std::uint32_t last = 0;
  for (const std::uint32_t pid : pids) {
    out.write_varint(pid - last);
    last = pid;
  }
  return std::string(bytes::text_of(out.take()));
}

std::string text_of_losses(std::span<const LossCounter> losses) {
  bytes::ByteWriter out;
  for (const LossCounter& loss : losses) {
    out.write_varint(loss.name.size());
    out.write_bytes(std::as_bytes(std::span(loss.name)));
    out.write_varint(static_cast<std::uint64_t>(loss.kind));
    out.write_varint(loss.count);
  }
  return std::string(bytes::text_of(out.take()));
}

bool take_pids(std::string_view text, std::vector<std::uint32_t>& pids) {
  bytes::ByteCursor in(std::as_bytes(std::span(text)), 0);
  std::uint64_t pid = 0;
  while (in.remaining() != 0) {
    const std::uint64_t step = in.read_varint();
    if (!in.ok() || step > kMax32 - pid || (step == 0 && !pids.empty())) {
      return false;
    }
    pid += step;
    pids.push_back(static_cast<std::uint32_t>(pid));
  }
  return true;
}

bool take_losses(std::string_view text, std::vector<LossCounter>& losses) {
  bytes::ByteCursor in(std::as_bytes(std::span(text)), 0);
  while (in.remaining() != 0) {
    LossCounter loss;
    loss.name = std::string(bytes::text_of(in.read_bytes(in.read_varint())));
    const std::uint64_t kind = in.read_varint();
    loss.count = in.read_varint();
    if (!in.ok() || kind > static_cast<std::uint64_t>(LossKind::kNotice) ||
        (!losses.empty() && losses.back().name >= loss.name)) {
      return false;
    }
    loss.kind = static_cast<LossKind>(kind);
    losses.push_back(std::move(loss));
  }
  return true;
}

SourceRow row_of(const MergedSource& source) {
  SourceRow row;
  row.id = text_of_hash(source.id);
  row.names_hash = text_of_hash(source.names_hash);
  row.functions = source.functions;
  row.kind = source.kind;
  row.bytes = source.bytes;
  row.fingerprint = source.fingerprint;
  row.host = source.host;
  row.command_line = source.command_line;
  row.start_ns = source.start_ns;
  row.knows_wall_time = source.wall_offset_ns.has_value();
  row.wall_offset = static_cast<std::uint64_t>(source.wall_offset_ns.value_or(0));
  row.samples = source.samples;
  row.records = source.records;
  row.empty_chains = source.empty_chains;
  row.stack_dump_only = source.stack_dump_only;
  row.unwound = source.unwound;
  row.callstacks = source.callstacks;
  row.pids = text_of_pids(source.pids);
  row.losses = text_of_losses(source.losses);
  return row;
}

bool take_source(const SourceRow& row, MergedSource& source) {
  source.functions = row.functions;
  source.kind = row.kind;
  source.bytes = row.bytes;
  source.fingerprint = row.fingerprint;
  source.host = row.host;
  source.command_line = row.command_line;
  source.start_ns = row.start_ns;
  if (row.knows_wall_time) {
    source.wall_offset_ns = static_cast<std::int64_t>(row.wall_offset);
  }
  source.samples = row.samples;
  source.records = row.records;
  source.empty_chains = row.empty_chains;
  source.stack_dump_only = row.stack_dump_only;
  source.unwound = row.unwound;
  source.callstacks = row.callstacks;
  return take_hash(row.id, source.id) && take_hash(row.names_hash, source.names_hash) &&
         take_pids(row.pids, source.pids) && take_losses(row.losses, source.losses);
}

}  // namespace

std::vector<SourceRow> source_rows(std::span<const MergedSource> sources) {
  std::vector<SourceRow> rows;
  rows.reserve(sources.size());
  for (const MergedSource& source : sources) {
    rows.push_back(row_of(source));
  }
  return rows;
}

Result<std::vector<MergedSource>> sources_of(std::span<const SourceRow> rows) {
  std::vector<MergedSource> sources;
  std::uint64_t pids = 0;
  for (const SourceRow& row : rows) {
    MergedSource source;
    if (!take_source(row, source)) {
      return broken_source("spk: sources: a list is damaged");
    }
    pids += source.pids.size();
    if (pids >= kMax32) {
      return broken_source("spk: sources: too many processes");
    }
    if (!sources.empty() && std::tie(sources.back().start_ns, sources.back().id) >=
                                std::tie(source.start_ns, source.id)) {
      return broken_source("spk: sources are not in order");
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace stackpack::spk
