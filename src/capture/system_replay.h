#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "capture/system_facts.h"
#include "capture/system_tables.h"
#include "stackpack/model.h"

namespace stackpack::capture {

/// Plays the facts of a SystemRecorder back in time order and writes down the lives of processes,
/// threads and mappings. Facts without a time come first: they were true before the capture.
class SystemReplay {
 public:
  explicit SystemReplay(const SystemFacts& facts) : facts_(facts) {}

  SystemTables run();

 private:
  using Fact = SystemFacts::Fact;
  using ThreadKey = std::pair<std::uint32_t, std::uint32_t>;

  void play(const Fact& fact);
  void start_process(const Fact& fact);
  void name_process(const Fact& fact);
  void end_process(const Fact& fact);
  void start_thread(const Fact& fact);
  void name_thread(const Fact& fact);
  void map_module(const Fact& fact);
  void unmap_module(std::uint32_t pid, std::uint64_t base, std::uint64_t time_ns);
  void unmap_all(std::uint32_t pid, std::uint64_t time_ns);

  Process& process(std::uint32_t pid);
  Thread& thread(std::uint32_t pid, std::uint32_t tid);
  Process& begin_process(std::uint32_t pid, std::uint64_t time_ns);
  Thread& begin_thread(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  [[nodiscard]] std::string_view text(const Fact& fact) const;
  void identify_modules();
  void sort_tables();

  const SystemFacts& facts_;
  SystemTables tables_;
  std::map<std::uint32_t, std::size_t> current_process_;
  std::map<ThreadKey, std::size_t> current_thread_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::size_t>> mapped_;  // pid, base -> module
};

}  // namespace stackpack::capture
