#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/function_recorder.h"
#include <protozero/pbf_reader.hpp>

namespace stackpack::protobuf {

/// A function in the tables of a profile. Texts are numbers of its strings.
struct FunctionEntry {
  std::uint64_t name = 0;
  std::uint64_t system_name = 0;  ///< as the linker has it
  std::uint64_t file = 0;
  std::uint32_t start_line = 0;  ///< 0: not known
};

/// A line of a location: a function, and where in its file.
struct LineEntry {
  std::uint64_t function = 0;
  std::uint32_t line = 0;  ///< 0: not known

  friend bool operator==(const LineEntry&, const LineEntry&) = default;
};

/// Takes the field at which `message` stands into `function`; one of something else is skipped.
/// `name`: the number of the field with the name, which those with the linker's name, the file and
/// the line follow. Throws what protozero throws.
void take_function_field(protozero::pbf_reader& message, std::uint32_t name,
                         FunctionEntry& function);

/// Reads a message of a function (field 1) and a line (field 2). Throws what protozero throws.
LineEntry read_line(protozero::pbf_reader message);

/// `0x1f`.
std::string hex(std::uint64_t value);

/// The bytes of hexadecimal digits; none when the text is something else.
std::vector<std::uint8_t> bytes_of_hex(std::string_view text);

/// Says in `fact` what the lines of a location say, of which there is at least one: the last one is
/// of the function that has the code, those before are of calls that were inlined there, innermost
/// first.
///
/// `text(number)`: a string of the profile, which outlives the fact; `function_of(line)`.
/// `inlined`: becomes the calls, which the caller gives to the fact. Result: the innermost
/// function.
template <typename Text, typename FunctionOf>
const FunctionEntry& describe_lines(std::span<const LineEntry> lines, const Text& text,
                                    const FunctionOf& function_of,
                                    std::vector<capture::InlinedFact>& inlined,
                                    capture::FunctionFact& fact) {
  const auto name_of = [&](const FunctionEntry& function) -> std::string_view {
    const std::string_view name = text(function.name);
    const std::string_view linkage = text(function.system_name);
    return !name.empty() ? name : !linkage.empty() ? linkage : "[unknown]";
  };
  const auto linkage_of = [&](const FunctionEntry& function) -> std::string_view {
    const std::string_view linkage = text(function.system_name);
    return linkage == name_of(function) ? std::string_view() : linkage;
  };
  const FunctionEntry* caller = &function_of(lines.back());
  fact.name = name_of(*caller);
  fact.linkage = linkage_of(*caller);
  fact.file = text(caller->file);
  fact.line = caller->start_line;
  inlined.clear();
  for (std::size_t i = lines.size() - 1; i-- > 0;) {
    const FunctionEntry& callee = function_of(lines[i]);
    inlined.push_back({name_of(callee), linkage_of(callee), text(caller->file), lines[i + 1].line});
    caller = &callee;
  }
  return *caller;
}

}  // namespace stackpack::protobuf
