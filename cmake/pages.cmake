# Embeds docs/diagnostics/E2101.md in the library `diagnostics`; `tenon explain E2101` prints it.
file(GLOB page_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/diagnostics/[EWN][0-9]*.md)
set(page_source ${CMAKE_BINARY_DIR}/generated/diagnostic_pages.cpp)
add_custom_command(OUTPUT ${page_source}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${page_source} -D "FILES=${page_files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_pages.cmake
  DEPENDS ${page_files} ${CMAKE_SOURCE_DIR}/cmake/embed_pages.cmake
  VERBATIM)
target_sources(tenon_diagnostics PRIVATE ${page_source})
