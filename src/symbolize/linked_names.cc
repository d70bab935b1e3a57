#include "symbolize/linked_names.h"

#include <vector>

namespace stackpack::symbolize {

void add_demangled(const Names& linked, const SymbolLimits& limits, NameCollector& names) {
  LinkedNames texts(limits, names);
  const TextTable& from = linked.texts;
  const auto set_names = [&](auto& row) {
    if (row.linkage == kNoText) {
      const LinkedName name = texts.add(from[row.name]);
      row.name = name.name;
      row.linkage = name.linkage;
    } else {
      row.name = names.text(from[row.name]);
      row.linkage = names.text(from[row.linkage]);
    }
  };
  for (Function row : linked.functions) {
    set_names(row);
    row.file = names.text(from[row.file]);
    names.add_function(row);
  }
  std::vector<std::uint32_t> calls;
  calls.reserve(linked.inlined.size());
  for (InlinedCall row : linked.inlined) {
    set_names(row);
    row.parent = row.parent == kNoInline ? kNoInline : calls[row.parent];
    row.call_file = names.text(from[row.call_file]);
    calls.push_back(names.add_call(row));
  }
  for (CodeLine row : linked.lines) {
    row.inlined = row.inlined == kNoInline ? kNoInline : calls[row.inlined];
    row.file = names.text(from[row.file]);
    names.add_line(row);
  }
  for (const FunctionAlias& row : linked.aliases) {
    names.add_alias(texts.add_alias(from[row.name]), texts.add_alias(from[row.alias]));
  }
}

}  // namespace stackpack::symbolize
