#include "symbols/symbol_index.h"

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "stackpack/symbols.h"

using stackpack::AddressUse;
using stackpack::CodeLocation;
using stackpack::Frame;
using stackpack::FrameMode;
using stackpack::Function;
using stackpack::FunctionOwner;
using stackpack::kKernelPid;
using stackpack::kUnknownTime;
using stackpack::Module;
using stackpack::Names;
using stackpack::Process;
using stackpack::symbols::SymbolIndex;

namespace {

struct Tables {
  std::vector<Process> processes;
  std::vector<Module> modules;
  Names names;

  void add(FunctionOwner owner, std::uint32_t place, std::uint64_t start, std::uint64_t size,
           const std::string& name, std::uint64_t born_ns = kUnknownTime,
           std::uint64_t life_ns = kUnknownTime) {
    Function function;
    function.owner = owner;
    function.pid = owner == FunctionOwner::kProcess ? place : kKernelPid;
    function.module = owner == FunctionOwner::kImage ? place : 0;
    function.start = start;
    function.size = size;
    function.born_ns = born_ns;
    function.life_ns = life_ns;
    function.name = static_cast<std::uint32_t>(names.texts.size());
    names.texts.add(name);
    names.functions.push_back(function);
  }
  void map(std::uint32_t pid, std::uint64_t base, std::uint64_t size, std::uint64_t file_offset,
           const std::string& path) {
    Module module;
    module.pid = pid;
    module.base = base;
    module.size = size;
    module.file_offset = file_offset;
    module.path = path;
    modules.push_back(module);
  }
};

// `name+offset`; empty without a name.
std::string name_at(const Tables& tables, std::uint32_t pid, std::uint64_t time_ns,
                    std::uint64_t address, AddressUse use = AddressUse::kExact,
                    FrameMode mode = FrameMode::kUser) {
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  const CodeLocation location = index.locate({mode, address}, pid, time_ns, use);
  return location.function == nullptr
             ? ""
             : std::string(location.name) + "+" + std::to_string(location.function_offset);
}

constexpr FunctionOwner kProcess = FunctionOwner::kProcess;
constexpr FunctionOwner kImage = FunctionOwner::kImage;

}  // namespace

TEST_CASE("symbols: names of the kernel's addresses may be those of one process") {
  constexpr std::uint64_t kAddress = 0xFFFFFFFF81000100;
  Tables tables;
  tables.add(kProcess, 7, kAddress, 0x10, "of 7");
  CHECK(name_at(tables, 7, 0, kAddress + 4, AddressUse::kExact, FrameMode::kKernel) == "of 7+4");
  CHECK(name_at(tables, 8, 0, kAddress + 4, AddressUse::kExact, FrameMode::kKernel).empty());
  CHECK(stackpack::symbols::has_kernel_in_processes(tables.names));
  Tables user;
  user.add(kProcess, 7, 0x1000, 0x10, "user");
  CHECK_FALSE(stackpack::symbols::has_kernel_in_processes(user.names));
  CHECK(name_at(user, 7, 0, 0x1004, AddressUse::kExact, FrameMode::kKernel).empty());
}

TEST_CASE("symbols: a name for addresses inside, none for those beside") {
  Tables tables;
  tables.add(kProcess, 7, 100, 10, "f");
  tables.add(kProcess, 7, 120, 10, "g");
  CHECK(name_at(tables, 7, 5, 99).empty());
  CHECK(name_at(tables, 7, 5, 100) == "f+0");
  CHECK(name_at(tables, 7, 5, 109) == "f+9");
  CHECK(name_at(tables, 7, 5, 110).empty());
  CHECK(name_at(tables, 7, 5, 125) == "g+5");
  CHECK(name_at(tables, 8, 5, 105).empty());
  CHECK(name_at(tables, 7, 5, 105, AddressUse::kExact, FrameMode::kKernel).empty());
}

TEST_CASE("symbols: a return address belongs to what is before it") {
  Tables tables;
  tables.add(kProcess, 7, 100, 10, "f");
  tables.add(kProcess, 7, 110, 10, "g");
  CHECK(name_at(tables, 7, 5, 110) == "g+0");
  CHECK(name_at(tables, 7, 5, 110, AddressUse::kReturn) == "f+10");
  CHECK(name_at(tables, 7, 5, 120, AddressUse::kReturn) == "g+10");
  CHECK(name_at(tables, 7, 5, 121, AddressUse::kReturn).empty());
}

