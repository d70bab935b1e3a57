// The part of LLVM that demangles names of Microsoft's compiler; its static library needs no other.
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <llvm/Demangle/Demangle.h>

#include "symbolize/microsoft_names.h"

namespace stackpack::symbolize {

namespace {

// As people write functions: without what they return and how they are called.
constexpr auto kFlags = static_cast<llvm::MSDemangleFlags>(
    llvm::MSDF_NoAccessSpecifier | llvm::MSDF_NoCallingConvention | llvm::MSDF_NoReturnType |
    llvm::MSDF_NoMemberType);

// Up to LLVM 16 it also takes a buffer.
template <typename Function>
char* call_demangler(Function function, const char* linked) {
  int status = 0;
  if constexpr (std::is_invocable_v<Function, const char*, std::size_t*, char*, std::size_t*, int*,
                                    llvm::MSDemangleFlags>) {
    return function(linked, nullptr, nullptr, nullptr, &status, kFlags);
  } else {
    return function(std::string_view(linked), nullptr, &status, kFlags);
  }
}

}  // namespace

bool reads_microsoft_names() {
  return true;
}

char* microsoft_name(const char* linked) {
  return call_demangler(&llvm::microsoftDemangle, linked);
}

}  // namespace stackpack::symbolize
