# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DSOURCE=DIR -DOUT=FILE -P Revisions.cmake: of each rule and case a number that changes with its definition.
#
# It is made of the source, without comments and layout: of a rule its own entry and what its file has before the first
# one, of a case its file; and of both what they name of the words that several share.
cmake_minimum_required(VERSION 3.24)
file(GLOB rules ${SOURCE}/protocol/rules/*.cpp ${SOURCE}/conformance/audit/*.cpp)
file(GLOB cases ${SOURCE}/conformance/cases/*/*.cpp)
list(FILTER rules EXCLUDE REGEX "\\.test\\.cpp$")
list(SORT rules)
list(SORT cases)

# The source of a file without comments and layout.
function(source_of file out)
  file(READ "${file}" text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" " " text "${text}")
  # What would divide or group a list.
  string(REGEX REPLACE "[][;]" "|" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Shared words by their names: each definition of these headers begins with "inline".
set(words "")
foreach(header protocol/rules/common.hpp conformance/audit/common.hpp conformance/cases/prelude.hpp)
  source_of("${SOURCE}/${header}" text)
  string(REPLACE " inline " ";" definitions "${text}")
  list(POP_FRONT definitions)
  foreach(definition IN LISTS definitions)
    string(REGEX MATCH "^[^({=]*[^({= ]" head "${definition}")
    string(REGEX MATCH "[A-Za-z_0-9]+$" name "${head}")
    if(name)
      list(APPEND words ${name})
      string(APPEND word_${name} "${definition}")
    endif()
  endforeach()
endforeach()
source_of("${SOURCE}/protocol/wire/misplaced.cpp" word_is_misplaced_ip)
list(APPEND words is_misplaced_ip)
list(REMOVE_DUPLICATES words)

# The definitions of the shared words that a text names, and of those that these name.
function(words_in text out)
  set(found "")
  set(open "${text}")
  while(NOT open STREQUAL "")
    set(next "")
    foreach(name IN LISTS words)
      if(NOT name IN_LIST found AND open MATCHES "(^|[^A-Za-z_0-9])${name}([^A-Za-z_0-9]|$)")
        list(APPEND found ${name})
        string(APPEND next "${word_${name}}")
      endif()
    endforeach()
    set(open "${next}")
  endwhile()
  list(SORT found)
  set(definitions "")
  foreach(name IN LISTS found)
    string(APPEND definitions "${word_${name}}")
  endforeach()
  set(${out} "${definitions}" PARENT_SCOPE)
endfunction()

set(rows "")
foreach(file IN LISTS rules cases)
  source_of("${file}" rest)
  if(file IN_LIST cases)
    set(mark "\"IPOIB-")
    set(shared "${rest}")
  else()
    set(mark "\"RULE-")
    string(FIND "${rest}" "${mark}" at)
    if(at GREATER_EQUAL 0)
      string(SUBSTRING "${rest}" 0 ${at} shared)
    endif()
  endif()
  string(FIND "${rest}" "${mark}" at)
  while(at GREATER_EQUAL 0)
    math(EXPR at "${at} + 1")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\"" end)
    string(SUBSTRING "${rest}" 0 ${end} id)
    string(FIND "${rest}" "${mark}" at)
    string(SUBSTRING "${rest}" 0 ${at} entry)
    words_in("${shared}${entry}" named)
    string(SHA256 digest "${shared}${entry}${named}")
    string(SUBSTRING ${digest} 0 8 digest)
    string(APPEND rows "    {\"${id}\", \"${digest}\"},\n")
  endwhile()
endforeach()

file(WRITE "${OUT}" "// Made by cmake/Revisions.cmake.
#include \"conformance/command/revisions.hpp\"

namespace ipoib::conformance {
namespace {

constexpr Revision all[] = {
${rows}};

}  // namespace

std::span<const Revision> revisions() { return all; }

}  // namespace ipoib::conformance
")
