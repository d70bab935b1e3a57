#include "unwind/stack_walk.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/frame_maker.h"

using namespace stackpack;
using unwind::CodePlace;
using unwind::WalkEnd;

namespace {

constexpr std::uint64_t kSectionAt = 0x9000;
constexpr std::uint64_t kStack = 0x7000'0000;

// Code of the process: the file at its own addresses, the rest as the test says.
constexpr std::uint64_t kPlain = 0x1000;       // CFA rsp+8
constexpr std::uint64_t kFramed = 0x1100;      // CFA rbp+16, rbp at CFA-16
constexpr std::uint64_t kSaves = 0x1200;       // CFA rsp+32, rbx at CFA-16
constexpr std::uint64_t kUsesRbx = 0x1300;     // CFA rbx+16
constexpr std::uint64_t kRoot = 0x1400;        // return address undefined
constexpr std::uint64_t kTrampoline = 0x1500;  // signal frame: registers at rsp+0, +8, ...
constexpr std::uint64_t kNoTable = 0x1700;
constexpr std::uint64_t kBroken = 0x1800;
constexpr std::uint64_t kRunTime = 0x5'0000;
constexpr std::uint64_t kMissing = 0x6'0000;
constexpr std::uint64_t kUsesR12 = 0x1900;  // CFA r12+16
constexpr std::uint64_t kLeaves = 0x1A00;   // CFA rsp+8, rbp at CFA-16: an epilogue
constexpr std::uint64_t kVfork = 0x1B00;    // CFA rsp+0, return address in rdi
constexpr std::uint64_t kInRbx = 0x1C00;    // CFA rsp+0, return address in rbx
constexpr std::uint64_t kUsesRbp = 0x1D00;  // CFA rbp+40

std::vector<std::byte> x86_section() {
  test::FrameMaker maker(kSectionAt);
  const std::uint64_t cie = maker.cie("zR", test::kX86Start, 16);
  const std::uint64_t signal = maker.cie("zRS", {}, 16);
  maker.fde(cie, kPlain, 0x40, {});
  maker.fde(cie, kFramed, 0x40, {0x0c, 6, 16, 0x86, 2});
  maker.fde(cie, kSaves, 0x40, {0x0e, 32, 0x83, 2});
  maker.fde(cie, kUsesRbx, 0x40, {0x0c, 3, 16});
  maker.fde(cie, kUsesR12, 0x40, {0x0c, 12, 16});
  maker.fde(cie, kRoot, 0x40, {0x07, 16});
  maker.fde(cie, kLeaves, 0x40, {0x86, 2});
  maker.fde(cie, kVfork, 0x40, {0x0e, 0, 0x09, 16, 5});
  maker.fde(cie, kInRbx, 0x40, {0x0e, 0, 0x09, 16, 3});
  maker.fde(cie, kUsesRbp, 0x40, {0x0c, 6, 40});
  // From one byte before the trampoline, as the C library has it.
  maker.fde(signal, kTrampoline - 1, 9,
            {0x0f, 3, 0x77, 8, 0x06, 0x10, 16, 2,    0x77, 0, 0x10, 7, 2,
             0x77, 8, 0x10, 6, 2,    0x77, 16, 0x10, 12,   2, 0x77, 24});
  maker.fde(cie, kBroken, 0x40, {0x3F});
  return maker.bytes();
}

// A process whose stack is `words` from kStack on.
class Process {
 public:
  explicit Process(unwind::Machine machine, std::vector<std::byte> section)
      : machine_(machine),
        tables_(layout_of(machine, std::move(section)), {}),
        walker_(
            machine, [this](std::uint32_t, std::uint64_t address) { return place(address); },
            [this](std::uint32_t, std::uint64_t address) { return calls.contains(address); }) {}

  std::string walk(std::uint64_t pc, const std::map<unsigned, std::uint64_t>& registers,
                   const std::vector<std::uint64_t>& words) {
    test::TestBytes bytes;
    for (const std::uint64_t word : words) {
      bytes.u64(word);
    }
    const unwind::MachineTraits traits = unwind::traits_of(machine_);
    thread.registers = {};
    thread.registers.set(traits.pc, pc);
    thread.registers.set(traits.stack_pointer, kStack);
    for (const auto& [number, value] : registers) {
      thread.registers.set(number, value);
    }
    thread.memory = unwind::StackMemory(kStack, bytes.bytes);
    const WalkEnd end = walker_.walk(space, thread);
    constexpr const char* kNames[] = {"root",    "short",    "cut",      "elsewhere",
                                      "nowhere", "no image", "no table", "bad table",
                                      "lost",    "stuck",    "too deep"};
    static_assert(std::size(kNames) == unwind::kWalkEnds);
    std::string text;
    for (const std::uint64_t frame : walker_.frames()) {
      char digits[20];
      std::snprintf(digits, sizeof digits, "%llx ", static_cast<unsigned long long>(frame));
      text += digits;
    }
    return text + kNames[static_cast<std::size_t>(end)];
  }

