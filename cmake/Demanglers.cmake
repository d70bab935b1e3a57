# Libraries that make linkers' names readable: STACKPACK_DEMANGLERS, as the linker is to find them.

# C++ names of all compilers but Microsoft's, Rust and D: a static library of a few kilobytes.
find_path(IBERTY_INCLUDE libiberty/demangle.h REQUIRED)
find_library(IBERTY_LIBRARY iberty REQUIRED)
set(STACKPACK_DEMANGLERS iberty)
if(WIN32)
  set(STACKPACK_DEMANGLERS ${IBERTY_LIBRARY})
endif()

# Names of Microsoft's compiler, and what libiberty does not read of C++20: a static library of LLVM that stands alone, where it
# is installed, the newest of several.
option(STACKPACK_LLVM_DEMANGLER "Read more names, where LLVM's static libraries are installed" ON)
if(STACKPACK_LLVM_DEMANGLER)
  file(GLOB llvm_folders /usr/lib/llvm-[1-9][0-9])
  list(REVERSE llvm_folders)
  find_path(LLVM_DEMANGLE_INCLUDE llvm/Demangle/Demangle.h HINTS ${llvm_folders} PATH_SUFFIXES include)
  find_library(LLVM_DEMANGLE_LIBRARY libLLVMDemangle.a HINTS ${llvm_folders} PATH_SUFFIXES lib)
  if(LLVM_DEMANGLE_INCLUDE AND LLVM_DEMANGLE_LIBRARY)
    list(APPEND STACKPACK_DEMANGLERS ${LLVM_DEMANGLE_LIBRARY})
  endif()
endif()
# For the pkg-config file.
list(TRANSFORM STACKPACK_DEMANGLERS REPLACE "^iberty$" "-liberty" OUTPUT_VARIABLE STACKPACK_DEMANGLER_FLAGS)
list(JOIN STACKPACK_DEMANGLER_FLAGS " " STACKPACK_DEMANGLER_FLAGS)
