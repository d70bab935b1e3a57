#include "formats/etl/system/kernel_tables.h"

#include <string>

#include "formats/etl/event/windows_text.h"

namespace stackpack::etl {

namespace {

enum RundownTypes : std::uint8_t { kStart = 1, kEnd = 2, kDcStart = 3, kDcEnd = 4, kDefunct = 39 };

struct ProcessFacts {
  std::uint32_t pid = kNoId;
  std::uint32_t parent = kNoId;
  std::string name;
  std::string command_line;
};

// v0: two pointer-sized ids. v1: page directory, ids, session, exit. v2: unique key in place of the
// page directory, command line. v3: page directory after the exit status. v4: flags. v5: the same
// for our purposes.
bool read_process(const EventView& event, ProcessFacts& facts) {
  bytes::ByteCursor in(event.payload, event.position);
  if (event.version == 0) {
    facts.pid = static_cast<std::uint32_t>(read_pointer(in, event.pointer_size));
    facts.parent = static_cast<std::uint32_t>(read_pointer(in, event.pointer_size));
  } else {
    read_pointer(in, event.pointer_size);
    facts.pid = in.read<std::uint32_t>();
    facts.parent = in.read<std::uint32_t>();
    in.skip(8);  // session, exit status
  }
  if (event.version >= 3) {
    read_pointer(in, event.pointer_size);
  }
  if (event.version >= 4) {
    in.skip(4);
  }
  if (!in.ok()) {
    return false;
  }
  skip_sid_block(in, event.pointer_size);
  if (!in.ok()) {
    return true;  // the ids are worth having without the names
  }
  facts.name = from_ansi(in.read_c_string());
  if (event.version >= 2) {
    facts.command_line = read_wide_text(in);
  }
  return true;
}

}  // namespace

void skip_sid_block(bytes::ByteCursor& in, std::uint8_t pointer_size) {
  constexpr std::uint8_t kMostAuthorities = 15;
  const std::span<const std::byte> rest = in.rest();
  bytes::ByteCursor look(rest, in.offset());
  const auto token_user = look.read<std::uint32_t>();
  look.seek(0);
  look.skip(std::uint64_t{2} * pointer_size);
  const auto revision = look.read<std::uint8_t>();
  const auto authorities = look.read<std::uint8_t>();
  const std::uint64_t sid_bytes = 8 + std::uint64_t{4} * authorities;
  const bool plausible = look.ok() && revision == 1 && authorities >= 1 &&
                         authorities <= kMostAuthorities && sid_bytes - 2 <= look.remaining();
  if (token_user == 0 && !plausible) {
    in.skip(4);
  } else {
    in.skip(std::uint64_t{2} * pointer_size + sid_bytes);
  }
}

void KernelTables::process_event(const EventView& event) {
  ProcessFacts facts;
  if (!read_process(event, facts)) {
    ++damaged_;
    return;
  }
  const std::uint64_t now = clock_.unix_ns(event.clock);
  Known process = known(facts.pid, kIsProcess);
  const bool mentioned = process.has(kMentioned);
  const bool alive = process.has(kAlive);
  if (event.type == kStart || event.type == kDcStart) {
    count(process, processes_);
  }
  process.flags |= kMentioned | kAlive;
  if (event.type == kEnd) {
    process.flags &= ~std::uint32_t{kAlive};
  }
  switch (event.type) {
    case kStart:
      system_.process_started(facts.pid, facts.parent, now, false);
      break;
    case kEnd:
      if (!mentioned) {
        system_.process_started(facts.pid, facts.parent, kUnknownTime, false);
        system_.process_named(facts.pid, kUnknownTime, facts.name, false);
        system_.process_command_line(facts.pid, kUnknownTime, facts.command_line);
      }
      system_.process_ended(facts.pid, now);
      known_.put(process);
      return;
    default:
      if (alive || (mentioned && event.type == kDefunct)) {
        process.flags = alive ? process.flags : process.flags & ~std::uint32_t{kAlive};
        known_.put(process);
        return;
      }
      system_.process_started(facts.pid, facts.parent, kUnknownTime, false);
      break;
  }
  const std::uint64_t since = event.type == kStart ? now : kUnknownTime;
  if (!facts.name.empty()) {
    system_.process_named(facts.pid, since, facts.name, false);
  }
  if (!facts.command_line.empty()) {
    system_.process_command_line(facts.pid, since, facts.command_line);
  }
  known_.put(process);
}

ThreadFacts KernelTables::thread_event(const EventView& event) {
  bytes::ByteCursor in(event.payload, event.position);
  ThreadFacts facts;
  const auto first = in.read<std::uint32_t>();
  const auto second = in.read<std::uint32_t>();
  if (!in.ok()) {
    ++damaged_;
    return {};
  }
  facts.pid = event.version == 0 ? second : first;
  facts.tid = event.version == 0 ? first : second;
  if (event.type == kStart || event.type == kDcStart) {
    Known counted = known(second, kIsThread);
    count(counted, threads_);
    known_.put(counted);
  }
  const std::uint64_t now = clock_.unix_ns(event.clock);
  Known thread = known(facts.tid, kIsThread);
  if (event.type == kEnd) {
    system_.thread_ended(facts.pid, facts.tid, now);
    thread.flags &= ~std::uint32_t{kAlive};
    known_.put(thread);
    return facts;
  }
  const std::uint64_t since = event.type == kStart ? now : kUnknownTime;
  if (event.type == kStart || !thread.has(kAlive) || thread.pid != facts.pid) {
    system_.thread_started(facts.pid, facts.tid, since);
    thread.flags |= kAlive;
    thread.pid = facts.pid;
    known_.put(thread);
    if (event.version >= 3) {
      in.skip(std::uint64_t{7} * event.pointer_size + 8);
      const std::string name = read_wide_text(in);
      if (in.ok() && !name.empty()) {
        system_.thread_named(facts.pid, facts.tid, since, name);
      }
    }
  }
  return facts;
}

void KernelTables::thread_name_event(const EventView& event) {
  bytes::ByteCursor in(event.payload, event.position);
  const auto pid = in.read<std::uint32_t>();
  const auto tid = in.read<std::uint32_t>();
  if (!in.ok()) {
    ++damaged_;
    return;
  }
  system_.thread_named(pid, tid, clock_.unix_ns(event.clock), read_wide_text(in));
}

void KernelTables::config_event(const EventView& event) {
  if (event.type != kCpuConfig) {
    return;
  }
  bytes::ByteCursor in(event.payload, event.position);
  in.skip(8);  // MHz, processors: the log file header has them
  const auto memory_mib = in.read<std::uint32_t>();
  in.skip(8);  // page size, allocation granularity
  if (!in.ok()) {
    ++damaged_;
    return;
  }
  system_.metadata("memory.total_kb", std::to_string(std::uint64_t{memory_mib} * 1024));
  bytes::ByteCursor name = in.sub(in.remaining() < 512 ? in.remaining() : 512);
  const std::string host = read_wide_text(name);
  if (!host.empty()) {
    system_.metadata("host.name", host);
  }
}

void KernelTables::interval_event(const EventView& event, EventKinds& kinds) {
  bytes::ByteCursor in(event.payload, event.position);
  const auto source = in.read<std::uint32_t>();
  const auto interval = in.read<std::uint32_t>();
  if (!in.ok()) {
    ++damaged_;
    return;
  }
  if (source == 0) {  // the timer; others are counters with names of their own
    system_.metadata("etl.sample_interval_100ns", std::to_string(interval));
    return;
  }
  in.skip(4);  // the interval before
  if (event.version < 3 || !in.ok() || source > 0xFFFF) {
    return;
  }
  if (std::string name = read_wide_text(in); !name.empty()) {
    kinds.name_counter(static_cast<std::uint16_t>(source), std::move(name));
  }
}

}  // namespace stackpack::etl
