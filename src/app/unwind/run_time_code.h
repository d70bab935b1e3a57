// What run-time compilers wrote into their jitdump files about the frames of their code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/unwind/recorded_here.h"
#include "capture/module_map.h"
#include "capture/system_tables.h"
#include "stackpack/model.h"
#include "symbolize/symbol_files.h"
#include "unwind/code_tables.h"

namespace stackpack::app {

/// Finds the unwind tables of code that processes made at run time: in the jitdump files that they
/// have mapped, which are believed as for names.
///
/// Memory: 200 bytes a piece of code, for kMostPieces, and kMostBytes of tables. Beyond, code has
///         none.
/// Threads: one at a time.
class RunTimeCode {
 public:
  static constexpr std::size_t kMostPieces = std::size_t{1} << 18;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  /// `tables`: of the capture; they must outlive this. `places` says whether it is of this machine.
  RunTimeCode(const capture::SystemTables& tables, const symbolize::SymbolPlaces& places,
              const RecordingTimes& times);

  struct Piece {
    std::uint32_t number = 0;
    unwind::CodeTables* tables = nullptr;  ///< with addresses of the process; valid until the next
  };
  /// The code at an address then, if its compiler wrote something about its frames.
  std::optional<Piece> find(std::uint32_t pid, std::uint64_t time_ns, std::uint64_t address,
                            unwind::Machine machine);

  /// Processes and times at which code took the bytes of other code.
  [[nodiscard]] std::span<const std::pair<std::uint32_t, std::uint64_t>> reuses() const {
    return reuses_;
  }

 private:
  void add_dump(const Module& dump, const symbolize::SymbolPlaces& places, const MapTimes& times,
                bool monotonic);

  struct Frames {
    std::size_t first = 0;  // of bytes_
    std::size_t count = 0;
  };
  std::vector<Module> pieces_;
  std::vector<Frames> frames_;  // by piece
  std::vector<std::byte> bytes_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> reuses_;
  std::optional<capture::ModuleMap> map_;
  std::optional<unwind::CodeTables> found_;
};

}  // namespace stackpack::app