TEST_CASE("symbols: where nothing is before a function, its first byte is no return address") {
  Tables tables;
  tables.map(7, 0x1000, 0x1000, 0, "/lib/a.so");
  tables.add(kImage, 0, 0x300, 0x10, "f");
  tables.add(kProcess, 7, 100, 10, "g");
  CHECK(name_at(tables, 7, 5, 100, AddressUse::kReturn) == "g+0");
  CHECK(name_at(tables, 7, 5, 0x1300, AddressUse::kReturn) == "f+0");
  CHECK(name_at(tables, 7, 5, 0x1301, AddressUse::kReturn) == "f+1");
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  CHECK(index.locate({FrameMode::kUser, 0x1300}, 7, 5, AddressUse::kReturn).use ==
        AddressUse::kExact);
  CHECK(index.locate({FrameMode::kUser, 0x1301}, 7, 5, AddressUse::kReturn).use ==
        AddressUse::kReturn);
  CHECK(index.locate({FrameMode::kUser, 0x12ff}, 7, 5, AddressUse::kReturn).use ==
        AddressUse::kReturn);
}

namespace {

// `e` for each exact frame, `r` for each return address.
std::string uses_of(const Tables& tables, const std::vector<Frame>& frames,
                    const SymbolIndex::Facts& facts = {}) {
  const SymbolIndex index(tables.processes, tables.modules, tables.names, facts);
  std::string uses;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    uses += index.use_of(frames, i, 7, 5) == AddressUse::kExact ? 'e' : 'r';
  }
  return uses;
}

constexpr SymbolIndex::Facts kUnwound{.unwound = true};

}  // namespace

TEST_CASE("symbols: exact are the leaf and the first frame of another mode") {
  const FrameMode k = FrameMode::kKernel;
  const FrameMode u = FrameMode::kUser;
  CHECK(uses_of({}, {{k, 1}, {k, 2}, {u, 3}, {u, 4}}) == "erer");
  CHECK(uses_of({}, {{k, 1}, {k, 2}, {u, 3}, {u, 4}}, {.may_be_interrupted = false}) == "errr");
}

