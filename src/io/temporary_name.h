// Names of files beside an output until they take its place: OUT.tmp-PID-N-MARK. MARK is a digest
// of what stands before it, which nobody's file has by chance: what lacks it is not ours. Where OUT
// is so long that this would be longer than a file's name can be, its first bytes stand for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stackpack::io {

/// What such names begin with, for an output of that name (without its folder): all of it, or as
/// many whole characters of UTF-8 as there is room for.
std::string_view temporary_stem(std::string_view file_name);

/// The path of attempt number `attempt` beside `target`, of the process `pid`.
std::string temporary_name(const std::string& target, std::uint64_t pid, unsigned attempt);

/// The process in the name of a file, if it is such a name with its mark; `stem`: what it begins
/// with.
struct TemporaryOwner {
  std::string_view stem;
  std::uint32_t pid = 0;
};
std::optional<TemporaryOwner> owner_of_temporary(std::string_view file_name);

}  // namespace stackpack::io
