# SPDX-License-Identifier: GPL-2.0-or-later
# What hardens every program, library and plugin: what Debian's hardening=+all does, and CET and stack clash beyond that.
# tests/hardening_test.py looks at what comes of it.
include_guard()
include(CheckCXXCompilerFlag)
include(CheckPIESupported)

# Sanitizers look at the same, and see more.
if(IPOIB_SANITIZE)
  return()
endif()

check_pie_supported()
add_compile_options(-fstack-protector-strong -Wformat -Werror=format-security)
foreach(option fstack-clash-protection fcf-protection)
  string(MAKE_C_IDENTIFIER "IPOIB_HAVE_${option}" is_known)
  # What a processor has not, its compiler refuses, or warns of.
  set(CMAKE_REQUIRED_FLAGS -Werror)
  check_cxx_compiler_flag(-${option} ${is_known})
  unset(CMAKE_REQUIRED_FLAGS)
  if(${is_known})
    add_compile_options(-${option})
  endif()
endforeach()
add_link_options(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# What checks sizes in calls of the C library does so where there is an optimiser, and is silent where there is none. Some
# distributions' compilers have it by themselves, at another level.
add_compile_options(-U_FORTIFY_SOURCE "$<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>")
