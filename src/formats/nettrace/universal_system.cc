#include "formats/nettrace/universal_system.h"

#include <algorithm>

#include "bytes/byte_text.h"
#include "bytes/utf8.h"
#include "formats/nettrace/nettrace_losses.h"
#include "formats/nettrace/varints.h"

namespace stackpack::nettrace {

namespace {

// The build id in the JSON text about a file: "build_id": "HEX".
std::vector<std::uint8_t> build_id_in(std::string_view json) {
  constexpr std::string_view kKey = "\"build_id\"";
  std::vector<std::uint8_t> id;
  const std::size_t key = json.find(kKey);
  const std::size_t begin = key == std::string_view::npos ? key : json.find('"', key + kKey.size());
  const std::size_t end = begin == std::string_view::npos ? begin : json.find('"', begin + 1);
  if (end == std::string_view::npos) {
    return id;
  }
  const std::string_view digits = json.substr(begin + 1, end - begin - 1);
  constexpr std::size_t kMostDigits = 64;
  if (digits.size() % 2 != 0 || digits.size() > kMostDigits) {
    return id;
  }
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = bytes::kLowerHex.find(digits[i]);
    const std::size_t low = bytes::kLowerHex.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) {
      return {};
    }
    id.push_back(static_cast<std::uint8_t>(high << 4 | low));
  }
  return id;
}

}  // namespace

bool UniversalSystem::event(const EventMetadata& metadata, std::uint32_t pid, std::uint64_t ticks,
                            bytes::ByteCursor payload) {
  if (metadata.name == "ProcessSymbol") {
    return symbol(ticks, payload);
  }
  if (metadata.name == "ProcessMapping") {
    return mapping(metadata, pid, ticks, payload);
  }
  if (metadata.name == "ProcessMappingMetadata") {
    return mapping_metadata(payload);
  }
  if (metadata.name == "ExistingProcess" || metadata.name == "ProcessCreate") {
    return process(pid, payload);
  }
  if (metadata.name == "ProcessExit") {
    system_.process_ended(pid, header_.unix_ns(ticks));
  }
  return true;
}

// Names and mappings of a process may have the time at which the recording began, before the
// process was made. So its life has no beginning.
bool UniversalSystem::process(std::uint32_t pid, bytes::ByteCursor& in) {
  in.read_varint();  // the pid in a container
  const std::string_view name = read_short_text(in);
  if (!in.ok()) {
    return false;
  }
  system_.process_started(pid, kUnknownId, kUnknownTime, false);
  system_.process_named(pid, kUnknownTime, bytes::valid_utf8(name), false);
  return true;
}

bool UniversalSystem::mapping(const EventMetadata& metadata, std::uint32_t pid, std::uint64_t ticks,
                              bytes::ByteCursor& in) {
  const std::uint64_t id = in.read_varint();
  if (metadata.has_process_id) {
    pid = static_cast<std::uint32_t>(in.read_varint());
  }
  Module module;
  module.base = in.read_varint();
  const std::uint64_t end = in.read_varint();
  module.file_offset = in.read_varint();
  module.path = bytes::valid_utf8(read_short_text(in));
  const std::uint64_t about = in.read_varint();
  if (!in.ok()) {
    return false;
  }
  if (!add_owner(id, pid)) {
    losses_.add(loss::kSymbolsOverLimit, LossKind::kDamage, 1, in.offset());
    return true;
  }
  if (end <= module.base) {
    return true;
  }
  module.size = end - module.base;
  module.pid = pid;
  module.start_ns = ticks > static_cast<std::uint64_t>(header_.sync_ticks) ? header_.unix_ns(ticks)
                                                                           : kUnknownTime;
  if (module.base >= kFirstKernelAddress && header_.pointer_size == 8) {
    if (module.path.starts_with('[') || module.path == kernel_path_) {
      return true;  // [vsyscall] lies within the kernel; each process has the kernel once more
    }
    kernel_path_ = module.path;
    module.pid = kKernelPid;
    module.start_ns = kUnknownTime;
  }
  if (const auto known = build_ids_.find(about); known != build_ids_.end()) {
    module.build_id_kind = BuildIdKind::kGnu;
    module.build_id = known->second;
  } else if (about != 0) {
    paths_[about].push_back(module.path);
  }
  system_.module_mapped(module);
  return true;
}

