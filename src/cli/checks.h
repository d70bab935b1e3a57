#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/check_expression.h"
#include "cli/messages.h"

namespace stackpack::cli {

/// What the conditions of one command's --check are about.
struct CheckSubject {
  std::string_view command;
  std::string_view example;  ///< of a condition
  /// Whether a key that the object does not have is a counter of what did not happen: 0 then.
  std::function<bool(std::string_view key)> is_absent_counter{};
  /// A hint for a key that does not exist, to put after the message.
  std::function<std::string(std::string_view key)> suggestion{};
};

/// The conditions; nothing, with a message, when one of them is none.
std::optional<std::vector<CheckExpression>> parse_checks(const CheckSubject& subject,
                                                         const std::vector<std::string>& texts,
                                                         const Messages& messages);

/// A message for each condition that does not hold of `json`, the command's object about `file`.
/// Result: the exit code.
int apply_checks(const CheckSubject& subject, const std::vector<CheckExpression>& checks,
                 std::string_view json, const std::string& file, const Messages& messages);

}  // namespace stackpack::cli
