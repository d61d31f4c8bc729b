# SPDX-License-Identifier: GPL-2.0-or-later
# Debian packages: the programs, the plugin for the Wireshark that it was built for, and the lab. scripts/package makes them.
include_guard()
include(GNUInstallDirs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ipoib-conformance)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The authors of ipoib-conformance <root@localhost>")
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
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ipoib-conformance RENAME copyright COMPONENT tools)
install(FILES profiles/linux-ib_ipoib.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/ipoib-conformance/profiles COMPONENT
  tools)

if(TARGET rfc4391)
  list(APPEND CPACK_COMPONENTS_ALL plugin)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME wireshark-plugin-rfc4391)
  set(CPACK_DEBIAN_PLUGIN_PACKAGE_RECOMMENDS "wireshark | tshark")
  set(CPACK_COMPONENT_PLUGIN_DESCRIPTION "IP over InfiniBand by RFC 4391 in Wireshark
Shows in every packet what the text says of it, and what is wrong.")
  install(FILES LICENSE DESTINATION /usr/share/doc/wireshark-plugin-rfc4391 RENAME copyright COMPONENT plugin
    EXCLUDE_FROM_ALL)
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
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ipoib-conformance-lab RENAME copyright COMPONENT lab)
endif()
include(CPack)
