#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/redact/sip_hash.h"
#include "capture/system_tables.h"
#include "stackpack/names.h"
#include "stackpack/sample_fields.h"

namespace stackpack::app {

/// What stands in for texts: the same for the same text, another for another one.
class StandIns {
 public:
  /// With a key stand-ins depend on it and the text alone, so that files which are redacted with
  /// one key can be compared. Without, they are numbers in the order of their first use.
  explicit StandIns(const std::optional<std::string>& key);

  /// `KIND_...` for a text; empty for an empty one.
  std::string of(std::string_view kind, std::string_view text);
  /// As many bytes for a build id.
  std::vector<std::uint8_t> of_build_id(const std::vector<std::uint8_t>& build_id);

 private:
  std::optional<SipHash> hash_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
  std::map<std::string, std::uint64_t, std::less<>> used_;  // by kind
};

struct RedactedCounts {
  std::uint64_t functions = 0;  ///< rows of functions that have a stand-in
  std::uint64_t kept_functions = 0;
  std::uint64_t modules = 0;  ///< rows of modules
  std::uint64_t kept_modules = 0;
  std::uint64_t facts_dropped = 0;   ///< rows of metadata
  std::uint64_t value_texts = 0;     ///< texts of values of events that have a stand-in
  std::uint64_t values_dropped = 0;  ///< rows of values of events
};

/// Which rows of the modules keep their names: those whose path, or its last part, fits a pattern,
/// and those that are no files: `[vdso]`.
std::vector<bool> kept_modules(const std::vector<Module>& modules,
                               const std::vector<std::string>& patterns);

/// Puts stand-ins in place of paths, build ids and names of processes and threads, and drops
/// command lines and what metadata say of the machine's owner. Kept paths lose user names.
void redact_tables(capture::SystemTables& tables, const std::vector<bool>& kept, StandIns& names,
                   RedactedCounts& counts);

/// Puts stand-ins in place of paths of control groups: they name users, services and containers.
void redact_control_groups(std::vector<ControlGroup>& groups, StandIns& names);

/// The same rows with stand-ins in place of functions and files, but those of kept modules. Calls
/// that were inlined in kept code and in other code have stand-ins. `keeps_kernel`: of the kernel.
Names redacted_names(const Names& names, const std::vector<bool>& kept, bool keeps_kernel,
                     StandIns& stand_ins, RedactedCounts& counts);

}  // namespace stackpack::app
