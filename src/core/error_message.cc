#include <string>
#include <system_error>

#include "stackpack/result.h"

namespace stackpack {

std::string message(const Error& error) {
  std::string text;
  if (error.part != kMainPart && error.part != kOutputPart) {
    text += "data." + std::to_string(error.part) + ": ";
  }
  if (error.offset != kNoOffset) {
    text += "offset " + std::to_string(error.offset) + ": ";
  }
  text += error.what;
  if (error.os_error != 0) {
    text += " (" + std::generic_category().message(error.os_error) + ")";
  }
  return text;
}

}  // namespace stackpack
