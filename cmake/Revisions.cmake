# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DSOURCE=DIR -DOUT=FILE -P Revisions.cmake: of each rule and case a number that changes with its definition.
#
# It is made of the source, without comments and layout: of a rule its own entry and what its file has before the first
# one, of a case its file.
cmake_minimum_required(VERSION 3.24)
file(GLOB rules ${SOURCE}/protocol/rules/*.cpp ${SOURCE}/conformance/audit/*.cpp)
file(GLOB cases ${SOURCE}/conformance/cases/*/*.cpp)
list(FILTER rules EXCLUDE REGEX "\\.test\\.cpp$")
list(SORT rules)
list(SORT cases)

set(rows "")
foreach(file IN LISTS rules cases)
  file(READ "${file}" rest)
  string(REGEX REPLACE "//[^\n]*" "" rest "${rest}")
  string(REGEX REPLACE "[ \t\r\n]+" " " rest "${rest}")
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
    string(SHA256 digest "${shared}${entry}")
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
