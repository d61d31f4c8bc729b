# SPDX-License-Identifier: GPL-2.0-or-later
# Debian packages: the programs, the plugin for the Wireshark that it was built for, and the lab. scripts/package makes them.
include_guard()
include(GNUInstallDirs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ipoib-conformance)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# Whoever makes packages for others is their maintainer. As Debian's tools find out who that is: DEBFULLNAME and DEBEMAIL,
# then git's user, then the user of this host.
set(IPOIB_PACKAGED_BY "" CACHE STRING "The maintainer of the packages, NAME <ADDRESS>; empty: who makes them")
function(ipoib_first_of result variable key command)
  set(found "$ENV{${variable}}")
  find_program(IPOIB_GIT git)
  if(NOT found AND IPOIB_GIT)
    execute_process(COMMAND ${IPOIB_GIT} config ${key} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  if(NOT found)
    execute_process(COMMAND sh -c ${command} OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
set(IPOIB_MAINTAINER "${IPOIB_PACKAGED_BY}")
if(NOT IPOIB_MAINTAINER)
  ipoib_first_of(name DEBFULLNAME user.name "id -un")
  ipoib_first_of(address DEBEMAIL user.email
    "echo $(id -un)@$(cat /etc/mailname 2>/dev/null || hostname -f || hostname)")
  set(IPOIB_MAINTAINER "${name} <${address}>")
endif()
set(CPACK_PACKAGE_CONTACT "${IPOIB_MAINTAINER}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
# The plugin goes where its Wireshark looks, whatever the prefix.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_COMPONENTS_ALL tools)

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME ipoib-conformance)
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "conformance suite and traffic generator for IP over InfiniBand
ipoib-conform judges captures and stacks by RFC 4391, 4392, 4755 and 4390;
ipoib-gen makes traffic with every bit under control; ipoib-dut-linux lets
the suite control a Linux host.")
# What a distribution asks of each package. gzip's header must not have the time.
set(changelog ${PROJECT_BINARY_DIR}/generated/changelog.gz)
find_program(IPOIB_GZIP gzip)
if(IPOIB_GZIP)
  configure_file(packaging/changelog.in ${PROJECT_BINARY_DIR}/generated/changelog @ONLY)
  execute_process(COMMAND ${IPOIB_GZIP} -9nc ${PROJECT_BINARY_DIR}/generated/changelog OUTPUT_FILE ${changelog}
    COMMAND_ERROR_IS_FATAL ANY)
endif()
function(ipoib_package_papers package component)
  set(folder ${CMAKE_INSTALL_DOCDIR}/../${package})
  cmake_path(NORMAL_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/copyright DESTINATION ${folder} COMPONENT ${component} ${ARGN})
  if(IPOIB_GZIP)
    install(FILES ${changelog} DESTINATION ${folder} COMPONENT ${component} ${ARGN})
  endif()
endfunction()
ipoib_package_papers(ipoib-conformance tools)
# The pages, and what they speak of.
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY captures samples DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT tools
  USE_SOURCE_PERMISSIONS FILES_MATCHING REGEX "[.](pcap|pcapng|expected|toml|py|c|cpp|md|yml|json|txt)$" PATTERN Jenkinsfile
  PATTERN history PATTERN judge PATTERN test-on-infiniband PATTERN "test" EXCLUDE PATTERN "*.test.cpp" EXCLUDE)
install(FILES profiles/linux-ib_ipoib.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/ipoib-conformance/profiles COMPONENT
  tools)

# scripts/fleet as the command ipoib-fleet, laid out as in the source tree.
set(home ${CMAKE_INSTALL_DATADIR}/ipoib-conformance)
file(RELATIVE_PATH there ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_DATADIR}/ipoib-conformance/scripts/fleet)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/link)
file(CREATE_LINK ${there} ${PROJECT_BINARY_DIR}/generated/link/ipoib-fleet SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/generated/link/ipoib-fleet DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(PROGRAMS scripts/fleet DESTINATION ${home}/scripts COMPONENT tools)
install(DIRECTORY fleet DESTINATION ${home} COMPONENT tools FILES_MATCHING PATTERN "*.py")
install(FILES fleet/ipoib-fleet.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
if(TARGET ipoib-dut-linux)
  install(FILES conformance/dut/linux/ipoib-dut-linux.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "python3, slurm-client")

if(TARGET ipoib)
  # Made where the library was built: scripts/package does.
  option(IPOIB_PACKAGE_LIBRARY "A package of the library, which has to be built (target ipoib)" OFF)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libipoib-dev)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS libdeflate-dev)
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "decoder, rules and packet builder for IP over InfiniBand
For programs that judge packets of their own by RFC 4391: find_package(ipoib).")
  ipoib_package_papers(libipoib-dev library EXCLUDE_FROM_ALL)
  if(IPOIB_PACKAGE_LIBRARY)
    list(APPEND CPACK_COMPONENTS_ALL library)
  endif()
endif()

if(TARGET rfc4391)
  list(APPEND CPACK_COMPONENTS_ALL plugin)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME wireshark-plugin-rfc4391)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_RECOMMENDS "wireshark | tshark")
  set(CPACK_COMPONENT_PLUGIN_DESCRIPTION "IP over InfiniBand by RFC 4391 in Wireshark
Shows in every packet what the text says of it, and what is wrong.")
  ipoib_package_papers(wireshark-plugin-rfc4391 plugin EXCLUDE_FROM_ALL)
endif()

if(TARGET ipoib-lab-manual)
  list(APPEND CPACK_COMPONENTS_ALL lab)
  set(CPACK_DEBIAN_LAB_PACKAGE_NAME ipoib-conformance-lab)
  # What scripts/setup installs for the lab; the compiler is that of the guest's kernel.
  cmake_host_system_information(RESULT debian QUERY DISTRIB_VERSION_ID)
  set(compiler gcc)
  if(debian STREQUAL 12)
    set(compiler gcc-12)
  elseif(debian STREQUAL 13)
    set(compiler gcc-14)
  endif()
  set(CPACK_DEBIAN_LAB_PACKAGE_DEPENDS "ipoib-conformance (= ${PROJECT_VERSION}), qemu-system-x86, make, ${compiler}, \
python3 (>= 3.11), zstd, lz4, xz-utils, libelf1, apt, dpkg")
  set(CPACK_COMPONENT_LAB_DESCRIPTION "Linux's IP over InfiniBand driver judged without hardware
ipoib-lab boots a guest with virtual channel adapters in QEMU and drives the
IPoIB driver of its kernel through the conformance suite. What the guest is
made of is fetched from Debian when it first runs.")
  ipoib_package_papers(ipoib-conformance-lab lab)
endif()
include(CPack)
