# Embeds the standard library's modules in the library `types`: find_standard_module("NAME") returns the text of
# stdlib/NAME.tn.
file(GLOB stdlib_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/stdlib/*.tn)
set(stdlib_source ${CMAKE_BINARY_DIR}/generated/standard_library.cpp)
add_custom_command(OUTPUT ${stdlib_source}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${stdlib_source} -D "FILES=${stdlib_files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_stdlib.cmake
  DEPENDS ${stdlib_files} ${CMAKE_SOURCE_DIR}/cmake/embed_stdlib.cmake
  VERBATIM)
target_sources(tenon_types PRIVATE ${stdlib_source})