TEST_CASE("symbols: what was interrupted is exact, by the name of what interrupted it") {
  struct Case {
    FrameMode mode = FrameMode::kKernel;
    std::string entry;
    std::string recorded;  // uses of leaf, entry, the frame after it, its caller
    std::string unwound;   // the same where user frames were unwound
  };
  const FrameMode k = FrameMode::kKernel;
  const FrameMode u = FrameMode::kUser;
  const std::vector<Case> cases{
      {k, "asm_sysvec_apic_timer_interrupt", "erer", "erer"},
      {k, "asm_exc_page_fault", "erer", "erer"},
      {k, "asm_common_interrupt", "erer", "erer"},
      {k, "apic_timer_interrupt", "erer", "erer"},
      {k, "el1h_64_irq", "erer", "erer"},
      {k, "KiPageFault", "erer", "erer"},
      {k, "KiSystemServiceCopyEnd", "erer", "erer"},
      {u, "KiUserExceptionDispatch", "erer", "erer"},
      {u, "runtime.asyncPreempt", "erer", "erer"},
      {u, "runtime.sigpanic", "erer", "erer"},
      {u, "__restore_rt", "errr", "erer"},
      {u, "__kernel_rt_sigreturn", "errr", "erer"},
      // Called, or of the other mode.
      {k, "sysvec_apic_timer_interrupt", "errr", "errr"},
      {k, "common_interrupt", "errr", "errr"},
      {k, "asm_load_gs_index", "errr", "errr"},
      {k, "el1h_64_irq_handler", "errr", "errr"},
      {k, "KiInterruptSubDispatchNoLock", "errr", "errr"},
      {k, "__restore_rt", "errr", "errr"},
      {u, "asm_exc_page_fault", "errr", "errr"},
      {u, "runtime.asyncPreempt2", "errr", "errr"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.entry);
    Tables tables;
    tables.map(one.mode == k ? kKernelPid : 7, 0x10'0000, 0x10000, 0x2000, "/image");
    tables.add(kImage, 0, 0x2100, 0x100, "handler");
    tables.add(kImage, 0, 0x2200, 0x20, one.entry);
    tables.add(kImage, 0, 0x2300, 0x100, "caller");
    const std::vector<Frame> frames{
        {one.mode, 0x10'0110}, {one.mode, 0x10'0210}, {one.mode, 0x10'0300}, {one.mode, 0x10'0350}};
    CHECK(uses_of(tables, frames) == one.recorded);
    CHECK(uses_of(tables, frames, kUnwound) == one.unwound);
    // The same by addresses of the kernel, or of the process.
    Tables by_address;
    by_address.add(one.mode == k ? FunctionOwner::kKernel : kProcess, 7, 0x10'0200, 0x20,
                   one.entry);
    CHECK(uses_of(by_address, frames) == one.recorded);
  }
}

TEST_CASE("symbols: the first byte of a function that signal handlers return to is exact") {
  Tables tables;
  tables.add(kProcess, 7, 0x100, 0x100, "before");
  tables.add(kProcess, 7, 0x200, 9, "__restore_rt");
  const FrameMode u = FrameMode::kUser;
  CHECK(uses_of(tables, {{u, 0x900}, {u, 0x200}, {u, 0x800}}) == "eer");
  CHECK(uses_of(tables, {{u, 0x900}, {u, 0x201}, {u, 0x800}}) == "err");
  CHECK(uses_of(tables, {{u, 0x208}, {u, 0x800}}) == "er");
  CHECK(uses_of(tables, {{u, 0x208}, {u, 0x800}}, kUnwound) == "ee");
}

TEST_CASE("symbols: after a thunk of indirect calls a function may be about to begin") {
  for (const FrameMode mode : {FrameMode::kKernel, FrameMode::kUser}) {
    Tables tables;
    const FunctionOwner owner = mode == FrameMode::kKernel ? FunctionOwner::kKernel : kProcess;
    tables.add(owner, 7, 0x100, 0x20, "__x86_indirect_thunk_rax");
    tables.add(owner, 7, 0x1F0, 0x10, "__pfx_begins");
    CHECK(uses_of(tables, {{mode, 0x105}, {mode, 0x200}}) == "ee");  // not named yet
    CHECK(uses_of(tables, {{mode, 0x105}, {mode, 0x400}}) == "er");  // nothing is named there
    tables.add(owner, 7, 0x200, 0x100, "begins");
    CHECK(uses_of(tables, {{mode, 0x105}, {mode, 0x200}, {mode, 0x300}}) == "eer");
    CHECK(uses_of(tables, {{mode, 0x105}, {mode, 0x208}}) == "er");  // its caller
    CHECK(uses_of(tables, {{mode, 0x205}, {mode, 0x200}}) == "er");
  }
}

TEST_CASE("symbols: the names of interrupts cost no more for their number, or their size") {
  Tables tables;
  for (std::uint32_t row = 0; row < 3000; ++row) {
    tables.map(7, std::uint64_t{row} << 32, 0x1000, 0, "/image");
    tables.add(kImage, 0, row, ~std::uint64_t{0} - row, "__restore_rt");
  }
  const FrameMode u = FrameMode::kUser;
  CHECK(uses_of(tables, {{u, 0x1'0000'0010}, {u, 0x1'0000'0020}}, kUnwound) == "ee");
}

TEST_CASE("symbols: of functions on the same bytes the one born last before the time") {
  Tables tables;
  tables.add(kProcess, 7, 100, 10, "first", 50);
  tables.add(kProcess, 7, 100, 10, "second", 60);
  tables.add(kProcess, 7, 105, 10, "third", 70);
  CHECK(name_at(tables, 7, 55, 104) == "first+4");
  CHECK(name_at(tables, 7, 60, 104) == "second+4");
  CHECK(name_at(tables, 7, 90, 104) == "second+4");
  CHECK(name_at(tables, 7, 90, 106) == "third+1");
  CHECK(name_at(tables, 7, 10, 104) == "first+4");  // before all of them: the first
}

TEST_CASE("symbols: functions belong to one life of a process, and to its forked children") {
  Tables tables;
  tables.processes = {{7, 1, kUnknownTime, 100, false, "a", ""},
                      {7, 1, 200, kUnknownTime, false, "b", ""},
                      {8, 7, 250, kUnknownTime, true, "c", ""}};
  tables.add(kProcess, 7, 100, 10, "early");
  tables.add(kProcess, 7, 100, 10, "late", kUnknownTime, 200);
  CHECK(name_at(tables, 7, 50, 100) == "early+0");
  CHECK(name_at(tables, 7, 220, 100) == "late+0");
  CHECK(name_at(tables, 8, 300, 100) == "late+0");
}

TEST_CASE("symbols: functions of an image are found wherever it is mapped") {
  Tables tables;
  tables.map(7, 0x1000, 0x1000, 0, "/lib/a.so");
  tables.map(8, 0x5000, 0x1000, 0x200, "/lib/a.so");
  tables.map(8, 0x9000, 0x1000, 0, "/lib/b.so");
  tables.add(kImage, 0, 0x300, 0x10, "f");
  CHECK(name_at(tables, 7, 5, 0x1305) == "f+5");
  CHECK(name_at(tables, 8, 5, 0x5105) == "f+5");
  CHECK(name_at(tables, 8, 5, 0x9305).empty());
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  const CodeLocation unnamed = index.locate({FrameMode::kUser, 0x9305}, 8, 5, AddressUse::kReturn);
  REQUIRE(unnamed.module != nullptr);
  CHECK(unnamed.module->path == "/lib/b.so");
  CHECK(unnamed.offset == 0x305);
}

TEST_CASE("symbols: images of a merged file with one path and no build id keep their names apart") {
  constexpr std::uint64_t kFirst = 0x8000'0000'0000'0000;
  Tables tables;
  tables.map(kKernelPid, kFirst, 0x1000, 0, "/opt/app");
  tables.map(kKernelPid, kFirst + 0x3000, 0x2000, 0, "/opt/app");
  tables.add(kImage, 0, 0x300, 0x10, "small");
  tables.add(kImage, 1, 0x300, 0x10, "large");
  CHECK(name_at(tables, 7, 5, kFirst + 0x305) == "small+5");
  CHECK(name_at(tables, 7, 5, kFirst + 0x3305) == "large+5");
}

TEST_CASE("symbols: epochs are cut where bytes change hands, not at every birth") {
  Tables tables;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    tables.add(kProcess, 7, 1000 + i * 16, 16, "f" + std::to_string(i), 10 + i);
  }
  {
    const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
    CHECK(index.epochs().find(7, 0).valid_until == ~std::uint64_t{0});
  }
  tables.add(kProcess, 7, 1008, 4, "again", 5000);
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  CHECK(index.epochs().find(7, 11).valid_until == 5000);
  CHECK(index.epochs().find(7, 5000).number != index.epochs().find(7, 4999).number);
  CHECK(index.epochs().find(7, 5000).valid_until == ~std::uint64_t{0});
}