  std::uint32_t space = 0;
  std::set<std::uint64_t> calls;  // what follows an instruction that calls
  unwind::ThreadState thread;
  [[nodiscard]] const unwind::WalkCounts& counts() const { return walker_.counts(); }

 private:
  static unwind::ElfLayout layout_of(unwind::Machine machine, std::vector<std::byte> section) {
    unwind::ElfLayout layout;
    layout.machine = machine;
    layout.entry = 0x1600;
    layout.eh_frame = {kSectionAt, std::move(section)};
    return layout;
  }

  CodePlace place(std::uint64_t address) {
    CodePlace place;
    if (address >= 0x1000 && address < 0x2000) {
      place = {CodePlace::Kind::kImage, 0, address, &tables_};
    } else if (address >= kRunTime && address < kRunTime + 0x1000) {
      place.kind = CodePlace::Kind::kNoFile;
    } else if (address >= kMissing && address < kMissing + 0x1000) {
      place.kind = CodePlace::Kind::kNoImage;
    }
    return place;
  }

  unwind::Machine machine_;
  unwind::CodeTables tables_;
  unwind::StackWalker walker_;
};

constexpr unsigned kRbx = 3;
constexpr unsigned kRdi = 5;
constexpr unsigned kRbp = 6;
constexpr unsigned kR12 = 12;

}  // namespace

