// Functions that a capture names itself: methods of managed runtimes, BPF programs, the symbols of
// simpleperf, the frames of imported profiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/function_fact.h"
#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::capture {

struct SystemTables;

/// Collects what a source says of functions, in any time order, and makes ranges of it that were
/// born at a time. It is part of the SystemRecorder: `sink.system().functions().add(fact)`.
///
/// Rules: a function that comes twice is one. A function that begins on bytes of another one ends
/// that. Texts are any bytes.
/// Memory: `memory_limit` for the facts, whose rest goes to a scratch file, and for what finish()
/// has to look at together; kTextBytes for texts, all others go to a second scratch file.
/// Errors: kIo of a scratch file is sticky, and returned by finish(). Threads: one at a time.
class FunctionRecorder {
 public:
  static constexpr std::uint64_t kDefaultMemoryLimit = std::uint64_t{16} << 20;
  static constexpr std::uint64_t kTextBytes = std::uint64_t{1} << 20;

  FunctionRecorder();
  ~FunctionRecorder();
  FunctionRecorder(FunctionRecorder&&) noexcept;
  FunctionRecorder& operator=(FunctionRecorder&&) noexcept;

  /// Before the first fact. The scratch files have no name and are made when they are needed.
  void configure(std::string scratch_directory, std::uint64_t memory_limit);

  /// Whether finish() replaces user names in paths (redaction.h).
  void set_redaction(bool redacts);

  /// What NamePlace::source is of names in `source`; 0: there are too many sources. A source is
  /// asked in finish().
  std::uint8_t add_source(std::unique_ptr<NameSource> source);

  void add(const FunctionFact& fact);

  /// Facts so far, those of size 0 and those of unknown images included.
  [[nodiscard]] std::uint64_t facts() const;
  /// Facts without a size, which name nothing.
  [[nodiscard]] std::uint64_t unsized_facts() const;

  /// Visits when the bytes of functions of processes, and of the kernel (kKernelPid), got or lost
  /// them: no function is born at another time. In any order, some more than once; before finish().
  /// Errors: kIo.
  Status for_each_time(const std::function<void(std::uint32_t pid, std::uint64_t time_ns)>& visit);

  /// Whether an address that occurs in a callstack may belong to a function: of `function` only
  /// owner, pid, life_ns, module, start and size are set. A return address may lie at start + size.
  using Occurs = std::function<bool(const RecordedFunction& function)>;
  using Visit = std::function<Status(const RecordedFunction& function)>;

  /// Visits the functions that occur, by owner, pid or module, start, life, birth. The texts are
  /// valid during the visit. Once. Errors: kIo; those of sources and of `visit`.
  Status finish(const SystemTables& tables, const Occurs& occurs, const Visit& visit);

 private:
  struct Impl;
  class Finish;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackpack::capture
