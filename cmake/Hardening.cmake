# Release builds check what the C++ and C libraries can check cheaply, and get the usual exploit
# mitigations. Measured cost: docs/performance.md. Sanitizer builds bring checks of their own instead of
# the mitigations; the library's assertions stay on, as no sanitizer sees an overrun inside the
# capacity of a vector.
include(CheckPIESupported)
check_pie_supported()

function(stackpack_harden target)
  target_compile_definitions(${target} INTERFACE _GLIBCXX_ASSERTIONS)
  if(STACKPACK_SANITIZE)
    return()
  endif()
  target_compile_options(${target} INTERFACE
    -fstack-protector-strong
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
    $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  if(WIN32)
    # The checks are in a library of their own. Address space layout randomization is the default.
    target_link_libraries(${target} INTERFACE ssp)
  else()
    target_link_options(${target} INTERFACE -Wl,-z,relro -Wl,-z,now)
  endif()
endfunction()
