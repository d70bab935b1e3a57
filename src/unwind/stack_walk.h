// Walks a stack from the registers and the stack memory that were recorded with a sample.
//
// A frame's address is looked up in the tables of its file, which give a rule; the rule gives the
// caller's registers. What a walk needs per frame are three words of the stack and a rule, so that
// finding the rule decides its speed: rules are remembered by (address space, address), 16 bytes
// each in a table of fixed size, then by (image, address), since processes run the same programs.
//
// Where no table covers the code (code made at run time, runtimes that keep frame pointers), the
// frame pointer is followed if what it refers to looks like a frame: the caller's one is above, or
// the frame is all that the function has and its return address follows a call. A rule that fails
// is never replaced by a guess: a walk ends there, and says why.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "unwind/code_tables.h"
#include "unwind/machine.h"
#include "unwind/rule_table.h"
#include "unwind/stack_memory.h"

namespace stackpack::unwind {

/// Why a walk ended. Only kRoot is the end of the stack.
enum class WalkEnd : std::uint8_t {
  kRoot,
  kDumpTooShort,  ///< the stack goes on where the dump, as long as was asked for, ends
  kDumpCut,       ///< the recorder could not copy as much as was asked for
  kOtherStack,    ///< the frame is on another stack, of which nothing was copied
  kNoMapping,     ///< the return address is in no mapping of the process
  kNoImage,       ///< the file of the code was not found, or is of another build
  kNoTable,       ///< no table covers the code, and it keeps no frame pointer
  kBadTable,      ///< the table is damaged or not understood
  kLostRegister,  ///< the rule needs a register whose value is not known
  kNoProgress,    ///< the caller's frame would not be above
  kTooDeep,
};
inline constexpr std::size_t kWalkEnds = 11;

/// What is at an address of a process.
struct CodePlace {
  enum class Kind : std::uint8_t {
    kNowhere,  ///< no mapping
    kNoFile,   ///< mapped, but of no file: code that was made at run time
    kNoImage,  ///< of a file that was not found
    kNotCode,  ///< of a file, but not of its code
    kImage,
  };
  Kind kind = Kind::kNowhere;
  std::uint32_t image = 0;       ///< number of the image, for kImage
  std::uint64_t address = 0;     ///< address in the file
  CodeTables* tables = nullptr;  ///< for kImage; valid until the next question
};

/// What was recorded of a thread.
struct ThreadState {
  Registers registers;  ///< of user mode, program counter included
  StackMemory memory{0, {}};
  bool filled = true;  ///< as many bytes were copied as were asked for
  /// The sample was taken in the kernel: the thread may stand after the instruction by which it
  /// returns from a signal handler.
  bool in_kernel = false;
};

struct WalkCounts {
  std::uint64_t walks = 0;
  std::uint64_t frames = 0;
  std::uint64_t frame_pointer_steps = 0;
  std::uint64_t space_hits = 0;  ///< look-ups answered by (address space, address)
  std::uint64_t image_hits = 0;  ///< by (image, address)
  std::uint64_t decoded = 0;     ///< by the tables
};

class StackWalker {
 public:
  /// Finds what is at an address of address space `space`; it must always say the same.
  using FindCode = std::function<CodePlace(std::uint32_t space, std::uint64_t address)>;
  /// Whether the instruction before an address calls; false, too, where its code is not at hand.
  using FollowsCall = std::function<bool(std::uint32_t space, std::uint64_t address)>;
  static constexpr std::size_t kMostFrames = 16'384;

  StackWalker(Machine machine, FindCode find_code, FollowsCall follows_call);

  /// Walks. frames(): leaf first, at least the leaf.
  WalkEnd walk(std::uint32_t space, const ThreadState& thread);
  [[nodiscard]] std::span<const std::uint64_t> frames() const { return frames_; }
  /// After kNoImage: the address whose file is missing.
  [[nodiscard]] std::uint64_t last_lookup() const { return last_lookup_; }
  [[nodiscard]] const WalkCounts& counts() const { return counts_; }

 private:
  // What is known of an address: the number of a rule, or one of these.
  using Answer = std::uint32_t;
  static constexpr Answer kUnknown = ~Answer{0};
  static constexpr Answer kFirstSpecial = RuleTable::kMostRules;
  static constexpr Answer special(WalkEnd end) { return kFirstSpecial + static_cast<Answer>(end); }
  static constexpr Answer kFramePointer = kFirstSpecial + kWalkEnds;

  struct SpaceEntry {
    std::uint64_t address = 0;
    std::uint32_t space = ~std::uint32_t{0};
    Answer answer = 0;
  };
  struct ImageEntry {
    std::uint64_t address = 0;
    std::uint32_t image = ~std::uint32_t{0};
    Answer answer = 0;
  };
  static constexpr unsigned kSpaceBits = 14;
  static constexpr unsigned kImageBits = 15;

  Answer look_up(std::uint64_t address);
  Answer ask(std::uint64_t address);
  Answer look_up_leaf(const ThreadState& thread);
  std::optional<WalkEnd> step_by_rule(const FrameRule& rule, const ThreadState& thread);
  std::optional<WalkEnd> step_by_frame_pointer(const ThreadState& thread);
  bool find_register(const RegisterRule& rule, std::uint64_t cfa, const ThreadState& thread,
                     std::uint64_t& value, WalkEnd& why) const;
  [[nodiscard]] WalkEnd outside(const ThreadState& thread, std::uint64_t address) const;
  std::optional<WalkEnd> find_cfa(const FrameRule& rule, const ThreadState& thread,
                                  std::uint64_t& cfa) const;
  std::optional<WalkEnd> enter(std::uint64_t address, bool exact);

  MachineTraits traits_;
  FindCode find_code_;
  FollowsCall follows_call_;
  RuleTable rules_;
  std::vector<SpaceEntry> by_space_;
  std::vector<ImageEntry> by_image_;
  std::vector<std::uint64_t> frames_;
  WalkCounts counts_;

  // Of the walk under way.
  std::uint32_t space_ = 0;
  Registers registers_;
  Answer answer_ = 0;       // for the last frame
  bool all_known_ = false;  // registers have values as the function left them, not as it found them
  std::uint64_t last_lookup_ = 0;
};

}  // namespace stackpack::unwind