TEST_SUITE("unwind walk") {
  TEST_CASE("stack walk: x86-64, what ends a callstack") {
    struct Case {
      std::string name;
      std::uint64_t pc;
      std::map<unsigned, std::uint64_t> registers;
      std::vector<std::uint64_t> words;
      std::string walked;
    };
    const std::vector<Case> cases{
        {"to a root that says so", kPlain, {}, {kPlain + 8, kRoot + 4}, "1000 1008 1404 root"},
        {"to a return address of 0", kPlain, {}, {kPlain + 8, 0}, "1000 1008 root"},
        {"by the frame pointer that a table asks for",
         kFramed,
         {{kRbp, kStack + 8}},
         {1, kStack + 32, kPlain + 2, 2, 3, 0},
         "1100 1002 nowhere"},
        {"a saved rbx leads on",
         kSaves,
         {{kRbx, 1}},
         {0, 0, kStack + 40, kUsesRbx + 4, 9, 0, kRoot + 1},
         "1200 1304 1401 root"},
        {"in an epilogue the register has its value back",
         kLeaves,
         {{kRbp, kStack + 16}},
         {kFramed + 8, 0, 0, kRoot + 4},
         "1a00 1108 1404 root"},
        {"a frame pointer that is not aligned refers to no frame",
         kRunTime + 4,
         {{kRbp, kStack + 12}},
         {0, 0, (kPlain + 8) << 32, 0, 0},
         "50004 no table"},
        {"registers of the leaf are known",
         kUsesR12,
         {{kR12, kStack}},
         {0, kRoot + 1},
         "1900 1401 root"},
        {"but not those of its caller",
         kPlain,
         {{kR12, kStack}},
         {kUsesR12 + 1, 0, kRoot + 1},
         "1000 1901 lost"},
        {"the last byte of a function that does not return",
         kPlain,
         {},
         {kRoot + 0x40, 0},
         "1000 1440 root"},
        {"a return address in a register, and nothing on the stack",
         kVfork,
         {{kRdi, kPlain + 8}},
         {kRoot + 4},
         "1b00 1008 1404 root"},
        {"in one that was not recorded", kVfork, {}, {kRoot + 4}, "1b00 lost"},
        {"that is only so in the leaf, and where a signal came",
         kInRbx,
         {{kRbx, kInRbx + 8}},
         {kRoot + 4},
         "1c00 1c08 stuck"},
        {"the dump ends", kPlain, {}, {kPlain + 8}, "1000 1008 short"},
        {"a return address that is no code", kPlain, {}, {0x123}, "1000 nowhere"},
        {"an image that was not found", kPlain, {}, {kMissing + 8, 0}, "1000 60008 no image"},
        {"the leaf is in one", kMissing + 4, {}, {kPlain + 8, 0}, "60004 no image"},
        {"a table that is broken is not replaced by a guess",
         kBroken,
         {{kRbp, kStack}},
         {kStack + 16, kPlain + 8, 0, 0},
         "1800 bad table"},
        {"the program's first function has no table, nor a caller",
         kPlain,
         {},
         {0x1608, 0},
         "1000 1608 root"},
        {"the frame is another stack's", kFramed, {{kRbp, 0x1'0000}}, {0, 0}, "1100 stuck"},
        {"the frame is far away", kFramed, {{kRbp, kStack << 16}}, {0, 0}, "1100 elsewhere"},
        {"frame pointer that leads down", kFramed, {{kRbp, kStack - 32}}, {0, 0}, "1100 stuck"},
        {"in an epilogue the table still says where rbp was",
         kFramed,
         {{kRbp, kStack - 8}},
         {kRoot + 1},
         "1100 1401 root"},
    };
    for (const Case& test : cases) {
      CAPTURE(test.name);
      Process process(unwind::Machine::kX64, x86_section());
      CHECK(process.walk(test.pc, test.registers, test.words) == test.walked);
    }
  }

  TEST_CASE("stack walk: a dump that could not be filled is another reason") {
    Process process(unwind::Machine::kX64, x86_section());
    process.thread.filled = false;
    CHECK(process.walk(kPlain, {}, {kPlain + 8}) == "1000 1008 cut");
  }

  TEST_CASE("stack walk: signal frames give all registers, and exact addresses") {
    // Saved: pc, rsp, rbp, r12; then what the interrupted function needs.
    const std::vector<std::uint64_t> words{kTrampoline, kUsesR12, kStack + 40, 0,
                                           kStack + 48, 77,       88,          kRoot + 1};
    Process process(unwind::Machine::kX64, x86_section());
    CHECK(process.walk(kPlain, {}, words) == "1000 1500 1900 1401 root");
    // A thread that returns from the handler stands behind the trampoline, where no table is.
    const std::vector<std::uint64_t> after(words.begin() + 1, words.end());
    process.thread.in_kernel = true;
    CHECK(process.walk(kTrampoline + 8, {},
                       {kUsesR12, kStack + 40, 0, kStack + 40, 77, 88, kRoot + 1}) ==
          "1508 1900 1401 root");
    process.thread.in_kernel = false;
    CHECK(process.walk(kTrampoline + 8, {}, after) == "1508 no table");
  }

  TEST_CASE("stack walk: where no table is, frame pointers that look like frames") {
    struct Case {
      std::string name;
      std::uint64_t rbp;
      std::vector<std::uint64_t> words;
      std::string walked;
    };
    const std::vector<Case> cases{
        {"two of them, then a table",
         kStack + 8,
         {1, kStack + 32, kRunTime + 16, 2, kStack + 64, kPlain + 4, kRoot + 1},
         "50000 50010 1004 1401 root"},
        {"the first of all", kStack + 8, {1, 0, kRunTime + 16}, "50000 50010 root"},
        {"not aligned", kStack + 4, {1, 0, kRunTime + 16}, "50000 no table"},
        {"below the stack pointer", kStack - 8, {1, 0, kRunTime + 16}, "50000 no table"},
        {"leads down", kStack + 8, {1, kStack + 8, kRunTime + 16}, "50000 no table"},
        {"refers to no code", kStack + 8, {1, kStack + 32, 0x77}, "50000 no table"},
        {"beyond the dump", kStack + 80, {1, 2}, "50000 short"},
        {"an object that is no stack", kStack << 16, {1, 2}, "50000 no table"},
    };
    for (const Case& test : cases) {
      CAPTURE(test.name);
      Process process(unwind::Machine::kX64, x86_section());
      CHECK(process.walk(kRunTime, {{kRbp, test.rbp}}, test.words) == test.walked);
    }
    Process process(unwind::Machine::kX64, x86_section());
    process.walk(kNoTable, {{kRbp, kStack}}, {kStack + 16, kRoot + 4});
    CHECK(process.counts().frame_pointer_steps == 1);
  }

  TEST_CASE("stack walk: where no table is, a frame that is all of the stack, behind a call") {
    struct Case {
      std::string name;
      std::uint64_t rbp;
      bool called;
      std::vector<std::uint64_t> words;
      std::string walked;
    };
    constexpr std::uint64_t kCaller = kPlain + 4;
    const std::vector<Case> cases{
        {"the caller has no frame pointer",
         kStack,
         true,
         {1, kCaller, kRoot + 1},
         "1700 1004 1401 root"},
        {"or one that leads down",
         kStack,
         true,
         {kStack, kCaller, kRoot + 1},
         "1700 1004 1401 root"},
        {"its value is the caller's",
         kStack,
         true,
         {kStack - 8, kUsesRbp + 4, 0, 0},
         "1700 1d04 root"},
        {"nothing calls there", kStack, false, {1, kCaller, kRoot + 1}, "1700 no table"},
        {"the frame is not at the stack pointer",
         kStack + 8,
         true,
         {0, 1, kCaller, kRoot + 1},
         "1700 no table"},
        {"no code is there", kStack, true, {1, 0x77, kRoot + 1}, "1700 no table"},
    };
    for (const Case& test : cases) {
      CAPTURE(test.name);
      Process process(unwind::Machine::kX64, x86_section());
      if (test.called) {
        process.calls = {kCaller, kUsesRbp + 4, 0x77};
      }
      CHECK(process.walk(kNoTable, {{kRbp, test.rbp}}, test.words) == test.walked);
    }
    Process process(unwind::Machine::kX64, x86_section());
    process.calls = {kCaller};
    process.walk(kNoTable, {{kRbp, kStack}}, {1, kCaller, kRoot + 1});
    CHECK(process.counts().frame_pointer_steps == 1);
  }

  TEST_CASE("stack walk: a call of a null pointer, in a process that nothing is known of") {
    Process process(unwind::Machine::kX64, x86_section());
    process.space = ~std::uint32_t{0};
    CHECK(process.walk(0, {}, {kPlain + 8, 0}) == "0 no table");
  }

  TEST_CASE("stack walk: rules are decoded once") {
    Process process(unwind::Machine::kX64, x86_section());
    for (int i = 0; i < 10; ++i) {
      CHECK(process.walk(kPlain, {}, {kPlain + 8, kRoot + 4}) == "1000 1008 1404 root");
    }
    CHECK(process.counts().decoded == 3);
    CHECK(process.counts().space_hits == 27);
    CHECK(process.counts().frames == 30);
  }

  TEST_CASE("stack walk: AArch64") {
    constexpr unsigned kLink = 30;
    constexpr unsigned kFrame = 29;
    test::FrameMaker maker(kSectionAt);
    const std::uint64_t cie = maker.cie("zR", {0x0c, 31, 0}, 30);
    maker.fde(cie, 0x1000, 0x40, {});                                  // a leaf: return in x30
    maker.fde(cie, 0x1100, 0x40, {0x0e, 32, 0x9d, 4, 0x9e, 3});        // x29, x30 at sp
    maker.fde(cie, 0x1200, 0x40, {0x2d, 0x0e, 16, 0x9d, 2, 0x9e, 1});  // signed
    maker.fde(cie, 0x1300, 0x40, {0x07, 30});
    Process process(unwind::Machine::kAarch64, maker.bytes());
    CHECK(process.walk(0x1004, {{kLink, 0x1104}},
                       {kStack + 32, 0x1208, 0, 0, 0, 0x2A'0000'0000'1304}) ==
          "1004 1104 1208 1304 root");
    // A leaf's rule twice would not end.
    CHECK(process.walk(0x1004, {{kLink, 0x1004}}, {0, 0}) == "1004 1004 stuck");
    // Run-time code: the frame pointer refers to the saved one and the return address.
    CHECK(process.walk(kRunTime, {{kFrame, kStack + 16}}, {0, 0, 0, 0x1304}) == "50000 1304 root");
  }

  TEST_CASE("stack walk: any stack ends") {
    // Every word is a return address of the function that takes the least.
    Process process(unwind::Machine::kX64, x86_section());
    const std::vector<std::uint64_t> words(8192, kPlain + 8);
    const std::string walked = process.walk(kPlain, {}, words);
    CHECK(walked.ends_with("1008 short"));
    CHECK(process.counts().frames == 8193);
    // A signal frame that restores itself, again and again.
    const std::string loop = process.walk(kTrampoline, {}, {kTrampoline, kStack, 0, 0});
    CHECK(loop.ends_with("too deep"));
    CHECK(process.counts().frames == 8193 + unwind::StackWalker::kMostFrames);
  }
}
