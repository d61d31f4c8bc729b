# SPDX-License-Identifier: GPL-2.0-or-later
# What protocol/ has, as one library for programs of others: find_package(ipoib), ipoib::ipoib. docs/library.md, and
# samples/library for who begins. Before version 1 a minor version may change it.
include_guard()
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(parts ipoib_wire ipoib_requirements ipoib_build ipoib_state ipoib_rules ipoib_inspection ipoib_base)
add_library(ipoib STATIC EXCLUDE_FROM_ALL)
foreach(part ${parts})
  target_sources(ipoib PRIVATE $<TARGET_OBJECTS:${part}>)
endforeach()
set_target_properties(ipoib PROPERTIES LINKER_LANGUAGE CXX UNITY_BUILD OFF)
target_compile_features(ipoib PUBLIC cxx_std_20)
target_include_directories(ipoib INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ipoib>)
get_target_property(definitions ipoib_wire COMPILE_DEFINITIONS)
if(definitions MATCHES IPOIB_LIBDEFLATE)
  target_link_libraries(ipoib INTERFACE $<INSTALL_INTERFACE:deflate>)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ipoib)
configure_package_config_file(packaging/ipoibConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/ipoibConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/ipoibConfigVersion.cmake COMPATIBILITY SameMinorVersion)
# Only who asks for it builds it: cmake --build BUILD --target ipoib, and cmake --install BUILD --component library.
install(TARGETS ipoib EXPORT ipoibTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library EXCLUDE_FROM_ALL)
install(EXPORT ipoibTargets NAMESPACE ipoib:: DESTINATION ${package} COMPONENT library EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/generated/ipoibConfig.cmake ${PROJECT_BINARY_DIR}/generated/ipoibConfigVersion.cmake
  DESTINATION ${package} COMPONENT library EXCLUDE_FROM_ALL)
install(DIRECTORY protocol base DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ipoib COMPONENT library EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN "*.hpp" PATTERN "test_*" EXCLUDE PATTERN golden.hpp EXCLUDE PATTERN rmpp_segments.hpp EXCLUDE PATTERN table_check.hpp
  EXCLUDE)
