#include "export/formats/firefox_tables.h"

#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "query/naming/build_id_text.h"
#include "query/selection/file_name.h"

namespace stackpack::exporting {

namespace {

constexpr int kResourceOfLibrary = 1;

// Bits of the column `flags`. Source: src/types/profile.ts of the Firefox Profiler.
enum FrameFlag : unsigned {
  kFrameIsInlined = 1,
  kFrameHasAddress = 2,
  kFrameHasCategory = 4,
  kFrameHasLine = 16
};
enum FunctionFlag : unsigned {
  kFunctionHasResource = 4,
  kFunctionHasSource = 8,
  kFunctionHasLine = 16
};

unsigned category_of_mode(FrameMode mode) {
  switch (mode) {
    case FrameMode::kKernel:
    case FrameMode::kGuestKernel:
    case FrameMode::kHypervisor:
      return FirefoxTables::kKernel;
    case FrameMode::kUser:
    case FrameMode::kGuestUser:
      return FirefoxTables::kUser;
    default:
      return FirefoxTables::kOther;
  }
}

}  // namespace

FirefoxTables::FirefoxTables(const query::LocationTable& locations, const query::StackTree& tree,
                             JsonWriter& json)
    : locations_(locations), tree_(tree), json_(json) {
  number_libraries();
  number_functions();
}

void FirefoxTables::write() {
  write_libraries();
  write_key(json_, "shared");
  json_.StartObject();
  write_stack_table();
  write_frame_table();
  write_function_table();
  write_resource_table();
  write_empty_table("nativeSymbols", {"libIndex", "address", "name", "functionSize"});
  write_sources();
  write_empty_table("sourceLocationTable", {"source", "line", "column"});
  write_strings();
  json_.EndObject();
}

// Only libraries with a frame are listed.
void FirefoxTables::number_libraries() {
  library_of_image_.assign(locations_.image_count(), query::kNoImage);
  for (std::uint32_t i = 0; i < locations_.size(); ++i) {
    const std::uint32_t image = locations_.location(i).image;
    if (image != query::kNoImage && library_of_image_[image] == query::kNoImage) {
      library_of_image_[image] = static_cast<std::uint32_t>(libraries_.size());
      libraries_.push_back(image);
    }
  }
}

std::uint32_t FirefoxTables::library_of(std::uint32_t location) const {
  const std::uint32_t image = locations_.location(location).image;
  return image == query::kNoImage ? query::kNoImage : library_of_image_[image];
}

// A reader's addresses have 32 bits: one beyond them is in the name of the function alone.
bool FirefoxTables::has_place(std::uint32_t location) const {
  return library_of(location) != query::kNoImage && locations_.location(location).has_address &&
         locations_.location(location).address <= std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t FirefoxTables::line_of(std::uint32_t location) const {
  const std::uint32_t code = locations_.location(location).code;
  return code == query::kNoCode ? 0 : locations_.places()[code].line;
}

// The function that a location is in; null without a name.
const query::FunctionName* FirefoxTables::function_at(std::uint32_t location) const {
  const std::uint32_t code = locations_.location(location).code;
  return code == query::kNoCode ? nullptr
                                : &locations_.functions()[locations_.places()[code].function];
}

unsigned FirefoxTables::category_of(std::uint32_t location) const {
  const query::FunctionName* const function = function_at(location);
  const unsigned category = category_of_mode(locations_.location(location).mode);
  return function != nullptr && function->made_at_run_time && category != kKernel ? kManaged
                                                                                  : category;
}

unsigned FirefoxTables::frame_flags(std::uint32_t location) const {
  unsigned flags = kFrameHasCategory;
  flags |= locations_.location(location).inline_depth > 0 ? kFrameIsInlined : 0U;
  flags |= has_place(location) ? kFrameHasAddress : 0U;
  flags |= line_of(location) != 0 ? kFrameHasLine : 0U;
  return flags;
}

unsigned FirefoxTables::function_flags(const FunctionRow& row) {
  unsigned flags = 0;
  flags |= row.library != query::kNoImage ? kFunctionHasResource : 0U;
  flags |= row.source != 0 ? kFunctionHasSource : 0U;
  flags |= row.start_line != 0 ? kFunctionHasLine : 0U;
  return flags;
}

// A function for each name in a library; one for each frame without a name: only the symbols,
// which come later, show which of those are of one function.
void FirefoxTables::number_functions() {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;
  std::string text;
  for (std::uint32_t row = 0; row < locations_.size(); ++row) {
    const std::uint32_t code = locations_.location(row).code;
    const auto next = static_cast<std::uint32_t>(functions_.size());
    std::uint32_t number = next;
    if (code != query::kNoCode) {
      number = known.try_emplace({locations_.places()[code].function, library_of(row)}, next)
                   .first->second;
    }
    function_of_.push_back(number);
    if (number != next) {
      continue;
    }
    const query::FunctionName* const function = function_at(row);
    text.clear();
    if (code != query::kNoCode || has_place(row) || library_of(row) == query::kNoImage) {
      locations_.append_address(row, text);  // the viewer puts the library in front
    } else {
      locations_.append_text(row, text);
    }
    const std::uint32_t file = function == nullptr ? 0 : function->file;
    functions_.push_back({strings_.intern(text), library_of(row),
                          file == 0 ? 0 : sources_.intern(locations_.text(file)) + 1,
                          function == nullptr ? 0 : function->start_line});
  }
}

bool FirefoxTables::all_named() const {
  for (std::uint32_t row = 0; row < locations_.size(); ++row) {
    if (locations_.location(row).code == query::kNoCode && library_of(row) != query::kNoImage) {
      return false;
    }
  }
  return !locations_.functions().empty();
}

void FirefoxTables::write_libraries() {
  write_key(json_, "libs");
  json_.StartArray();
  for (const std::uint32_t image : libraries_) {
    const Module& module = locations_.module_of_image(image);
    const std::string_view name = query::file_name_of(module);
    const bool has_pdb = module.build_id_kind == BuildIdKind::kPdb;
    json_.StartObject();
    write_member(json_, "arch", "");
    write_member(json_, "name", name);
    write_member(json_, "path", module.path);
    write_member(json_, "debugName", has_pdb ? module.debug_name : name);
    write_member(json_, "debugPath", has_pdb ? module.debug_name : module.path);
    write_member(json_, "breakpadId", query::breakpad_id(module));
    if (module.build_id_kind == BuildIdKind::kGnu) {
      write_member(json_, "codeId", query::hex_of(module.build_id));
    } else {
      write_null_member(json_, "codeId");
    }
    json_.EndObject();
  }
  json_.EndArray();
}

template <typename Value>
void FirefoxTables::column(std::string_view key, std::uint64_t rows, Value value) {
  write_key(json_, key);
  json_.StartArray();
  for (std::uint32_t row = 0; row < rows; ++row) {
    value(row);
  }
  json_.EndArray();
}

void FirefoxTables::zeros(std::string_view key, std::uint64_t rows) {
  column(key, rows, [this](std::uint32_t) { json_.Uint(0); });
}

void FirefoxTables::nulls(std::string_view key, std::uint64_t rows) {
  column(key, rows, [this](std::uint32_t) { json_.Null(); });
}

void FirefoxTables::write_empty_table(std::string_view key,
                                      std::initializer_list<std::string_view> columns) {
  write_key(json_, key);
  json_.StartObject();
  for (const std::string_view name : columns) {
    write_empty_list(json_, name);
  }
  write_member(json_, "length", std::uint64_t{0});
  json_.EndObject();
}

// How many rows above its own a row's parent is, 0 without one: parents come first.
void FirefoxTables::write_stack_table() {
  const std::uint64_t rows = tree_.node_count() - 1;  // without the root
  write_key(json_, "stackTable");
  json_.StartObject();
  column("frame", rows, [this](std::uint32_t row) { json_.Uint(tree_.location(row + 1)); });
  column("prefixOffset", rows, [this](std::uint32_t row) {
    const std::uint32_t parent = tree_.parent(row + 1);
    json_.Uint(parent == query::StackTree::kRoot ? 0 : row + 1 - parent);
  });
  write_member(json_, "length", rows);
  json_.EndObject();
}

void FirefoxTables::write_frame_table() {
  const std::uint64_t rows = locations_.size();
  write_key(json_, "frameTable");
  json_.StartObject();
  column("flags", rows, [this](std::uint32_t row) { json_.Uint(frame_flags(row)); });
  column("address", rows, [this](std::uint32_t row) {
    json_.Uint64(has_place(row) ? locations_.location(row).address : 0);
  });
  column("category", rows, [this](std::uint32_t row) { json_.Uint(category_of(row)); });
  zeros("subcategory", rows);
  column("func", rows, [this](std::uint32_t row) { json_.Uint(function_of_[row]); });
  column("lib", rows,
         [this](std::uint32_t row) { json_.Uint(has_place(row) ? library_of(row) : 0); });
  zeros("nativeSymbol", rows);
  zeros("innerWindowID", rows);
  column("line", rows, [this](std::uint32_t row) { json_.Uint(line_of(row)); });
  zeros("column", rows);
  zeros("originalLocation", rows);
  write_member(json_, "length", rows);
  json_.EndObject();
}

void FirefoxTables::write_function_table() {
  const std::uint64_t rows = functions_.size();
  write_key(json_, "funcTable");
  json_.StartObject();
  column("flags", rows, [this](std::uint32_t row) { json_.Uint(function_flags(functions_[row])); });
  column("name", rows, [this](std::uint32_t row) { json_.Uint(functions_[row].name); });
  column("resource", rows, [this](std::uint32_t row) {
    const std::uint32_t library = functions_[row].library;
    json_.Uint(library == query::kNoImage ? 0 : library);
  });
  column("source", rows, [this](std::uint32_t row) {
    const std::uint32_t source = functions_[row].source;
    json_.Uint(source == 0 ? 0 : source - 1);
  });
  column("lineNumber", rows, [this](std::uint32_t row) { json_.Uint(functions_[row].start_line); });
  zeros("columnNumber", rows);
  zeros("originalLocation", rows);
  write_member(json_, "length", rows);
  json_.EndObject();
}

void FirefoxTables::write_sources() {
  const std::uint64_t rows = sources_.size();
  const auto one = [this](std::uint32_t) { json_.Uint(1); };
  write_key(json_, "sources");
  json_.StartObject();
  nulls("id", rows);
  column("filename", rows,
         [this](std::uint32_t row) { json_.Uint(strings_.intern(sources_.text(row))); });
  column("startLine", rows, one);
  column("startColumn", rows, one);
  nulls("sourceMapURL", rows);
  nulls("content", rows);
  write_member(json_, "length", rows);
  json_.EndObject();
}

// A resource per library.
void FirefoxTables::write_resource_table() {
  const std::uint64_t rows = libraries_.size();
  write_key(json_, "resourceTable");
  json_.StartObject();
  column("name", rows, [this](std::uint32_t row) {
    json_.Uint(strings_.intern(query::file_name_of(locations_.module_of_image(libraries_[row]))));
  });
  nulls("host", rows);
  column("type", rows, [this](std::uint32_t) { json_.Int(kResourceOfLibrary); });
  if (has_libraries_of_one_name()) {  // a column of older versions: names do not say which
    column("lib", rows, [this](std::uint32_t row) { json_.Uint(row); });
  }
  write_member(json_, "length", rows);
  json_.EndObject();
}

bool FirefoxTables::has_libraries_of_one_name() const {
  std::set<std::string_view> names;
  for (const std::uint32_t image : libraries_) {
    names.insert(query::file_name_of(locations_.module_of_image(image)));
  }
  return names.size() != libraries_.size();
}

void FirefoxTables::write_strings() {
  column("stringArray", strings_.size(),
         [this](std::uint32_t row) { write_text(json_, strings_.text(row)); });
}

}  // namespace stackpack::exporting
