# Puts the modules, the style and the HTML of src/export/page into one page, and that into a C++ source:
#
#     cmake -DPAGE_FOLDER=... -DOUTPUT=....cc -P EmbedPage.cmake
#
# page.html has a line for each slot: @POLICY@, @STYLE@, @DATA@, @PROGRAM@. modules.txt lists the modules, what is
# imported before what imports it. Their import lines and the word export are dropped, and they stand in one script,
# so that all top-level names are of one scope. The policy allows this script and this style by their hashes.

cmake_minimum_required(VERSION 3.25)

# base64 of a hash in hex digits
function(base64_of_hex hex result)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  string(LENGTH "${hex}" length)
  math(EXPR last "${length} - 1")
  foreach(at RANGE 0 ${last} 6)
    string(SUBSTRING "${hex}" ${at} 6 group)
    string(LENGTH "${group}" size)
    string(SUBSTRING "${group}000000" 0 6 group)
    math(EXPR bytes "${size} / 2")
    foreach(digit RANGE 0 3)
      if(digit GREATER bytes)
        string(APPEND text "=")
      else()
        math(EXPR value "(0x${group} >> (6 * (3 - ${digit}))) & 63")
        string(SUBSTRING ${digits} ${value} 1 letter)
        string(APPEND text ${letter})
      endif()
    endforeach()
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(policy_hash text result)
  string(SHA256 hex "${text}")
  base64_of_hex(${hex} hash)
  set(${result} "'sha256-${hash}'" PARENT_SCOPE)
endfunction()

# A definition of a function that gives `text`. As bytes: a literal has a longest length in some compilers.
function(cpp_function name text result)
  string(HEX "${text}" hex)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(REGEX REPLACE "((....,.?){20})" "\\1" bytes "${bytes}")
  set(${result} "namespace {\nconstexpr char k_${name}[] = {${bytes}'\\0'};\n}\n\nstd::string_view ${name}() {\n  return {k_${name}, sizeof(k_${name}) - 1};\n}\n" PARENT_SCOPE)
endfunction()

file(READ ${PAGE_FOLDER}/modules.txt list)
string(REGEX MATCHALL "[^\n]+" modules "${list}")
set(program "\n")
foreach(module IN LISTS modules)
  file(READ ${PAGE_FOLDER}/${module} source)
  string(PREPEND source "\n")
  string(REGEX REPLACE "\nimport [^\n]*" "" source "${source}")
  string(REGEX REPLACE "\nexport (async function|function|const|let|class)" "\n\\1" source "${source}")
  string(APPEND program "${source}")
endforeach()
file(READ ${PAGE_FOLDER}/page.css style)
set(style "\n${style}")
foreach(text program style)
  if("${${text}}" MATCHES "</[sS][cCtT]|<!--")
    message(FATAL_ERROR "the ${text} of the page has '${CMAKE_MATCH_0}', which would end it")
  endif()
endforeach()
policy_hash("${program}" program_hash)
policy_hash("${style}" style_hash)

file(READ ${PAGE_FOLDER}/page.html page)
foreach(slot POLICY STYLE DATA PROGRAM)
  string(FIND "${page}" "@${slot}@" first)
  string(FIND "${page}" "@${slot}@" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "page.html has @${slot}@ not once")
  endif()
endforeach()
string(REPLACE "@POLICY@"
  "default-src 'none'; script-src ${program_hash}; style-src ${style_hash}; img-src data: blob:; base-uri 'none'; form-action 'none'"
  page "${page}")
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(FIND "${page}" "@DATA@" at)
string(SUBSTRING "${page}" 0 ${at} before)
math(EXPR at "${at} + 6")
string(SUBSTRING "${page}" ${at} -1 after)
string(REPLACE "@PROGRAM@" "${program}" after "${after}")

cpp_function(page_before_data "${before}" before_function)
cpp_function(page_after_data "${after}" after_function)
file(WRITE ${OUTPUT}.new "// Made by cmake/EmbedPage.cmake out of src/export/page.
#include \"export/html/page_file.h\"

namespace stackpack::exporting {

${before_function}
${after_function}
}  // namespace stackpack::exporting
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} )
file(REMOVE ${OUTPUT}.new)
