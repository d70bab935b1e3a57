#include "capture/system_replay.h"

#include <numeric>
#include <tuple>

#include "capture/memory_name.h"
#include "core/sort_rows.h"

namespace stackpack::capture {

namespace {

// Times for ordering: what is unknown was so before everything known.
std::uint64_t order_of(std::uint64_t time_ns) {
  return time_ns == kUnknownTime ? 0 : time_ns;
}

std::uint64_t end_of(const Module& module) {
  const std::uint64_t end = module.base + module.size;
  return end < module.base ? ~std::uint64_t{0} : end;
}

bool same_mapping(const Module& a, const Module& b) {
  const bool other_file = a.file.inode != 0 && b.file.inode != 0 && a.file != b.file;
  return !other_file && a.base == b.base && a.size == b.size && a.file_offset == b.file_offset &&
         a.path == b.path;
}

// Memory without a file that lies within a mapping of a file holds a copy of it: programs copy
// their code over itself to have it in huge pages. The name of the memory stays as a mark.
Module copy_of(const Module& file, const Module& memory) {
  Module copy = file;
  copy.base = memory.base;
  copy.size = memory.size;
  copy.file_offset = file.file_offset + (memory.base - file.base);
  copy.start_ns = memory.start_ns;
  copy.end_ns = memory.end_ns;
  copy.debug_name = memory.path;
  return copy;
}

// How many mappings of one process may lie side by side within one of a file, or between two parts.
constexpr int kMostPieces = 64;

}  // namespace

SystemTables SystemReplay::run() {
  std::vector<std::uint32_t> order(facts_.facts.size());
  std::iota(order.begin(), order.end(), 0U);
  core::sort_rows(order, [&](std::uint32_t a, std::uint32_t b) {
    return order_of(facts_.facts[a].time_ns) < order_of(facts_.facts[b].time_ns);
  });
  for (const std::uint32_t index : order) {
    play(facts_.facts[index]);
  }
  identify_modules();
  for (const auto& [key, value] : facts_.metadata) {
    tables_.metadata.push_back({key, value});
  }
  sort_tables();
  return std::move(tables_);
}

void SystemReplay::play(const Fact& fact) {
  using Kind = SystemFacts::Kind;
  switch (fact.kind) {
    case Kind::kProcessStart:
      start_process(fact);
      break;
    case Kind::kThreadStart:
      start_thread(fact);
      break;
    case Kind::kProcessName:
      name_process(fact);
      break;
    case Kind::kThreadName:
      name_thread(fact);
      break;
    case Kind::kCommandLine:
      process(fact.pid).command_line = std::string(text(fact));
      break;
    case Kind::kMap:
      map_module(fact);
      break;
    case Kind::kUnmap:
      unmap_module(fact.pid, fact.payload, fact.time_ns);
      break;
    case Kind::kThreadEnd:
      thread(fact.pid, fact.other).end_ns = fact.time_ns;
      break;
    case Kind::kProcessEnd:
      end_process(fact);
      break;
  }
}

std::string_view SystemReplay::text(const Fact& fact) const {
  return facts_.texts[static_cast<std::size_t>(fact.payload)];
}

Process& SystemReplay::process(std::uint32_t pid) {
  const auto found = current_process_.find(pid);
  return found != current_process_.end() ? tables_.processes[found->second]
                                         : begin_process(pid, kUnknownTime);
}

Thread& SystemReplay::thread(std::uint32_t pid, std::uint32_t tid) {
  const auto found = current_thread_.find({pid, tid});
  return found != current_thread_.end() ? tables_.threads[found->second]
                                        : begin_thread(pid, tid, kUnknownTime);
}

Process& SystemReplay::begin_process(std::uint32_t pid, std::uint64_t time_ns) {
  const auto found = current_process_.find(pid);
  if (found != current_process_.end()) {
    Process& old = tables_.processes[found->second];
    if (old.end_ns == kUnknownTime) {
      old.end_ns = time_ns;
    }
  }
  current_process_[pid] = tables_.processes.size();
  Process& fresh = tables_.processes.emplace_back();
  fresh.pid = pid;
  fresh.start_ns = time_ns;
  return fresh;
}

Thread& SystemReplay::begin_thread(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns) {
  const auto found = current_thread_.find({pid, tid});
  if (found != current_thread_.end()) {
    Thread& old = tables_.threads[found->second];
    if (old.end_ns == kUnknownTime) {
      old.end_ns = time_ns;
    }
  }
  current_thread_[{pid, tid}] = tables_.threads.size();
  Thread& fresh = tables_.threads.emplace_back();
  fresh.pid = pid;
  fresh.tid = tid;
  fresh.start_ns = time_ns;
  return fresh;
}

void SystemReplay::start_process(const Fact& fact) {
  if (fact.time_ns == kUnknownTime) {
    process(fact.pid).parent_pid = fact.other;
    return;
  }
  const auto found = current_process_.find(fact.pid);
  if (found != current_process_.end() &&
      tables_.processes[found->second].start_ns == fact.time_ns) {
    return;  // came twice
  }
  const auto parent = fact.flag ? current_process_.find(fact.other) : current_process_.end();
  const std::string inherited =
      parent != current_process_.end() ? tables_.processes[parent->second].name : std::string();
  unmap_all(fact.pid, fact.time_ns);
  Process& fresh = begin_process(fact.pid, fact.time_ns);
  fresh.parent_pid = fact.other;
  fresh.inherits_mappings = fact.flag;
  fresh.name = inherited;
}

void SystemReplay::name_process(const Fact& fact) {
  Process* now = &process(fact.pid);
  if (fact.flag && fact.time_ns != kUnknownTime && now->start_ns != fact.time_ns) {
    const std::uint32_t parent = now->parent_pid;
    unmap_all(fact.pid, fact.time_ns);
    now = &begin_process(fact.pid, fact.time_ns);
    now->parent_pid = parent;
  } else if (fact.flag) {
    now->inherits_mappings = false;
  }
  now->name = std::string(text(fact));
}

void SystemReplay::end_process(const Fact& fact) {
  process(fact.pid).end_ns = fact.time_ns;
  unmap_all(fact.pid, fact.time_ns);
}

void SystemReplay::start_thread(const Fact& fact) {
  if (fact.time_ns == kUnknownTime) {
    thread(fact.pid, fact.other);
    return;
  }
  const auto found = current_thread_.find({fact.pid, fact.other});
  if (found != current_thread_.end() && tables_.threads[found->second].start_ns == fact.time_ns) {
    return;  // came twice
  }
  std::string inherited;
  if (fact.flag) {
    const auto creator = current_thread_.find(
        {static_cast<std::uint32_t>(fact.payload >> 32), static_cast<std::uint32_t>(fact.payload)});
    if (creator != current_thread_.end()) {
      inherited = tables_.threads[creator->second].name;
    }
  }
  begin_thread(fact.pid, fact.other, fact.time_ns).name = inherited;
}

void SystemReplay::name_thread(const Fact& fact) {
  Thread* now = &thread(fact.pid, fact.other);
  const std::string_view name = text(fact);
  if (now->name == name) {
    return;
  }
  const bool unnamed = now->name.empty() && now->start_ns == kUnknownTime;
  if (fact.time_ns != kUnknownTime && now->start_ns != fact.time_ns && !unnamed) {
    now = &begin_thread(fact.pid, fact.other, fact.time_ns);
  }
  now->name = std::string(name);
}

// `module`, or the copy of a file that it is.
Module SystemReplay::with_its_file(const Module& module) const {
  const auto of_pid = mapped_.find(module.pid);
  if (of_pid == mapped_.end() || !is_anonymous(module.path)) {
    return module;
  }
  const auto& mapped = of_pid->second;
  auto at = mapped.upper_bound(module.base);
  for (int i = 0; i < kMostPieces && at != mapped.begin(); ++i) {
    const Module& around = tables_.modules[(--at)->second];
    if (end_of(around) >= end_of(module) && !is_anonymous(around.path)) {
      return around.path.starts_with('[') ? module : copy_of(around, module);
    }
  }
  return module;
}

// What a list of mappings names in three: a part of a file, memory, and the part of the file that
// follows as much later.
void SystemReplay::join_parts_around(const Module& module) {
  const auto& mapped = mapped_[module.pid];
  std::vector<std::size_t> memory;
  std::uint64_t reached = module.base;
  auto at = mapped.lower_bound(module.base);
  for (int i = 0; i < kMostPieces && at != mapped.begin(); ++i) {
    const Module& before = tables_.modules[(--at)->second];
    if (end_of(before) != reached) {
      return;
    }
    reached = before.base;
    if (is_anonymous(before.path)) {
      memory.push_back(at->second);
      continue;
    }
    if (before.path == module.path &&
        before.file_offset + (module.base - before.base) == module.file_offset) {
      for (const std::size_t piece : memory) {
        tables_.modules[piece] = copy_of(before, tables_.modules[piece]);
      }
    }
    return;
  }
}

void SystemReplay::map_module(const Fact& fact) {
  const Module module = with_its_file(facts_.modules[static_cast<std::size_t>(fact.payload)]);
  if (!is_anonymous(module.path)) {
    join_parts_around(module);
  }
  auto& mapped = mapped_[module.pid];
  const std::uint64_t end = end_of(module);
  // What the new mapping covers wholly is gone. What it covers in part stays, and is found by
  // addresses outside the new mapping: a look-up takes the latest.
  for (auto old = mapped.lower_bound(module.base); old != mapped.end() && old->first < end;) {
    Module& covered = tables_.modules[old->second];
    if (same_mapping(covered, module)) {
      if (covered.build_id.empty()) {
        covered.build_id_kind = module.build_id_kind;
        covered.build_id = module.build_id;
      }
      if (covered.file.inode == 0) {
        covered.file = module.file;
      }
      return;  // came twice
    }
    if (end_of(covered) <= end) {
      covered.end_ns = fact.time_ns;
      old = mapped.erase(old);
    } else {
      ++old;
    }
  }
  mapped.insert_or_assign(module.base, tables_.modules.size());
  tables_.modules.push_back(module);
}

void SystemReplay::unmap_module(std::uint32_t pid, std::uint64_t base, std::uint64_t time_ns) {
  const auto of_pid = mapped_.find(pid);
  if (of_pid == mapped_.end()) {
    return;
  }
  const auto found = of_pid->second.find(base);
  if (found != of_pid->second.end()) {
    tables_.modules[found->second].end_ns = time_ns;
    of_pid->second.erase(found);
  }
}

void SystemReplay::unmap_all(std::uint32_t pid, std::uint64_t time_ns) {
  const auto of_pid = mapped_.find(pid);
  if (pid == kKernelPid || of_pid == mapped_.end()) {
    return;
  }
  for (const auto& [base, module] : of_pid->second) {
    tables_.modules[module].end_ns = time_ns;
  }
  mapped_.erase(of_pid);
}

void SystemReplay::identify_modules() {
  for (Module& module : tables_.modules) {
    if (!module.build_id.empty()) {
      module.file = {};
      continue;
    }
    const auto by_base = facts_.base_identities.find({module.pid, module.base});
    const auto by_path = facts_.path_identities.find(module.path);
    const SystemFacts::Identity* identity =
        by_base != facts_.base_identities.end()   ? &by_base->second
        : by_path != facts_.path_identities.end() ? &by_path->second
                                                  : nullptr;
    if (identity != nullptr) {
      module.build_id_kind = identity->kind;
      module.build_id = identity->build_id;
      module.debug_name = identity->debug_name.empty() ? module.debug_name : identity->debug_name;
      module.file = {};
    }
  }
}

void SystemReplay::sort_tables() {
  const auto by_life = [](const auto& row) {
    return std::tuple(order_of(row.start_ns), row.end_ns);
  };
  core::sort_rows(tables_.processes, [&](const Process& a, const Process& b) {
    return std::tuple(a.pid, by_life(a)) < std::tuple(b.pid, by_life(b));
  });
  core::sort_rows(tables_.threads, [&](const Thread& a, const Thread& b) {
    return std::tuple(a.pid, a.tid, by_life(a)) < std::tuple(b.pid, b.tid, by_life(b));
  });
  core::sort_rows(tables_.modules, [&](const Module& a, const Module& b) {
    return std::tuple(a.pid, a.base, by_life(a)) < std::tuple(b.pid, b.base, by_life(b));
  });
}

}  // namespace stackpack::capture
