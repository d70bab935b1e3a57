# Builds that are made to be checked and thrown away (the presets of the sanitizers, of the fuzzer
# and of clang-tidy) compile the sources of a folder as one: most of a source's time is its headers.
# A folder rather than a number of files, so that a new source meets the names of its neighbours
# only. The other presets compile file by file, which shows that each file includes what it uses; of
# release, the unit tests are united as well (STACKPACK_UNITE_TESTS).

# Groups the sources of a target by folder, where its property UNITY_BUILD is on. clang's analyzer passes
# over what is included, unless it is a source and the path it is included from says UnifiedSource.
function(stackpack_unite target)
  get_target_property(united ${target} UNITY_BUILD)
  if(NOT united)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
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
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP UnifiedSource_${group})
  endforeach()
endfunction()
