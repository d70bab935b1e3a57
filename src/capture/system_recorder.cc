#include "capture/system_recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "capture/redaction.h"
#include "capture/system_replay.h"

namespace stackpack::capture {

namespace {

constexpr std::uint64_t kMapEntryBytes = 64;  // what a node of std::map costs besides its strings

// Which bytes of a process some image had at some time.
class ImageBytes {
 public:
  explicit ImageBytes(const std::vector<Module>& modules) {
    for (const Module& module : modules) {
      ranges_.push_back({module.pid, module.base, module.base + module.size});
    }
    std::sort(ranges_.begin(), ranges_.end());
    for (std::size_t i = 1; i < ranges_.size(); ++i) {  // ends as far as any image before reaches
      if (ranges_[i].pid == ranges_[i - 1].pid) {
        ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
      }
    }
  }

  [[nodiscard]] bool any(std::uint32_t pid, std::uint64_t base, std::uint64_t size) const {
    const auto after = std::lower_bound(ranges_.begin(), ranges_.end(), Range{pid, base + size, 0});
    return after != ranges_.begin() && std::prev(after)->pid == pid && std::prev(after)->end > base;
  }

 private:
  struct Range {
    std::uint32_t pid = 0;
    std::uint64_t base = 0;
    std::uint64_t end = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): a comparison with 0 that nobody wrote
    friend auto operator<=>(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges_;
};

// When processes began whose beginning was recorded. Of an id that several had: the unknown time,
// by which code is of none of them.
std::map<std::uint32_t, std::uint64_t> beginnings_of(const std::vector<SystemFacts::Fact>& facts) {
  std::map<std::uint32_t, std::uint64_t> beginnings;
  for (const SystemFacts::Fact& fact : facts) {
    if (fact.kind == SystemFacts::Kind::kProcessStart && fact.time_ns != kUnknownTime) {
      const auto [known, fresh] = beginnings.try_emplace(fact.pid, fact.time_ns);
      known->second = fresh || known->second == fact.time_ns ? fact.time_ns : kUnknownTime;
    }
  }
  return beginnings;
}

}  // namespace

bool SystemRecorder::reserve(std::uint64_t bytes) {
  if (bytes > memory_limit_ || memory_bytes_ > memory_limit_ - bytes) {
    ++forgotten_facts_;
    return false;
  }
  memory_bytes_ += bytes;
  return true;
}

void SystemRecorder::add(const SystemFacts::Fact& fact) {
  // Twice: a vector that grows holds its old and its new memory for a moment.
  if (reserve(2 * sizeof(SystemFacts::Fact))) {
    facts_.facts.push_back(fact);
  }
}

void SystemRecorder::add_with_text(SystemFacts::Fact fact, std::string_view text) {
  auto found = text_index_.find(text);
  if (found == text_index_.end()) {
    if (!reserve(text.size() + kMapEntryBytes + sizeof(std::string_view))) {
      return;
    }
    found = text_index_.emplace(std::string(text), facts_.texts.size()).first;
    facts_.texts.emplace_back(found->first);
  }
  fact.payload = found->second;
  add(fact);
}

void SystemRecorder::thread_started(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
  add({time_ns, 0, pid, tid, SystemFacts::Kind::kThreadStart, false});
}

void SystemRecorder::thread_started(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns,
                                    const Creator& creator) {
  const std::uint64_t both = (static_cast<std::uint64_t>(creator.pid) << 32) | creator.tid;
  add({time_ns, both, pid, tid, SystemFacts::Kind::kThreadStart, true});
}

void SystemRecorder::thread_ended(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
  add({time_ns, 0, pid, tid, SystemFacts::Kind::kThreadEnd, false});
}

void SystemRecorder::thread_named(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns,
                                  std::string_view name) {
  add_with_text({time_ns, 0, pid, tid, SystemFacts::Kind::kThreadName, false}, name);
}

void SystemRecorder::process_started(std::uint32_t pid, std::uint32_t parent_pid,
                                     std::uint64_t time_ns, bool forked) {
  add({time_ns, 0, pid, parent_pid, SystemFacts::Kind::kProcessStart, forked});
}

void SystemRecorder::process_ended(std::uint32_t pid, std::uint64_t time_ns) {
  add({time_ns, 0, pid, 0, SystemFacts::Kind::kProcessEnd, false});
}

void SystemRecorder::process_named(std::uint32_t pid, std::uint64_t time_ns, std::string_view name,
                                   bool exec) {
  add_with_text({time_ns, 0, pid, 0, SystemFacts::Kind::kProcessName, exec}, name);
}

void SystemRecorder::process_command_line(std::uint32_t pid, std::uint64_t time_ns,
                                          std::string_view text) {
  add_with_text({time_ns, 0, pid, 0, SystemFacts::Kind::kCommandLine, false}, text);
}

void SystemRecorder::module_mapped(const Module& module) {
  if (reserve(2 * (sizeof(Module) + module.path.size() + module.build_id.size()))) {
    facts_.modules.push_back(module);
    add({module.start_ns, facts_.modules.size() - 1, module.pid, 0, SystemFacts::Kind::kMap,
         false});
  }
}

void SystemRecorder::code_mapped(const Module& module) {
  const std::size_t paths = code_paths_.size();
  if (reserve(2 * sizeof(Code))) {
    code_.push_back({module.base, module.size, module.pid, code_paths_.intern(module.path)});
    memory_bytes_ += code_paths_.size() > paths ? module.path.size() + kMapEntryBytes : 0;
  }
}

void SystemRecorder::map_code(const Occurs& occurs) {
  if (code_.empty()) {
    return;
  }
  const ImageBytes images(facts_.modules);
  const std::map<std::uint32_t, std::uint64_t> beginnings = beginnings_of(facts_.facts);
  std::pair<std::uint32_t, std::uint64_t> taken;  // process, and up to where it has code
  Module module;
  for (const Code& code : code_) {
    const bool overlaps = (taken.first == code.pid && code.base < taken.second) ||
                          images.any(code.pid, code.base, code.size);
    // A return address may lie right after the last byte.
    if (!overlaps && code.size <= ~std::uint64_t{0} - code.base &&
        occurs(code.base, code.base + code.size)) {
      const auto began = beginnings.find(code.pid);
      module.start_ns = began == beginnings.end() ? kUnknownTime : began->second;
      module.pid = code.pid;
      module.base = code.base;
      module.size = code.size;
      module.path = code_paths_.text(code.path);
      module_mapped(module);
      taken = {code.pid, code.base + code.size};
    }
  }
  code_.clear();
}

void SystemRecorder::module_unmapped(std::uint32_t pid, std::uint64_t base, std::uint64_t time_ns) {
  add({time_ns, base, pid, 0, SystemFacts::Kind::kUnmap, false});
}

void SystemRecorder::build_id_of_path(std::string_view path, BuildIdKind kind,
                                      const std::vector<std::uint8_t>& build_id) {
  if (facts_.path_identities.find(path) == facts_.path_identities.end() &&
      reserve(path.size() + build_id.size() + kMapEntryBytes)) {
    facts_.path_identities.emplace(std::string(path), SystemFacts::Identity{kind, build_id, {}});
  }
}

void SystemRecorder::build_id_of_base(std::uint32_t pid, std::uint64_t base, BuildIdKind kind,
                                      const std::vector<std::uint8_t>& build_id,
                                      std::string_view debug_name) {
  if (facts_.base_identities.find({pid, base}) == facts_.base_identities.end() &&
      reserve(build_id.size() + debug_name.size() + kMapEntryBytes)) {
    facts_.base_identities.emplace(std::pair(pid, base),
                                   SystemFacts::Identity{kind, build_id, std::string(debug_name)});
  }
}

void SystemRecorder::metadata(std::string_view key, std::string_view value) {
  if (reserve(key.size() + value.size() + kMapEntryBytes)) {
    facts_.metadata.insert_or_assign(std::string(key), std::string(value));
  }
}

std::uint64_t SystemRecorder::memory_bytes() const {
  return memory_bytes_;
}

SystemTables SystemRecorder::finish() const {
  SystemTables tables = SystemReplay(facts_).run();
  if (redacts_) {
    redact(tables);
  }
  return tables;
}

}  // namespace stackpack::capture
