#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/function_recorder.h"
#include "capture/system_replay.h"
#include "capture/system_tables.h"
#include "core/string_table.h"
#include "stackpack/model.h"

namespace stackpack::capture {

/// Collects facts about processes, threads and mapped images, in any time order, and makes the
/// tables of them. Facts given twice (rundown and live) become one entry.
///
/// Memory: proportional to the number of distinct facts, up to a limit; facts beyond it are counted
/// and forgotten.
class SystemRecorder {
 public:
  static constexpr std::uint64_t kDefaultMemoryLimit = std::uint64_t{256} << 20;

  void set_memory_limit(std::uint64_t bytes) { memory_limit_ = bytes; }

  /// Whether finish() leaves out who recorded the capture and where (redaction.h).
  void set_redaction(bool redacts) {
    redacts_ = redacts;
    functions_.set_redaction(redacts);
  }

  /// Facts that came after the memory limit was reached.
  [[nodiscard]] std::uint64_t forgotten_facts() const { return forgotten_facts_; }

  /// A thread exists, or was started at `time_ns` (kUnknownTime: existed before the capture).
  /// A `creator` gives it its name of that time (Linux).
  struct Creator {
    std::uint32_t pid = kUnknownId;
    std::uint32_t tid = kUnknownId;
  };
  void thread_started(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  void thread_started(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns,
                      const Creator& creator);
  void thread_ended(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns);
  /// Another name than before ends one entry of the thread table and begins the next.
  void thread_named(std::uint32_t pid, std::uint32_t tid, std::uint64_t time_ns,
                    std::string_view name);

  /// A process exists (time unknown) or was created. `forked`: it inherits the parent's name and
  /// mappings of that time (Linux); a Windows process does not.
  void process_started(std::uint32_t pid, std::uint32_t parent_pid, std::uint64_t time_ns,
                       bool forked);
  void process_ended(std::uint32_t pid, std::uint64_t time_ns);
  /// `exec`: the mappings which the process had before this time are gone.
  void process_named(std::uint32_t pid, std::uint64_t time_ns, std::string_view name, bool exec);
  void process_command_line(std::uint32_t pid, std::uint64_t time_ns, std::string_view text);

  /// An image was mapped at module.start_ns (kUnknownTime: before the capture). A later mapping of
  /// the same process which overlaps it ends it, wholly or in part.
  void module_mapped(const Module& module);
  void module_unmapped(std::uint32_t pid, std::uint64_t base, std::uint64_t time_ns);
  /// Code of `module` lies there, which is a mapping if a callstack has an address of it. In the
  /// order of processes and addresses; code that overlaps an earlier mapping of this kind is none.
  void code_mapped(const Module& module);
  /// Whether a callstack may have an address from `first` to `last`, both inclusive.
  using Occurs = std::function<bool(std::uint64_t first, std::uint64_t last)>;
  /// Maps the code that occurs. Once, before finish().
  void map_code(const Occurs& occurs);

  /// Gives every module with that path (and no build id of its own) this identity.
  void build_id_of_path(std::string_view path, BuildIdKind kind,
                        const std::vector<std::uint8_t>& build_id);
  /// Gives the module at (pid, base) an identity (PDB records of ETW).
  void build_id_of_base(std::uint32_t pid, std::uint64_t base, BuildIdKind kind,
                        const std::vector<std::uint8_t>& build_id, std::string_view debug_name);

  /// Sets a fact about the capture; an existing key is replaced.
  void metadata(std::string_view key, std::string_view value);

  /// Functions that the capture names itself. They have memory of their own.
  [[nodiscard]] FunctionRecorder& functions() { return functions_; }

  [[nodiscard]] std::uint64_t memory_bytes() const;

  /// The tables. Deterministic: they depend on the facts, not on the order of equal-time facts that
  /// do not contradict each other.
  [[nodiscard]] SystemTables finish() const;

 private:
  /// Whether `bytes` more may be kept; counts them, or the forgotten fact.
  bool reserve(std::uint64_t bytes);
  void add(const SystemFacts::Fact& fact);
  void add_with_text(SystemFacts::Fact fact, std::string_view text);

  struct Code {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint32_t pid = kUnknownId;
    std::uint32_t path = 0;  // of code_paths_
  };

  SystemFacts facts_;
  std::vector<Code> code_;
  core::StringTable code_paths_;
  std::map<std::string, std::uint64_t, std::less<>> text_index_;  // texts by their number
  std::uint64_t memory_limit_ = kDefaultMemoryLimit;
  std::uint64_t memory_bytes_ = 0;
  std::uint64_t forgotten_facts_ = 0;
  bool redacts_ = false;
  FunctionRecorder functions_;
};

}  // namespace stackpack::capture
