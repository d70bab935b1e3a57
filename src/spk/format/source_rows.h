#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/result.h"
#include "stackpack/sources.h"

namespace stackpack::spk {

/// A MergedSource as the table of sources has it: lists are texts. docs/format.md, section 6.
struct SourceRow {
  std::string id;
  std::string names_hash;
  std::uint64_t functions = 0;
  std::string kind;
  std::uint64_t bytes = 0;
  std::string fingerprint;
  std::string host;
  std::string command_line;
  std::uint64_t start_ns = kUnknownTime;
  bool knows_wall_time = false;
  std::uint64_t wall_offset = 0;  ///< modulo 2^64
  std::uint64_t samples = 0;
  std::uint64_t records = 0;
  std::uint64_t empty_chains = 0;
  std::uint64_t stack_dump_only = 0;
  std::uint64_t unwound = 0;
  std::uint64_t callstacks = 0;
  std::string pids;
  std::string losses;
};

std::vector<SourceRow> source_rows(std::span<const MergedSource> sources);

/// Errors: kCorrupt when a list is damaged, or ids and pids do not ascend.
Result<std::vector<MergedSource>> sources_of(std::span<const SourceRow> rows);

}  // namespace stackpack::spk