TEST_CASE("symbols: lines and inlined calls") {
  Tables tables;
  tables.map(7, 0x1000, 0x1000, 0, "/lib/a.so");
  tables.add(kImage, 0, 0x300, 0x10, "f");
  const auto text = [&tables](const std::string& name) {
    tables.names.texts.add(name);
    return static_cast<std::uint32_t>(tables.names.texts.size() - 1);
  };
  stackpack::InlinedCall outer;
  outer.name = text("outer");
  outer.call_file = text("f.c");
  outer.call_line = 3;
  tables.names.inlined.push_back(outer);
  stackpack::InlinedCall inner;
  inner.parent = 0;
  inner.name = text("inner");
  inner.call_line = 5;
  tables.names.inlined.push_back(inner);
  stackpack::CodeLine line;
  line.owner = kImage;
  line.start = 0x304;
  line.size = 4;
  line.inlined = 1;
  line.file = text("inner.c");
  line.line = 9;
  tables.names.lines.push_back(line);
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  const CodeLocation at = index.locate({FrameMode::kUser, 0x1305}, 7, 5, AddressUse::kExact);
  CHECK(at.name == "f");
  CHECK(at.file == "inner.c");
  CHECK(at.line == 9);
  CHECK(at.inlined == 1);
  CHECK(index.locate({FrameMode::kUser, 0x1308}, 7, 5, AddressUse::kExact).line == 0);
}

TEST_CASE("symbols: an inlined call without a name is never shown") {
  Tables tables;
  tables.map(7, 0x1000, 0x1000, 0, "/lib/a.so");
  tables.add(kImage, 0, 0x300, 0x10, "f");
  const auto text = [&tables](const std::string& name) {
    tables.names.texts.add(name);
    return static_cast<std::uint32_t>(tables.names.texts.size() - 1);
  };
  stackpack::InlinedCall nameless;
  nameless.call_file = text("f.c");
  nameless.call_line = 3;
  tables.names.inlined.push_back(nameless);
  stackpack::CodeLine line;
  line.owner = kImage;
  line.start = 0x304;
  line.size = 4;
  line.inlined = 0;
  line.file = text("inner.c");
  line.line = 9;
  tables.names.lines.push_back(line);
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  std::vector<stackpack::InlineFrame> frames;
  index.expand(index.locate({FrameMode::kUser, 0x1305}, 7, 5, AddressUse::kExact), frames);
  REQUIRE(frames.size() == 1);
  CHECK(frames[0].name == "f");
  CHECK(frames[0].file == "f.c");
  CHECK(frames[0].line == 3);
}

