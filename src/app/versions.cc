#include "app/versions.h"

#include "spk/format/layout.h"
#include "stackpack/version.h"

namespace stackpack::app {

std::string_view program_version() {
  return STACKPACK_VERSION;
}

std::string format_version() {
  return std::to_string(spk::kFormatMajor) + '.' + std::to_string(spk::kFormatMinor);
}

}  // namespace stackpack::app
