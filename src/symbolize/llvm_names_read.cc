// The part of LLVM that demangles names; its static library needs no other.
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <llvm/Demangle/Demangle.h>

#include "symbolize/llvm_names.h"

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

// Up to LLVM 16 it also takes a buffer, and later on whether to read parameters.
template <typename Function>
char* call_itanium(Function function, const char* linked) {
  if constexpr (std::is_invocable_v<Function, const char*, char*, std::size_t*, int*>) {
    return function(linked, nullptr, nullptr, nullptr);
  } else if constexpr (std::is_invocable_v<Function, std::string_view, bool>) {
    return function(std::string_view(linked), true);
  } else {
    return function(std::string_view(linked));
  }
}

}  // namespace

bool reads_llvm_names() {
  return true;
}

char* llvm_microsoft_name(const char* linked) {
  return call_demangler(&llvm::microsoftDemangle, linked);
}

char* llvm_itanium_name(const char* linked) {
  return call_itanium(&llvm::itaniumDemangle, linked);
}

}  // namespace stackpack::symbolize
