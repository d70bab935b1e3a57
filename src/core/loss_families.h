#pragma once

#include <string_view>

namespace stackpack::core {

/// What a counter says that a capture has and its .spk file does not keep: its name is
/// "FAMILY_not_kept.MEMBER".
struct NotKeptName {
  std::string_view family;  ///< empty: the counter is of another kind
  std::string_view member;
};

inline NotKeptName not_kept_name(std::string_view counter) {
  constexpr std::string_view kJoint = "_not_kept.";
  const std::size_t at = counter.find(kJoint);
  return at == std::string_view::npos
             ? NotKeptName{}
             : NotKeptName{counter.substr(0, at), counter.substr(at + kJoint.size())};
}

}  // namespace stackpack::core
