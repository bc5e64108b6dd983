# libtenon: the C interface of include/tenon/tenon.h as a shared library that exports nothing else.
add_library(tenon_shared SHARED $<TARGET_OBJECTS:tenon_library>)
set_target_properties(tenon_shared PROPERTIES OUTPUT_NAME tenon VERSION ${PROJECT_VERSION} SOVERSION 1
  LINKER_LANGUAGE CXX TENON_IS_SHARED ON LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/libtenon.map)
target_include_directories(tenon_shared INTERFACE ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(tenon_shared PRIVATE tenon_algebra tenon_server tenon_options)
target_link_options(tenon_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/libtenon.map)
if(NOT TENON_SANITIZE)
  target_link_options(tenon_shared PRIVATE -Wl,--no-undefined)  # the program has the symbols of a sanitizer
endif()
