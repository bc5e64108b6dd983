# Embeds the studio's page, studio/bundle, in the command line: cli::studio_files().
file(GLOB_RECURSE studio_bundle CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/studio/bundle/*.html ${CMAKE_SOURCE_DIR}/studio/bundle/assets/*)
set(studio_source ${CMAKE_BINARY_DIR}/generated/studio_files.cpp)
add_custom_command(OUTPUT ${studio_source}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${studio_source} -D "FILES=${studio_bundle}" -D FOLDER=${CMAKE_SOURCE_DIR}/studio/bundle
    -P ${CMAKE_SOURCE_DIR}/cmake/embed_studio.cmake
  DEPENDS ${studio_bundle} ${CMAKE_SOURCE_DIR}/cmake/embed_studio.cmake
  VERBATIM)
target_sources(tenon_cli PRIVATE ${studio_source})
