#include "app/symbolize/readable_names.h"

#include <cstdint>
#include <vector>

#include "symbolize/linked_names.h"

namespace stackpack::app {

Status make_readable(Names& names, const NamingOptions& options) {
  std::vector<std::uint64_t> rows;  // of functions whose names may be as linked
  for (std::size_t row = 0; row < names.functions.size(); ++row) {
    const Function& function = names.functions[row];
    if (function.source == FunctionSource::kSimpleperf && function.linkage == kNoText) {
      rows.push_back(row);
    }
  }
  if (rows.empty()) {
    return {};
  }
  // An answer is about places in a file; here they are rows.
  const auto read = [&](const symbolize::SymbolRequest& request,
                        symbolize::NameCollector& readable) {
    symbolize::LinkedNames texts(request.limits, readable);
    for (const std::uint64_t row : rows) {
      const symbolize::LinkedName name = texts.add(names.texts[names.functions[row].name]);
      if (name.linkage != kNoText) {
        Function function;
        function.start = row;
        function.size = 1;
        function.source = FunctionSource::kSimpleperf;
        function.name = name.name;
        readable.add_function(function);
      }
    }
    return Status();
  };
  const NamingTask task{rows, [&read] {
                          ReadPlan plan;
                          plan.read = read;
                          return plan;
                        }};
  const auto answers = name_all({task}, options, [](std::size_t) { return true; });
  if (!answers) {
    return answers.error();
  }
  const Names& found = answers->front().names;
  for (const Function& answer : found.functions) {
    if (answer.start < names.functions.size()) {
      Function& function = names.functions[answer.start];
      function.linkage = function.name;
      function.name = static_cast<std::uint32_t>(names.texts.size());
      names.texts.add(found.texts[answer.name]);
    }
  }
  return {};
}

}  // namespace stackpack::app
