// A build without LLVM's demangler: the names stay as linked.
#include "symbolize/microsoft_names.h"

namespace stackpack::symbolize {

bool reads_microsoft_names() {
  return false;
}

char* microsoft_name(const char* /*linked*/) {
  return nullptr;
}

}  // namespace stackpack::symbolize
