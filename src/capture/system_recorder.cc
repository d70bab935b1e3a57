#include "capture/system_recorder.h"

#include "capture/redaction.h"
#include "capture/system_replay.h"

namespace stackpack::capture {

namespace {

constexpr std::uint64_t kMapEntryBytes = 64;  // what a node of std::map costs besides its strings

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
