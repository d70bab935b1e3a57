#include "export/html/page_functions.h"

#include <algorithm>
#include <utility>

#include "query/selection/file_name.h"

namespace stackpack::exporting {

namespace {

constexpr std::uint32_t kNotAsked = ~std::uint32_t{0};

}  // namespace

void make_key(const PageFunction& function, std::string_view module, std::string& key) {
  key = function.name;
  key += function.named ? '\1' : '\0';
  key.append(std::to_string(function.offset)) += '\0';
  key += function.module == kNoPageModule ? "" : "m";
  key += module;
}

query::CodeMode PageFunctions::mode_of(const query::Location& location) const {
  return query::code_mode(
      location.mode,
      location.code != query::kNoCode &&
          locations_.functions()[locations_.places()[location.code].function].made_at_run_time);
}

std::uint32_t PageFunctions::of(std::uint32_t location) {
  if (location >= function_of_location_.size()) {
    function_of_location_.resize(std::max<std::size_t>(location + 1, locations_.size()), kNotAsked);
  }
  std::uint32_t& function = function_of_location_[location];
  if (function == kNotAsked) {
    function = number_of(locations_.location(location), location);
  }
  return function;
}

std::uint32_t PageFunctions::number_of(const query::Location& location, std::uint32_t number) {
  PageFunction function;
  function.mode = mode_of(location);
  function.named = location.code != query::kNoCode;
  std::string_view module;
  if (location.image != query::kNoImage) {
    const Module& image = locations_.module_of_image(location.image);
    const bool memory = query::is_memory(image);
    module = memory && function.mode == query::CodeMode::kMadeAtRunTime
                 ? "[JIT]"
                 : query::file_name_of(image);
    function.module = modules_.intern(module);
  }
  if (function.named) {
    locations_.append_address(number, function.name);
  } else {
    function.offset =
        location.image == query::kNoImage ? location.address : locations_.file_offset(number);
  }
  make_key(function, module, scratch_);
  const std::uint32_t known = keys_.intern(scratch_);
  if (known == functions_.size()) {
    functions_.push_back(std::move(function));
  } else {
    functions_[known].mode = query::more_telling(functions_[known].mode, function.mode);
  }
  return known;
}

void PageFunctions::mark_inlined() {
  std::vector<bool> has_code(locations_.size());
  for (std::uint32_t number = 0; number < locations_.unfolded_count(); ++number) {
    has_code[locations_.parts(number).front()] = true;
  }
  std::vector<bool> function_has_code(functions_.size());
  for (std::uint32_t location = 0; location < has_code.size(); ++location) {
    if (has_code[location]) {
      function_has_code[of(location)] = true;
    }
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    if (!function_has_code[i]) {
      functions_[i].mode = query::CodeMode::kInlined;
    }
  }
}

void PageFunctions::move_to(PageContent& content) {
  content.functions = std::move(functions_);
  content.modules.clear();
  for (std::uint32_t i = 0; i < modules_.size(); ++i) {
    content.modules.emplace_back(modules_.text(i));
  }
}

}  // namespace stackpack::exporting
