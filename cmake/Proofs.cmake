# SPDX-License-Identifier: GPL-2.0-or-later
# cmake -DSOURCE=DIR -DOUT=FILE -P Proofs.cmake: what the suite has measured of itself, for the reports. The numbers are
# those of the pages, which tests and scripts make anew; a page without them ends the build.
cmake_minimum_required(VERSION 3.24)
set(rows "")

# A page's text, and its revision: eight hexadecimal digits of its SHA-256.
macro(read_page page)
  file(READ "${SOURCE}/${page}" text)
  file(SHA256 "${SOURCE}/${page}" revision)
  string(SUBSTRING ${revision} 0 8 revision)
endmacro()

# What a pattern finds in the page, as CMAKE_MATCH_1 and on.
macro(find pattern)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${page} does not have the numbers that reports tell of it: ${pattern}")
  endif()
endmacro()

function(add_proof name page found revision)
  string(APPEND rows "        {.name = \"${name}\",\n         .found = \"${found}\",\n         .page = \"${page}\",\n         .revision = \"${revision}\"},\n")
  set(rows "${rows}" PARENT_SCOPE)
endfunction()

set(page docs/kill-matrix.md)
read_page(${page})
find("\n([0-9]+) of ([0-9]+) are as they should be[.]")
add_proof("kill matrix" ${page}
  "Of ${CMAKE_MATCH_2} implementations that are wrong on purpose, or do otherwise what is permitted, ${CMAKE_MATCH_1} are judged as they should be: each fault is found by the cases that judge it, nothing else is accused."
  ${revision})

set(page reports/decisiveness.md)
read_page(${page})
find("([0-9]+) changes by ([0-9]+) relations of ([0-9]+) sources[^.]*: ([0-9]+) broken")
add_proof("metamorphic run" ${page}
  "Captures of ${CMAKE_MATCH_3} sources, changed in ${CMAKE_MATCH_1} ways by ${CMAKE_MATCH_2} relations that say how verdicts must move: ${CMAKE_MATCH_4} broken."
  ${revision})

set(page docs/driver-mutants.md)
read_page(${page})
find("The kernel is ([^\n]+)[.]\n")
set(kernel "${CMAKE_MATCH_1}")
find("[|] that a peer or user can see [|] ([0-9]+) [|] ([0-9]+) [|] ([0-9]+) [|] ([0-9]+) [|] ([^|]+) [|]")
set(seen "${CMAKE_MATCH_2} of ${CMAKE_MATCH_1} changed drivers of Linux ${kernel} whose fault a peer or user can see are found, ${CMAKE_MATCH_3} missed, ${CMAKE_MATCH_4} open: recall ${CMAKE_MATCH_5}.")
find("[|] blind [|] ([0-9]+) [|] ([0-9]+) [|] [0-9]+ [|] [0-9]+ [|] ([^|]+) [|] ([^|]+) [|]")
add_proof("changed drivers" ${page}
  "${seen} Of those written without a look at the cases ${CMAKE_MATCH_2} of ${CMAKE_MATCH_1}, ${CMAKE_MATCH_3} (interval of 95%: ${CMAKE_MATCH_4})."
  ${revision})

file(WRITE "${OUT}" "// Made by cmake/Proofs.cmake.
#include \"conformance/command/proofs.hpp\"

namespace ipoib::conformance {

std::span<const reports::Proof> proofs() {
    static const reports::Proof all[] = {
${rows}    };
    return all;
}

}  // namespace ipoib::conformance
")
