#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/unwind/image_store.h"
#include "app/unwind/run_time_code.h"
#include "capture/dump_unwinder.h"
#include "capture/module_map.h"
#include "stackpack/model.h"
#include "symbolize/symbol_files.h"
#include "unwind/stack_walk.h"

namespace stackpack::app {

/// Numbers the times during which the addresses of a process mean the same: a new number begins
/// where the process begins (a pid is used again, or exec), and where an image is mapped or
/// unmapped. What a forked process has from its parent is fixed at the fork.
class AddressSpaces {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// `changes`: processes and times at which code took the bytes of other code.
  AddressSpaces(std::span<const Process> processes, std::span<const Module> modules,
                std::span<const std::pair<std::uint32_t, std::uint64_t>> changes = {});

  /// The number of the address space of `pid` at `time_ns`; kNone: nothing is known of the process.
  [[nodiscard]] std::uint32_t find(std::uint32_t pid, std::uint64_t time_ns);

 private:
  // The last answer, of some processes.
  struct Recent {
    std::uint32_t pid = ~std::uint32_t{0};
    std::uint32_t space = kNone;
    std::uint64_t from_ns = 1;
    std::uint64_t until_ns = 0;
  };
  static constexpr std::size_t kRecent = 256;

  std::vector<std::pair<std::uint32_t, std::uint64_t>> boundaries_;  // pid, first time
  std::array<Recent, kRecent> recent_;
};

/// Unwinds dumps by the unwind tables of the files on this machine, and by those that run-time
/// compilers wrote about their code. Images without a build id are believed as names of them are.
///
/// What it gives depends on the capture and on those files alone.
class ImageUnwinder final : public capture::DumpUnwinder {
 public:
  /// `capture`: the file into which the recording went.
  ImageUnwinder(symbolize::SymbolPlaces places, std::string capture)
      : places_(std::move(places)), capture_(std::move(capture)) {}

  void begin(capture::SystemTables tables) override;
  capture::UnwoundStack unwind(const capture::ThreadDump& dump) override;
  void pass_over(std::string_view loss, std::uint64_t offset) override;
  void finish(capture::CallstackSink& sink) override;

  /// Samples whose callstacks end because the capture has no build id of the image; after finish().
  [[nodiscard]] std::uint64_t samples_without_build_id() const;

  /// Of all walks; after finish().
  [[nodiscard]] unwind::WalkCounts counts() const;

 private:
  struct Counter {
    std::uint64_t count = 0;
    std::uint64_t first_offset = ~std::uint64_t{0};
  };
  static void count(Counter& counter, std::uint64_t offset);
  unwind::CodePlace find_code(std::uint64_t address);
  unwind::CodePlace find_run_time_code(std::uint64_t address, unwind::CodePlace otherwise);
  bool follows_call(std::uint64_t address);
  unwind::StackWalker& walker(capture::DumpMachine machine);

  symbolize::SymbolPlaces places_;
  std::string capture_;
  capture::SystemTables tables_;
  std::optional<capture::ModuleMap> map_;
  std::optional<AddressSpaces> spaces_;
  std::optional<ImageStore> images_;
  std::optional<RunTimeCode> run_time_code_;
  std::array<std::optional<unwind::StackWalker>, 2> walkers_;  // by machine
  std::array<Counter, unwind::kWalkEnds> ends_{};
  std::map<std::string, Counter, std::less<>> passed_over_;
  std::uint32_t pid_ = 0;  // of the dump under way
  std::uint64_t time_ns_ = 0;
  unwind::Machine machine_ = unwind::Machine::kX64;
};

/// The folders of perf's cache of binaries, for symbolize::SymbolPlaces::directories.
std::vector<std::string> perf_cache_folders();

}  // namespace stackpack::app
