#include "app/diff/allow_file.h"

#include "app/diff/small_text.h"

namespace stackpack::app {

Result<std::vector<AllowedChange>> read_allowed_changes(const std::string& path) {
  const Result<std::string> text =
      read_small_text(path, "a list of known changes is at most 1 MiB");
  return text ? parse_allowed_changes(*text) : Result<std::vector<AllowedChange>>(text.error());
}

}  // namespace stackpack::app
