# libtenon: the C interface of include/tenon/tenon.h as a shared library that exports nothing else.
add_library(tenon_shared SHARED $<TARGET_OBJECTS:tenon_library>)
set_target_properties(tenon_shared PROPERTIES OUTPUT_NAME tenon VERSION ${PROJECT_VERSION} SOVERSION 1
  EXPORT_NAME tenon LINKER_LANGUAGE CXX TENON_IS_SHARED ON LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libtenon.map)
target_include_directories(tenon_shared INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(tenon_shared PRIVATE tenon_algebra tenon_server tenon_options)
target_link_options(tenon_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtenon.map)
if(NOT TENON_SANITIZE)
  target_link_options(tenon_shared PRIVATE -Wl,--no-undefined)  # the program has the symbols of a sanitizer
endif()

# The program that libtenon starts for `extern(process)`, beside it.
add_executable(tenon_extern_worker src/library/extern_worker_main.c)
set_target_properties(tenon_extern_worker PROPERTIES C_STANDARD 99 INSTALL_RPATH "$ORIGIN")
target_link_libraries(tenon_extern_worker PRIVATE tenon_shared)
if(TENON_SANITIZE)
  # The sanitizer's runtime is the program's, and libtenon needs that for C++.
  target_link_options(tenon_extern_worker PRIVATE -fsanitize=${TENON_SANITIZE})
  set_target_properties(tenon_extern_worker PROPERTIES LINKER_LANGUAGE CXX)
endif()

# What a program that embeds Tenon needs: `cmake --install build/release --component library --strip --prefix …`.
include(CMakePackageConfigHelpers)
set(library_package lib/cmake/tenon)
configure_file(${CMAKE_SOURCE_DIR}/cmake/tenon.pc.in ${CMAKE_BINARY_DIR}/tenon.pc @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tenon-config-version.cmake COMPATIBILITY SameMajorVersion)
install(TARGETS tenon_shared EXPORT tenon LIBRARY DESTINATION lib COMPONENT library
  NAMELINK_COMPONENT library)
install(TARGETS tenon_extern_worker RUNTIME DESTINATION lib COMPONENT library)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tenon DESTINATION include COMPONENT library)
install(EXPORT tenon NAMESPACE tenon:: FILE tenon-config.cmake DESTINATION ${library_package} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/tenon-config-version.cmake DESTINATION ${library_package} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/tenon.pc DESTINATION lib/pkgconfig COMPONENT library)
