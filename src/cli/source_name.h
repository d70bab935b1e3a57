#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "stackpack/model.h"

namespace stackpack::cli {

/// The word of a source in listings.
inline std::string_view source_name(FunctionSource source) {
  static constexpr std::array<std::string_view, kFunctionSourceCount> kNames{
      "unknown", "clr",       "jscript",  "ksymbol",  "bpf",           "simpleperf",
      "folded",  "pprof",     "symtab",   "dynsym",   "gnu-debugdata", "dwarf",
      "pdb",     "pe-export", "kallsyms", "perf-map", "jitdump"};
  const auto number = static_cast<std::size_t>(source);
  return number < kNames.size() ? kNames[number] : kNames.front();
}

}  // namespace stackpack::cli
