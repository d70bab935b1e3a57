#pragma once

#include <cstdint>
#include <string_view>

#include "stackpack/names.h"
#include "symbolize/demangler.h"
#include "symbolize/name_collector.h"
#include "symbolize/symbol_request.h"

namespace stackpack::symbolize {

/// Numbers of the texts of a function's names.
struct LinkedName {
  std::uint32_t name = kNoText;     ///< as people read it
  std::uint32_t linkage = kNoText;  ///< as linked; none: the same
};

/// Puts names as they are linked into a collector, as people read them and as linked.
class LinkedNames {
 public:
  LinkedNames(const SymbolLimits& limits, NameCollector& names)
      : limits_(limits), names_(names), demangler_(limits.name_bytes) {}

  LinkedName add(std::string_view linked) {
    linked = linked.substr(0, limits_.name_bytes);
    const LinkedName name = put(linked);
    names_.losses().unread_names += name.linkage == kNoText && is_encoded(linked) ? 1U : 0U;
    return name;
  }

  /// As people read it. No loss where nobody can: functions are found by it, none is shown so.
  std::uint32_t add_alias(std::string_view linked) {
    return put(linked.substr(0, limits_.name_bytes)).name;
  }

 private:
  LinkedName put(std::string_view linked) {
    const std::string_view readable = demangler_.demangle(linked);
    return readable.empty() ? LinkedName{names_.text(linked), kNoText}
                            : LinkedName{names_.text(readable), names_.text(linked)};
  }

  const SymbolLimits& limits_;
  NameCollector& names_;
  Demangler demangler_;
};

/// Adds names of an image or another owner to `names`, those that are as linked readable as well.
void add_demangled(const Names& linked, const SymbolLimits& limits, NameCollector& names);

}  // namespace stackpack::symbolize
