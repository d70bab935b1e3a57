# What makes compiling fast.
#
# Most of a source's time is its headers. Where STACKPACK_UNITE is on, several sources of a folder are compiled as
# one: of a folder, so that a source meets the names of its neighbours only; several rather than all, so that a
# change of one source is compiled within seconds. The preset dev compiles file by file, which shows that each
# file includes what it uses. What all sources include is compiled beforehand, but not for a compiler cache: to that
# such a file is another one in every checkout.

# Bytes of sources in one unit: as many as leave the compilation of one below ten seconds. More are less work where everything
# is compiled anyway.
set(STACKPACK_UNITED_BYTES 90000 CACHE STRING "bytes of sources that are compiled as one")
mark_as_advanced(STACKPACK_UNITED_BYTES)

# Groups the sources of a target. clang's analyzer passes over what is included, unless it is a source and the path
# it is included from says UnifiedSource.
function(stackpack_unite target)
  if(NOT STACKPACK_UNITE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  get_target_property(target_folder ${target} SOURCE_DIR)
  foreach(source ${sources})
    if(NOT source MATCHES "\\.cc$")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${target_folder} NORMALIZE)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    string(REPLACE "/" "_" group ${folder})
    if(EXISTS ${source})
      file(SIZE ${source} bytes)
    else()
      set(bytes 0)
    endif()
    if(NOT DEFINED filled_${group})
      set(filled_${group} 0)
    endif()
    math(EXPR filled_${group} "${filled_${group}} + ${bytes}")
    math(EXPR part "${filled_${group}} / ${STACKPACK_UNITED_BYTES}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP
      UnifiedSource_${group}_${part})
  endforeach()
endfunction()

# Compiles the standard headers of most sources beforehand.
function(stackpack_precompile target)
  if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache OR NOT STACKPACK_UNITE)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <charconv> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory>
    <mutex> <numeric> <optional> <set> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility>
    <variant> <vector>)
endfunction()

# Compiles the sources of folders with -O1 in place of their target's level: such that ask for work and do none, or have
# little of it.
function(stackpack_cold target)
  if(MSVC)
    return()
  endif()
  get_target_property(binary_folder ${target} BINARY_DIR)
  get_target_property(sources ${target} SOURCES)
  set(cold)
  foreach(folder ${ARGN})
    string(REPLACE "/" "_" group ${folder})
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
      cmake_path(GET source PARENT_PATH parent)
      if(NOT parent STREQUAL "${PROJECT_SOURCE_DIR}/${folder}")
        continue()
      endif()
      get_source_file_property(unit ${source} TARGET_DIRECTORY ${target} UNITY_GROUP)
      if(unit)
        # An option of its own would take a source out of its group; the file that includes the group may have one.
        set(source ${binary_folder}/CMakeFiles/${target}.dir/Unity/unity_${unit}_cxx.cxx)
      endif()
      list(APPEND cold ${source})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES cold)
  set_source_files_properties(${cold} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
endfunction()

# Compiles a target with a level of optimization of its own, in place of CMake's -O3 for Release.
function(stackpack_optimize target level)
  if(NOT MSVC)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
  endif()
endfunction()
