#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/system_tables.h"
#include "stackpack/model.h"

namespace stackpack::capture {

/// What a source said about processes, threads and images, as it came.
struct SystemFacts {
  enum class Kind : std::uint8_t {
    kProcessStart,
    kThreadStart,
    kProcessName,
    kThreadName,
    kCommandLine,
    kMap,
    kUnmap,
    kThreadEnd,
    kProcessEnd,
  };
  struct Fact {
    std::uint64_t time_ns = kUnknownTime;
    std::uint64_t payload = 0;  ///< number of a text or module; base; creator's pid and tid
    std::uint32_t pid = kUnknownId;
    std::uint32_t other = 0;  ///< tid, or parent pid
    Kind kind = Kind::kProcessStart;
    bool flag = false;  ///< forked, exec, or: has a creator
  };
  struct Identity {
    BuildIdKind kind = BuildIdKind::kNone;
    std::vector<std::uint8_t> build_id;
    std::string debug_name;
  };

  std::vector<Fact> facts;
  std::vector<std::string_view> texts;  ///< owned by the recorder
  std::vector<Module> modules;
  std::map<std::string, Identity, std::less<>> path_identities;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Identity> base_identities;  ///< by pid and base
  std::map<std::string, std::string, std::less<>> metadata;
};

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
  [[nodiscard]] Module with_its_file(const Module& module) const;
  void join_parts_around(const Module& module);
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
