// What a source has said of functions, in plain containers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/collecting_sink.h"

namespace stackpack::test {

struct NamedRange {
  FunctionOwner owner = FunctionOwner::kProcess;
  FunctionSource source = FunctionSource::kUnknown;
  std::uint32_t module = 0;
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::string name;
  std::string linkage;
  std::string declared;  ///< `file:line` of the function
  /// `file:line` of its code, then for each inlined call, outermost first, ` < name at file:line`.
  std::string code;
};

/// All functions, by owner, place, start. Once for a sink.
inline std::vector<NamedRange> functions_of(CollectingSink& sink) {
  std::vector<NamedRange> functions;
  const auto place = [](std::string_view file, std::uint32_t line) {
    return std::string(file) + ":" + std::to_string(line);
  };
  const Status done = sink.system_facts.functions().finish(
      sink.system_facts.finish(), [](const capture::RecordedFunction&) { return true; },
      [&](const capture::RecordedFunction& function) -> Status {
        NamedRange& row = functions.emplace_back();
        row.owner = function.owner;
        row.source = function.source;
        row.module = function.module;
        row.start = function.start;
        row.size = function.size;
        row.name = function.name;
        row.linkage = function.linkage;
        row.declared = place(function.file, function.line);
        row.code = place(function.code.file, function.code.line);
        for (const capture::InlinedFact& call : function.code.inlined) {
          row.code +=
              " < " + std::string(call.name) + " at " + place(call.call_file, call.call_line);
        }
        return {};
      });
  REQUIRE(done);
  return functions;
}

}  // namespace stackpack::test
