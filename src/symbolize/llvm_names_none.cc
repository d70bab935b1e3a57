// A build without LLVM's demangler: the names stay as linked.
#include "symbolize/llvm_names.h"

namespace stackpack::symbolize {

bool reads_llvm_names() {
  return false;
}

char* llvm_microsoft_name(const char* /*linked*/) {
  return nullptr;
}

char* llvm_itanium_name(const char* /*linked*/) {
  return nullptr;
}

}  // namespace stackpack::symbolize