TEST_CASE("symbols: code of a PDB without a line has none, whatever the line of its function") {
  for (const auto source : {stackpack::FunctionSource::kPdb, stackpack::FunctionSource::kJScript}) {
    Tables tables;
    tables.map(7, 0x1000, 0x1000, 0, "a.dll");
    tables.add(kImage, 0, 0x300, 0x10, "f");
    tables.names.texts.add("f.cc");
    tables.names.functions[0].source = source;
    tables.names.functions[0].file = static_cast<std::uint32_t>(tables.names.texts.size() - 1);
    tables.names.functions[0].line = 12;
    const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
    const CodeLocation at = index.locate({FrameMode::kUser, 0x1305}, 7, 5, AddressUse::kExact);
    const bool is_pdb = source == stackpack::FunctionSource::kPdb;
    CHECK(at.name == "f");
    CHECK(at.line == (is_pdb ? 0 : 12));
    CHECK(at.file == (is_pdb ? "" : "f.cc"));
  }
}

TEST_CASE("symbols: lines of code whose bytes were used again are of the function born then") {
  Tables tables;
  tables.add(FunctionOwner::kProcess, 7, 0x100, 0x20, "first", 10);
  tables.add(FunctionOwner::kProcess, 7, 0x108, 0x20, "second", 20);
  stackpack::CodeLine line;
  line.pid = 7;
  line.start = 0x100;
  line.size = 0x20;
  line.line = 5;
  line.born_ns = 10;
  tables.names.lines.push_back(line);
  line.start = 0x108;
  line.line = 6;
  line.born_ns = 20;
  tables.names.lines.push_back(line);
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  const auto line_at = [&index](std::uint64_t address, std::uint64_t time_ns) {
    return index.locate({FrameMode::kUser, address}, 7, time_ns, AddressUse::kExact).line;
  };
  CHECK(line_at(0x110, 15) == 5);
  CHECK(line_at(0x110, 25) == 6);
  CHECK(line_at(0x104, 25) == 5);
  CHECK(line_at(0x124, 15) == 6);  // of the first one born, for want of an earlier
}

TEST_CASE("symbols: the same answers as a search through all functions") {
  Tables tables;
  std::uint64_t seed = 1;
  const auto below = [&seed](std::uint64_t limit) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % limit;
  };
  for (int i = 0; i < 300; ++i) {
    tables.add(kProcess, 7 + static_cast<std::uint32_t>(below(2)), below(2000), 1 + below(60),
               "f" + std::to_string(i), 10 + below(100));
  }
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  for (int i = 0; i < 5000; ++i) {
    const auto pid = static_cast<std::uint32_t>(7 + below(2));
    const std::uint64_t address = below(2100);
    const std::uint64_t time = below(130);
    const Function* best = nullptr;
    for (const Function& f : tables.names.functions) {
      if (f.pid != pid || address < f.start || address >= f.start + f.size) {
        continue;
      }
      const bool born = f.born_ns <= time;
      const bool best_born = best != nullptr && best->born_ns <= time;
      if (best == nullptr || (born && (!best_born || f.born_ns >= best->born_ns)) ||
          (!born && !best_born && f.born_ns < best->born_ns)) {
        best = &f;
      }
    }
    const CodeLocation found =
        index.locate({FrameMode::kUser, address}, pid, time, AddressUse::kExact);
    // Rows of equal birth: which one depends on their order by start.
    CHECK((found.function == nullptr) == (best == nullptr));
    if (best != nullptr) {
      CHECK(found.function->born_ns == best->born_ns);
    }
  }
}

TEST_CASE("symbols: any number of threads may ask at once") {
  Tables tables;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    tables.add(kProcess, 7 + i % 3, 0x1000 + i * 24, 40, "f" + std::to_string(i), i);
  }
  tables.map(7, 0x1000, 0x4000, 0, "/lib/a.so");
  const SymbolIndex index(tables.processes, tables.modules, tables.names, {});
  const auto ask = [&index](std::vector<const Function*>& found) {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      const CodeLocation at = index.locate({FrameMode::kUser, 0x1000 + i * 5 % 50'000},
                                           7 + static_cast<std::uint32_t>(i % 3), i % 2500,
                                           i % 2 == 0 ? AddressUse::kExact : AddressUse::kReturn);
      found.push_back(at.function);
      found.push_back(index.epochs().find(7, i).number % 2 == 0 ? nullptr : at.function);
    }
  };
  std::vector<const Function*> alone;
  ask(alone);
  std::vector<std::vector<const Function*>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found) {
    threads.emplace_back(ask, std::ref(mine));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const auto& mine : found) {
    CHECK(mine == alone);
  }
}
