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

#include "stackpack/model.h"
#include "stackpack/result.h"

namespace stackpack::capture {

/// What happened to a function at FunctionFact::time_ns.
enum class FunctionNews : std::uint8_t {
  kBegins = 0,  ///< its bytes hold it from this time on (load, jit)
  kEnds = 1,    ///< they held it until this time (unload)
  kExists = 2,  ///< it is there, and was when the capture began (rundown at the start)
  /// It is there, nobody knows since when (rundown at the end): not before an earlier function that
  /// is known to have had some of its bytes was gone.
  kExisted = 3,
};

/// A call whose code became part of the caller's.
struct InlinedFact {
  std::string_view name;
  std::string_view linkage;    ///< empty: the same as `name`
  std::string_view call_file;  ///< where it is called
  std::uint32_t call_line = 0;
};

/// Of what all bytes of a function were made, where it is one place: profiles name addresses.
struct CodeFact {
  std::string_view file;  ///< of the innermost inlined call, or the function
  std::uint32_t line = 0;
  std::span<const InlinedFact> inlined = {};  ///< outermost first

  [[nodiscard]] bool known() const { return !file.empty() || line != 0 || !inlined.empty(); }
};

/// One thing that a source has to say about a function.
struct FunctionFact {
  FunctionOwner owner = FunctionOwner::kProcess;
  std::uint32_t pid = kUnknownId;               ///< kProcess; the life is that of time_ns
  std::string_view image_path;                  ///< kImage: path of a module of the capture
  std::span<const std::uint8_t> build_id = {};  ///< kImage: empty when the path is all there is

  std::uint64_t start = 0;  ///< first address; kImage: offset in the file, as Module::file_offset
  std::uint64_t size = 0;   ///< bytes; above 0: a function without a size names nothing
  FunctionNews news = FunctionNews::kExists;
  std::uint64_t time_ns = kUnknownTime;  ///< of the capture's clock; unknown: before the capture
  /// Knows a function again that was told before in the same life with the same start and size:
  /// method id and version in any mixture. 0 when the source has none.
  std::uint64_t id = 0;

  FunctionSource source = FunctionSource::kUnknown;
  std::string_view name;     ///< as people read it
  std::string_view linkage;  ///< as linked or signed; empty: the same as `name`
  std::string_view file;     ///< where it is written, when known
  std::uint32_t line = 0;    ///< in `file`; 0: not known
  CodeFact code;             ///< when known
};

/// A function as finish() gives it.
struct RecordedFunction {
  FunctionOwner owner = FunctionOwner::kProcess;
  std::uint32_t pid = kUnknownId;  ///< kProcess
  std::uint64_t life_ns =
      kUnknownTime;          ///< kProcess: start of the process' life, if in the capture
  std::uint32_t module = 0;  ///< kImage: the first row of the modules of that file
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t born_ns = kUnknownTime;  ///< unknown: as early as the life of its owner
  FunctionSource source = FunctionSource::kUnknown;
  std::string_view name;
  std::string_view linkage;  ///< empty: the same as `name`
  std::string_view file;
  std::uint32_t line = 0;
  CodeFact code;
};

struct SystemTables;

/// Collects what a source says of functions, in any time order, and makes ranges of it that were
/// born at a time. It is part of the SystemRecorder: `sink.system().functions().add(fact)`.
///
/// Rules: a function that is told twice is one. A function that begins on bytes of another one ends
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

  void add(const FunctionFact& fact);

  /// Facts so far, those of size 0 and those of unknown images included.
  [[nodiscard]] std::uint64_t facts() const;
  /// Facts without a size, which name nothing.
  [[nodiscard]] std::uint64_t unsized_facts() const;

  /// Whether an address that occurs in a callstack may belong to a function: of `function` only
  /// owner, pid, life_ns, module, start and size are set. A return address may lie at start + size.
  using Occurs = std::function<bool(const RecordedFunction& function)>;
  using Visit = std::function<Status(const RecordedFunction& function)>;

  /// Visits the functions that occur, by owner, pid or module, start, life, birth. The texts are
  /// valid during the visit. Once. Errors: kIo; those of `visit`.
  Status finish(const SystemTables& tables, const Occurs& occurs, const Visit& visit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stackpack::capture
