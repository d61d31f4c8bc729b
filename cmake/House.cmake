# SPDX-License-Identifier: GPL-2.0-or-later
# What every folder shares: compiler settings, how a library and its tests are declared, which packages are there.
include_guard()
include(CheckLinkerFlag)
include(GNUInstallDirs)
enable_testing()
# A package found by one folder serves the folders after it.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(Hardening)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# -O3 gains nothing measurable here, and g++ 12 warns falsely under it.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# The same sources give the same programs, wherever they were compiled.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffile-prefix-map=${PROJECT_SOURCE_DIR}=. -ffile-prefix-map=${PROJECT_BINARY_DIR}=./build)
endif()

add_library(ipoib_house INTERFACE)
# Designated initialisers name what matters; the rest is meant to be the default.
target_compile_options(ipoib_house INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wold-style-cast
  -Wnon-virtual-dtor -Wno-missing-field-initializers)
# Warnings stop a build where somebody works on the code, with a compiler of the tests: a newer one may warn where nothing is
# wrong, and who makes a package cannot mend it.
set(is_development OFF)
if(IPOIB_TESTS AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
  set(is_development ON)
endif()
option(IPOIB_WERROR "Warnings are errors; on in a clone that builds the tests" ${is_development})
if(IPOIB_WERROR AND ((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 20)))
  target_compile_options(ipoib_house INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its garbage is collected when it has grown to so many KiB: before, that takes a fifth of the time, and saves little.
  target_compile_options(ipoib_house INTERFACE --param=ggc-min-heapsize=4000000)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651: "literal" + std::string&& is taken for an overlapping copy.
  target_compile_options(ipoib_house INTERFACE -Wno-restrict)
endif()
target_include_directories(ipoib_house INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
if(IPOIB_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(ipoib_house INTERFACE ${sanitizers})
  target_link_options(ipoib_house INTERFACE ${sanitizers})
  target_compile_definitions(ipoib_house INTERFACE IPOIB_DISTRUSTS_MEMORY)
  if(IPOIB_FUZZ)
    target_compile_options(ipoib_house INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endif()

if(IPOIB_PROFILE STREQUAL "count")
  target_compile_options(ipoib_house INTERFACE -fprofile-generate -fprofile-update=prefer-atomic)
  target_link_options(ipoib_house INTERFACE -fprofile-generate)
elseif(IPOIB_PROFILE STREQUAL "use")
  # What never ran is compiled as without a profile, not for size: what is read first elsewhere is slow there otherwise.
  target_compile_options(ipoib_house INTERFACE -fprofile-use -fprofile-partial-training -fprofile-correction
    -Wno-missing-profile)
elseif(IPOIB_PROFILE)
  message(FATAL_ERROR "IPOIB_PROFILE is count or use, not ${IPOIB_PROFILE}")
endif()

# Files of one target are compiled together, in batches. What only seems to be shadowed by another file's name, and types
# that only seem to be in a header, are for the other builds to tell.
set(shadow -Wshadow)
if(IPOIB_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 64)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(shadow -Wshadow=local -Wno-subobject-linkage)
  else()
    set(shadow "")
  endif()
endif()
target_compile_options(ipoib_house INTERFACE ${shadow})

# ipoib_alone(FILES...): compiled by themselves in any case, since they have names that other files of the target have, too.
function(ipoib_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# What nearly every file includes is read once, for each way of compiling: -fPIC and -fPIE, optimised and not. The other
# builds tell a header that a file forgets.
set(IPOIB_COMMON_HEADERS <algorithm> <array> <chrono> <cstdint> <deque> <filesystem> <fstream> <functional> <map>
  <memory> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <utility> <vector>)
# A compiler that cannot take them reads them as they are, which is no reason to stop.
set(CMAKE_PCH_WARN_INVALID OFF)

# ipoib_common_headers(TARGET NAME [PIE] [LIBRARIES...] [HEADERS...] [OPTIONS...]): the target takes them, and these headers,
# from the target NAME, which is made for the first that asks, by the same options.
function(ipoib_common_headers target name)
  if(NOT IPOIB_UNITY)
    return()
  endif()
  cmake_parse_arguments(arg "PIE" "" "LIBRARIES;HEADERS;OPTIONS" ${ARGN})
  if(NOT TARGET ${name})
    set(empty ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
    # A program that is linked when one asks for its headers.
    file(GENERATE OUTPUT ${empty} CONTENT "$<$<BOOL:${arg_PIE}>:int main() {}\n>")
    if(arg_PIE)
      add_executable(${name} EXCLUDE_FROM_ALL ${empty})
    else()
      add_library(${name} STATIC EXCLUDE_FROM_ALL ${empty})
    endif()
    target_link_libraries(${name} PRIVATE ipoib_house ${arg_LIBRARIES})
    target_compile_options(${name} PRIVATE ${arg_OPTIONS})
    target_precompile_headers(${name} PRIVATE ${IPOIB_COMMON_HEADERS} ${arg_HEADERS})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      # Else each file that takes them makes what they instantiate anew; and ccache would find none of them again.
      target_compile_options(${name} PRIVATE -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${name})
endfunction()

# lld, where it is installed, takes a fraction of the time for programs with debug information.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  check_linker_flag(CXX -fuse-ld=lld IPOIB_HAVE_LLD)
  if(IPOIB_HAVE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

find_program(IPOIB_CCACHE ccache)
if(IPOIB_CCACHE)
  # What is read once is found again by what it includes, not by its time.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${IPOIB_CCACHE})
endif()

if(IPOIB_TESTS)
  find_package(Catch2 QUIET)
  if(Catch2_FOUND)
    include(Catch)
    # Catch2 2 has one header and no main; Catch2 3 has a library with one.
    if(Catch2_VERSION VERSION_LESS 3)
      add_library(ipoib_catch STATIC ${PROJECT_SOURCE_DIR}/tests/catch2_main.cpp)
      target_link_libraries(ipoib_catch PUBLIC Catch2::Catch2 ipoib_house)
      # Catch2 itself is not what is tested, and costs more than any other file.
      set_source_files_properties(tests/catch2_main.cpp PROPERTIES COMPILE_OPTIONS "-O1;-g1;-fno-sanitize=all")
    else()
      add_library(ipoib_catch INTERFACE)
      target_link_libraries(ipoib_catch INTERFACE Catch2::Catch2WithMain)
    endif()
    target_include_directories(ipoib_catch SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/tests)
  else()
    message(STATUS "Catch2 is missing (package catch2): the tests are left out")
    set(IPOIB_TESTS OFF)
  endif()
endif()

# ipoib_cold(TARGET LEVEL): much code that runs little. To optimise it takes longer than to compile it, above all with
# sanitizers. LEVEL gets the option, for headers that are compiled for it. Programs that hot libraries are linked to say
# PROGRAM: of an inline function that both have the program's own is taken, so theirs are never left as they are.
function(ipoib_cold target level)
  cmake_parse_arguments(arg "PROGRAM" "" "" ${ARGN})
  set(option "")
  if(arg_PROGRAM AND CMAKE_BUILD_TYPE STREQUAL "Release")
    # Nothing in it is done more than once in a run.
    set(option -O1)
  elseif(NOT IPOIB_UNITY OR CMAKE_BUILD_TYPE STREQUAL "Release")
    # What is delivered is as fast as it can be, and what is developed is found by a debugger.
  elseif(NOT IPOIB_SANITIZE)
    set(option -O1)
  elseif(NOT arg_PROGRAM)
    set(option -O0)
  elseif(IPOIB_FUZZ)
    # No fuzzer is linked to it.
    set(option -fno-sanitize=fuzzer-no-link)
  endif()
  target_compile_options(${target} PRIVATE ${option})
  set(${level} "${option}" PARENT_SCOPE)
endfunction()

# ipoib_library(NAME [COLD] SOURCES... [LIBRARIES...] [PRIVATE_LIBRARIES...] [TESTS...])
# A library of the house with the unit tests that sit beside its code.
function(ipoib_library name)
  cmake_parse_arguments(arg "COLD" "" "SOURCES;LIBRARIES;PRIVATE_LIBRARIES;TESTS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ipoib_house ${arg_LIBRARIES} PRIVATE ${arg_PRIVATE_LIBRARIES})
  set(common ipoib_common)
  set(level "")
  if(arg_COLD)
    ipoib_cold(${name} level)
    string(APPEND common _cold)
  endif()
  set(libraries "")
  set(headers "")
  foreach(one fmt::fmt=fmt/format.h nlohmann_json::nlohmann_json=nlohmann/json.hpp)
    string(REPLACE "=" ";" parts ${one})
    list(GET parts 0 library)
    list(GET parts 1 header)
    # Few are cold, and take all.
    if(library IN_LIST arg_PRIVATE_LIBRARIES OR arg_COLD)
      list(APPEND libraries ${library})
      list(APPEND headers <${header}>)
      string(REGEX REPLACE ":.*" "" suffix ${library})
      string(APPEND common _${suffix})
    endif()
  endforeach()
  ipoib_common_headers(${name} ${common} LIBRARIES ${libraries} HEADERS ${headers} OPTIONS ${level})
  if(IPOIB_TESTS AND arg_TESTS)
    ipoib_test(${name}_test SOURCES ${arg_TESTS} LIBRARIES ${name} ${arg_PRIVATE_LIBRARIES})
  endif()
endfunction()

# ipoib_test(NAME [EACH] SOURCES... LIBRARIES...): a Catch2 program. Where all tests are run, it is one of them, since to
# start a program takes longer than most test cases do; EACH: its cases are long, and tests of their own, as they are where
# somebody develops.
function(ipoib_test name)
  cmake_parse_arguments(arg "EACH" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT IPOIB_TESTS)
    return()
  endif()
  # [breadth] marks what plays the same code for each of many mutants: that concerns verdicts, not memory, and would take half
  # of a sanitized build's time; [size] what needs as much of everything as is allowed. Where it is only told what to leave
  # out, Catch2 2 runs hidden cases, too.
  set(cases "")
  if(IPOIB_SANITIZE)
    set(cases "~[.]~[breadth]~[size]")
  elseif(IPOIB_SANITIZED_TOO)
    set(cases "[breadth],[size]")
  endif()
  set(target ${name})
  if(IPOIB_SANITIZED_TOO)
    set(target ${name} EXCLUDE_FROM_ALL)
    foreach(source ${arg_SOURCES})
      file(STRINGS ${source} marked REGEX "\\[(breadth|size)\\]")
      if(marked)
        set(target ${name})
      endif()
    endforeach()
  endif()
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} ipoib_catch ipoib_house)
  target_compile_definitions(${name} PRIVATE IPOIB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Half of what a clean build compiles is tests, which take longer to be optimised than to run. Nor is what they count
  # and compare of interest to a fuzzer; what is undefined is looked for in what they test.
  if(IPOIB_UNITY)
    set(options -O0)
    if(IPOIB_SANITIZE)
      list(APPEND options -fno-sanitize=undefined)
      if(IPOIB_FUZZ)
        list(APPEND options -fno-sanitize=fuzzer-no-link)
      endif()
    endif()
    target_compile_options(${name} PRIVATE ${options})
    ipoib_common_headers(${name} ipoib_common_tests PIE LIBRARIES ipoib_catch HEADERS ${PROJECT_SOURCE_DIR}/tests/catch2.hpp
      OPTIONS ${options})
  endif()
  if(NOT target STREQUAL name)
    return()
  endif()
  if(IPOIB_SANITIZE OR (IPOIB_UNITY AND NOT arg_EACH))
    add_test(NAME ${name} COMMAND ${name} ${cases})
    return()
  endif()
  # A test that says so, and fails nowhere, counts as skipped: Catch2 2 has no word for that.
  catch_discover_tests(${name} TEST_SPEC "${cases}" TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST
    PROPERTIES SKIP_REGULAR_EXPRESSION "LEFT OUT: .*(All tests passed|- none -)")
endfunction()

# The manual page and the completion of a program are what it says of itself.
function(ipoib_manual program)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/${program}.1)
  set(completion ${CMAKE_CURRENT_BINARY_DIR}/${program}.bash)
  add_custom_command(OUTPUT ${page} ${completion}
    COMMAND ${program} manual > ${page}
    COMMAND ${program} completion > ${completion}
    DEPENDS ${program} VERBATIM)
  add_custom_target(${program}-manual ALL DEPENDS ${page} ${completion})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${program})
endfunction()
