#include "formats/perf/perf_event_names.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

namespace stackpack::perf {

namespace {

// perf_event_attr.type, linux/perf_event.h.
enum class EventType : std::uint32_t {
  kHardware = 0,
  kSoftware = 1,
  kTracepoint = 2,
  kHardwareCache = 3,
  kRaw = 4,
  kBreakpoint = 5,
};

constexpr std::array<std::string_view, 10> kHardwareNames = {"cycles",
                                                             "instructions",
                                                             "cache-references",
                                                             "cache-misses",
                                                             "branches",
                                                             "branch-misses",
                                                             "bus-cycles",
                                                             "stalled-cycles-frontend",
                                                             "stalled-cycles-backend",
                                                             "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftwareNames = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
constexpr std::array<std::string_view, 7> kCacheNames = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                         "iTLB",      "branch",    "node"};
constexpr std::array<std::string_view, 3> kCacheOps = {"load", "store", "prefetch"};
constexpr std::array<std::string_view, 3> kCacheOpsPlural = {"loads", "stores", "prefetches"};

std::string number(std::uint64_t value, int base) {
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
  return {digits.data(), end};
}

std::string numbered(std::string_view kind, const Attr& attr) {
  std::string name(kind);
  name.append("-").append(number(attr.type, 10));
  return name.append("/config=0x").append(number(attr.config, 16)).append("/");
}

std::string table_name(std::span<const std::string_view> names, const Attr& attr) {
  const std::uint64_t index = attr.config & 0xffffffffU;  // above it: which kind of core
  return index < names.size() ? std::string(names[static_cast<std::size_t>(index)])
                              : numbered("type", attr);
}

std::string cache_name(const Attr& attr) {
  const std::uint64_t cache = attr.config & 0xff;
  const std::uint64_t op = (attr.config >> 8) & 0xff;
  const std::uint64_t result = (attr.config >> 16) & 0xff;
  if (cache >= kCacheNames.size() || op >= kCacheOps.size() || result > 1) {
    return numbered("type", attr);
  }
  std::string name(kCacheNames[static_cast<std::size_t>(cache)]);
  name += "-";
  name += result == 0 ? kCacheOpsPlural[static_cast<std::size_t>(op)]
                      : kCacheOps[static_cast<std::size_t>(op)];
  return result == 0 ? name : name + "-misses";
}

// As the perf tool prints them: which modes are counted, if not all; then the wanted precision.
std::string modifiers(const Attr& attr) {
  std::string text(1, ':');
  const bool some_excluded = attr.has_flag(attr_flag::kExcludeUser) ||
                             attr.has_flag(attr_flag::kExcludeKernel) ||
                             attr.has_flag(attr_flag::kExcludeHv);
  if (some_excluded) {
    text += attr.has_flag(attr_flag::kExcludeKernel) ? "" : "k";
    text += attr.has_flag(attr_flag::kExcludeUser) ? "" : "u";
    text += attr.has_flag(attr_flag::kExcludeHv) ? "" : "h";
  }
  text.append(attr.precise_ip, 'p');
  return text.size() > 1 ? text : std::string();
}

}  // namespace

std::string derive_event_name(const Attr& attr) {
  switch (static_cast<EventType>(attr.type)) {
    case EventType::kHardware:
      return table_name(kHardwareNames, attr) + modifiers(attr);
    case EventType::kSoftware:
      return table_name(kSoftwareNames, attr) + modifiers(attr);
    case EventType::kTracepoint:
      return std::string("tracepoint:").append(number(attr.config, 10));
    case EventType::kHardwareCache:
      return cache_name(attr) + modifiers(attr);
    case EventType::kRaw:
      return std::string("r").append(number(attr.config, 16)) + modifiers(attr);
    case EventType::kBreakpoint:
      return "breakpoint";
  }
  return numbered("pmu", attr) + modifiers(attr);
}

}  // namespace stackpack::perf
