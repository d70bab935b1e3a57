#include "app/listing/function_ids.h"

#include "capture/memory_name.h"
#include "query/function_pattern.h"
#include "query/selection/file_name.h"

namespace stackpack::app {

std::string function_id(std::string_view name, std::string_view module) {
  return query::function_id(name, module);
}

std::string function_id(const CodeLocation& location) {
  const bool has_image =
      location.module != nullptr &&
      !(location.function != nullptr && location.function->owner == FunctionOwner::kProcess &&
        capture::is_memory_name(location.module->path));
  return query::function_id(location.name,
                            has_image ? query::file_name_of(*location.module) : std::string_view());
}

std::string callstack_id(std::string_view names) {
  return query::function_id(names, "");
}

}  // namespace stackpack::app
