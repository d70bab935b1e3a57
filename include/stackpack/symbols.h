// From an address to what people call it: image, function, line. The one road that listings,
// exports and reports take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "stackpack/model.h"
#include "stackpack/names.h"
#include "stackpack/reader.h"
#include "stackpack/result.h"

namespace stackpack {

/// What an address of a callstack is.
enum class AddressUse : std::uint8_t {
  kExact,   ///< of the instruction that was running, or was interrupted
  kReturn,  ///< of the instruction after a call: it belongs to what is one byte before
};

/// What is known of an address in one process at one time. Texts and rows are those of the Symbols.
struct CodeLocation {
  const Module* module = nullptr;      ///< null: no image is known to have been there
  std::uint64_t offset = 0;            ///< of the address in the file of `module`
  const Function* function = nullptr;  ///< null: no name; never that of the function before
  std::uint64_t function_offset = 0;   ///< address - its first byte
  std::string_view name;               ///< of the function, as people read it
  std::string_view linkage;            ///< as linked
  std::string_view file;  ///< of the innermost inlined call, or the function; empty: not known
  std::uint32_t line = 0;
  std::uint32_t inlined = kNoInline;  ///< row of Names::inlined: see Symbols::expand
  /// How the address was taken: exact, too, in an imported profile, whose addresses lie in the
  /// calling instruction already, and where an image or a function begins at the address and
  /// nothing has the byte before it.
  AddressUse use = AddressUse::kExact;
  /// False: the frame of an imported profile that has a name, which may be empty, and no address.
  bool has_address = true;
};

/// One of the functions that an address belongs to when calls were inlined.
struct InlineFrame {
  std::string_view name;     ///< as people read it
  std::string_view linkage;  ///< as linked
  std::string_view file;     ///< of the line, where it is known
  std::uint32_t line = 0;    ///< which is running in it: of a caller, where it calls the next
};

/// All that a file says of addresses. Immutable: any number of threads may ask.
class Symbols {
 public:
  /// Reads the tables of a file; the reader is not needed afterwards. Errors: those of the reader.
  static Result<std::unique_ptr<const Symbols>> load(const Reader& reader);

  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;
  ~Symbols();

  /// What one address is: of a process at a time, the kernel's wherever `pid` points. Cost: a
  /// search among the mappings of the process and one among the functions of the image.
  [[nodiscard]] CodeLocation locate(const Frame& frame, std::uint32_t pid, std::uint64_t time_ns,
                                    AddressUse use) const;

  /// The use of frame `index` of a callstack. Exact are
  /// - the leaf, and the first frame of another mode than the one below it (user code that entered
  ///   the kernel), but in .nettrace;
  /// - what was interrupted: the frame after a function that an interrupt, an exception or a
  ///   dispatcher enters (asm_exc_page_fault, KiPageFault, runtime.sigpanic), and after the
  ///   function that a signal handler returns to (__restore_rt) where unwind tables found it;
  /// - the first byte of that function, which nobody calls, and that of any function after a thunk
  ///   of indirect calls (__x86_indirect_thunk_rax), which jumps by a return.
  /// All others are return addresses. Those functions are known by their names: where a file has
  /// none, what they interrupted counts as a caller.
  [[nodiscard]] AddressUse use_of(std::span<const Frame> leaf_first, std::size_t index,
                                  std::uint32_t pid, std::uint64_t time_ns) const;

  /// The locations of all frames of a callstack, in their order, into `locations` (replaced).
  void locate_stack(std::span<const Frame> leaf_first, std::uint32_t pid, std::uint64_t time_ns,
                    std::vector<CodeLocation>& locations) const;

  /// An address to locate, as locate() takes it.
  struct Query {
    Frame frame;
    std::uint32_t pid = kUnknownId;
    std::uint64_t time_ns = 0;
    AddressUse use = AddressUse::kExact;
  };
  /// Many at once, in one pass by process and address: locations[i] is that of queries[i].
  void locate_all(std::span<const Query> queries, std::vector<CodeLocation>& locations) const;

  /// Appends the functions that a location belongs to, innermost first, the one that has the code
  /// last. One without inlined calls; none without a function.
  void expand(const CodeLocation& location, std::vector<InlineFrame>& frames) const;

  /// A stretch of time in which addresses of a process mean the same.
  struct Epoch {
    std::uint64_t number = 0;                       ///< unique within a pid
    std::uint64_t valid_until = ~std::uint64_t{0};  ///< first time of the next one
  };
  /// Epochs of a process begin where it starts, where an image comes or goes, and where bytes go
  /// from one function to another. Those of kKernelPid are for the kernel's addresses.
  [[nodiscard]] Epoch epoch(std::uint32_t pid, std::uint64_t time_ns) const;

  // The tables that were loaded. They live as long as this.
  [[nodiscard]] std::span<const Process> processes() const;
  [[nodiscard]] std::span<const Module> modules() const;
  [[nodiscard]] const Names& names() const;

 private:
  struct Impl;
  explicit Symbols(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace stackpack
