#include "app/symbolize/map_plans.h"

#include <optional>
#include <utility>

#include "io/byte_source.h"
#include "io/system_file.h"
#include "symbolize/linked_names.h"
#include "symbolize/maps/jitdump.h"
#include "symbolize/maps/kallsyms.h"
#include "symbolize/maps/perf_map.h"

namespace stackpack::app {

namespace {

using symbolize::NameCollector;
using symbolize::SymbolRequest;

// Owner, place and life of the rows are set where they are added.
Status name_by_kallsyms(int descriptor, const KernelReference& reference,
                        const SymbolRequest& request, NameCollector& names) {
  const auto source = io::source_of_descriptor(descriptor);
  const Result<symbolize::Kallsyms> symbols = symbolize::Kallsyms::read(*source, reference.symbol);
  if (!symbols) {
    return symbols.error();
  }
  std::uint64_t slide = 0;
  if (!reference.symbol.empty()) {
    const std::optional<std::uint64_t> listed = symbols->reference_address();
    if (!listed) {
      names.losses().kernel_not_placed = 1;
      return {};
    }
    slide = reference.address - *listed;
  }
  NameCollector linked;
  symbols->name(request, slide, {}, linked);
  symbolize::add_demangled(std::move(linked).finish(), request.limits, names);
  names.losses().functions_there = symbols->functions();
  return {};
}

Status name_by_jitdump(int descriptor, bool monotonic, const SymbolRequest& request,
                       NameCollector& names) {
  const auto source = io::source_of_descriptor(descriptor);
  const Result<symbolize::JitDump> dump = symbolize::JitDump::read(*source, request.addresses);
  if (!dump) {
    return dump.error();
  }
  dump->name(request, {}, monotonic && dump->has_times(), names);
  names.losses().functions_there = dump->counts().loads;
  return {};
}

Status name_by_perf_map(int descriptor, const SymbolRequest& request, NameCollector& names) {
  const auto source = io::source_of_descriptor(descriptor);
  const Result<symbolize::PerfMap> map = symbolize::PerfMap::read(*source);
  if (!map) {
    return map.error();
  }
  map->name(request, {}, names);
  names.losses().functions_there = map->lines();
  return {};
}

// A plan for one file that is there, still without its reader.
ReadPlan plan_file(const std::string& root, const std::string& path, std::string reason) {
  ReadPlan plan;
  Result<io::RootedFile> file = io::open_rooted_file(root, path);
  if (!file) {
    plan.reason =
        file.error().code == ErrorCode::kUnsupported ? "not a regular file" : std::move(reason);
    return plan;
  }
  plan.found = root + path;
  plan.bytes = file->bytes;
  plan.files.push_back(std::move(file->descriptor));
  return plan;
}

void read_as_jitdump(ReadPlan& plan, bool monotonic) {
  if (!plan.files.empty()) {
    plan.read = [descriptor = plan.files.front().get(), monotonic](const SymbolRequest& request,
                                                                   NameCollector& names) {
      return name_by_jitdump(descriptor, monotonic, request, names);
    };
  }
}

}  // namespace

ReadPlan plan_kallsyms(const std::string& path, const KernelReference& reference) {
  ReadPlan plan = plan_file("", path, "no such file");
  if (!plan.files.empty()) {
    plan.read = [descriptor = plan.files.front().get(), reference](const SymbolRequest& request,
                                                                   NameCollector& names) {
      return name_by_kallsyms(descriptor, reference, request, names);
    };
  }
  return plan;
}

Status check_kallsyms(const std::string& path) {
  const Result<std::optional<std::uint64_t>> read = kallsyms_address(path, "");
  return read ? Status() : Status(read.error());
}

Result<std::optional<std::uint64_t>> kallsyms_address(const std::string& path,
                                                      const std::string& symbol) {
  const Result<io::RootedFile> file = io::open_rooted_file("", path);
  if (!file) {
    return file.error();
  }
  const auto source = io::source_of_descriptor(file->descriptor.get());
  return symbolize::Kallsyms::find(*source, symbol);
}

ReadPlan plan_perf_map(const std::string& root, const std::string& path) {
  ReadPlan plan = plan_file(root, path, "no " + path);
  if (!plan.files.empty()) {
    plan.read = [descriptor = plan.files.front().get()](const SymbolRequest& request,
                                                        NameCollector& names) {
      return name_by_perf_map(descriptor, request, names);
    };
  }
  return plan;
}

ReadPlan plan_jitdump(const std::string& root, const std::string& path, bool monotonic) {
  ReadPlan plan = plan_file(root, path, "no jitdump file there");
  read_as_jitdump(plan, monotonic);
  return plan;
}

ReadPlan plan_run_time_code(const std::string& folder, std::uint32_t pid, bool monotonic) {
  const std::string number = std::to_string(pid);
  ReadPlan plan = plan_file("", folder + "/jit-" + number + ".dump", "");
  if (!plan.files.empty()) {
    read_as_jitdump(plan, monotonic);
    return plan;
  }
  plan = plan_perf_map("", folder + "/perf-" + number + ".map");
  if (plan.files.empty()) {
    plan.reason = "no jit-" + number + ".dump or perf-" + number + ".map";
  }
  return plan;
}

}  // namespace stackpack::app
