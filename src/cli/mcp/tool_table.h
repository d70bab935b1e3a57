// What a client of `stackpack mcp` may ask for: each tool is a command with some of its options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/mcp/rpc_message.h"

namespace stackpack::cli {

/// What becomes of a tool's words.
enum class ToolKind : std::uint8_t {
  kOpen,
  kSummary,
  kReport,  ///< of top, callers, callees
  kShow,
  kDiff,
  kWaits,
  kEvents,  ///< of gc, exceptions, info, io, jit, locks, mem: text
  kPage,
};

struct ToolArgument {
  enum class Type : std::uint8_t { kText, kTexts, kNumber, kFlag, kFile, kFiles };

  std::string_view name;
  Type type = Type::kText;
  std::string_view text;    ///< for the client
  std::string_view option;  ///< of the command, "--by"; empty: a word without a name
  bool needed = false;
  std::span<const std::string_view> choices{};  ///< empty: any text
};

struct Tool {
  std::string_view name;
  ToolKind kind = ToolKind::kOpen;
  std::string_view text;
  std::vector<std::string_view> words;  ///< the command and what is always said with it
  std::vector<ToolArgument> arguments;  ///< those without an option in the order of the command
};

std::span<const Tool> all_tools();

/// The object of `tools/list`.
std::string tools_as_json();

/// A call as words of a command line, and which of them are files.
struct ToolWords {
  std::vector<std::string> options;  ///< the command first
  std::vector<std::string> others;   ///< words without a name, in their order
  std::vector<std::string> files;    ///< arguments of the types kFile and kFiles
  std::string function;              ///< the argument of that name, if there is one
  std::size_t rows = 0;              ///< 0: not given
};

/// Checks names and types of a call's arguments. A text: what is wrong.
std::variant<ToolWords, std::string> words_of_call(const Tool& tool,
                                                   const app::JsonValue& arguments);

}  // namespace stackpack::cli
