#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// Where a source finds the name of a function again.
struct NamePlace {
  std::uint8_t source = 0;   ///< as FunctionRecorder::add_source() numbers it; 0: no place
  std::uint64_t offset = 0;  ///< in the source, of the bytes that hold the name
  std::uint32_t bytes = 0;
};

/// Names that stay where the source has them until somebody asks: of the functions that a capture
/// names, few occur in callstacks.
class NameSource {
 public:
  NameSource() = default;
  NameSource(const NameSource&) = delete;
  NameSource& operator=(const NameSource&) = delete;
  virtual ~NameSource() = default;

  /// Replaces `name` by that of a place. False: the bytes hold none, which the source counts as a
  /// loss. Errors: kIo, kTruncated.
  virtual Result<bool> read(std::uint64_t offset, std::uint32_t bytes, std::string& name) = 0;
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
  /// Knows a function again that came before in the same life with the same start and size:
  /// method id and version in any mixture. 0 when the source has none.
  std::uint64_t id = 0;

  FunctionSource source = FunctionSource::kUnknown;
  std::string_view name;     ///< as people read it
  NamePlace name_place;      ///< instead of `name`: then there are no other texts
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

/// A CodeFact as text, for a log of texts; empty when nothing is known.
void write_code(const CodeFact& code, std::string& text);

/// The fact that write_code() made a text of: it refers to the text, and to `inlined`.
CodeFact read_code(std::string_view text, std::vector<InlinedFact>& inlined);

}  // namespace stackpack::capture