// False: there are too many mappings, or too many processes share this one.
bool UniversalSystem::add_owner(std::uint64_t mapping, std::uint32_t pid) {
  constexpr std::size_t kMostOwners = 64;
  const auto known = owners_.find(mapping);
  if (known == owners_.end()) {
    return owners_.size() < kMostMappings && owners_.emplace(mapping, std::vector{pid}).second;
  }
  std::vector<std::uint32_t>& owners = known->second;
  if (std::find(owners.begin(), owners.end(), pid) == owners.end()) {
    if (owners.size() >= kMostOwners) {
      return false;
    }
    owners.push_back(pid);
  }
  return true;
}

bool UniversalSystem::symbol(std::uint64_t ticks, bytes::ByteCursor& in) {
  Symbol symbol;
  in.read_varint();
  symbol.mapping = in.read_varint();
  symbol.start = in.read_varint();
  symbol.end = in.read_varint();
  symbol.name = bytes::valid_utf8(read_short_text(in));
  symbol.ticks = ticks;
  if (!in.ok()) {
    return false;
  }
  // Without the right to see its symbols a kernel gives them all the same place.
  constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 63) - 1;
  if (symbol.end < symbol.start || symbol.end - symbol.start >= kMostBytes) {
    losses_.add(loss::kSymbolsRefused, LossKind::kNotice, 1, in.offset());
    return true;
  }
  const auto owners = owners_.find(symbol.mapping);
  if (owners == owners_.end()) {
    if (early_.size() >= kMostSymbols) {
      losses_.add(loss::kSymbolsOverLimit, LossKind::kDamage, 1, in.offset());
    } else {
      early_.push_back(std::move(symbol));
    }
    return true;
  }
  for (const std::uint32_t pid : owners->second) {
    add_symbol(symbol, pid);
  }
  return true;
}

// Of several with one start the first has its bytes, and others what they have beyond.
void UniversalSystem::add_symbol(const Symbol& symbol, std::uint32_t pid) {
  const bool of_kernel = symbol.start >= kFirstKernelAddress && header_.pointer_size == 8;
  const auto key = std::pair(pid, symbol.start);
  std::uint64_t start = symbol.start;
  const auto known = ends_.find(key);
  if (known != ends_.end()) {
    if (known->second >= symbol.end) {
      return;
    }
    start = known->second + 1;
    known->second = symbol.end;
  } else if (ends_.size() < kMostSymbols) {
    ends_.emplace(key, symbol.end);
  }
  capture::FunctionFact fact;
  fact.owner = FunctionOwner::kProcess;  // of the kernel, too: each process has what it hit
  fact.pid = pid;
  fact.start = start;
  fact.size = symbol.end - start + 1;
  fact.news = capture::FunctionNews::kExists;
  fact.time_ns = header_.unix_ns(symbol.ticks);
  fact.source = of_kernel ? FunctionSource::kKallsyms : FunctionSource::kSymtab;
  fact.name = symbol.name;
  system_.functions().add(fact);
}

bool UniversalSystem::mapping_metadata(bytes::ByteCursor& in) {
  const std::uint64_t id = in.read_varint();
  const std::string_view json = read_short_text(in);
  read_short_text(in);  // about the version
  if (!in.ok()) {
    return false;
  }
  std::vector<std::uint8_t> build_id = build_id_in(json);
  if (build_id.empty() || build_ids_.size() >= kMostMappings) {
    return true;
  }
  if (const auto waiting = paths_.find(id); waiting != paths_.end()) {
    for (const std::string& path : waiting->second) {
      system_.build_id_of_path(path, BuildIdKind::kGnu, build_id);
    }
    paths_.erase(waiting);
  }
  build_ids_.insert_or_assign(id, std::move(build_id));
  return true;
}

void UniversalSystem::finish() {
  for (const Symbol& symbol : early_) {
    const auto owners = owners_.find(symbol.mapping);
    if (owners == owners_.end()) {
      losses_.add(loss::kSymbolsRefused, LossKind::kNotice, 1);
      continue;
    }
    for (const std::uint32_t pid : owners->second) {
      add_symbol(symbol, pid);
    }
  }
  early_.clear();
}

}  // namespace stackpack::nettrace
