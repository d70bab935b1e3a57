// A gate's file: whatever the bytes, rules or an error that says where.
#include <cstdlib>
#include <span>
#include <string>

#include "stackpack/diff.h"

namespace stackpack::fuzz {

void gate_file(std::span<const std::byte> data) {
  std::string text;
  for (const std::byte byte : data) {
    text.push_back(static_cast<char>(byte));
  }
  std::string problem;
  const auto rules = parse_gate_rules(text, &problem);
  if (rules) {
    for (const GateCondition& condition : rules->conditions) {
      if (!parse_gate_condition(condition.text)) {
        std::abort();
      }
    }
    return;
  }
  const bool limit = rules.error().code == ErrorCode::kLimit;
  if (limit != problem.empty() || (!limit && !problem.starts_with("line "))) {
    std::abort();
  }
}

}  // namespace stackpack::fuzz
