# The prompt templates in prompts/ become part of the library `inference`: find_builtin_template("STYLE", "NAME") returns
# the text of prompts/STYLE/NAME.txt.
file(GLOB prompt_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/prompts/*/*.txt)
set(prompt_source ${CMAKE_BINARY_DIR}/generated/builtin_templates.cpp)
add_custom_command(OUTPUT ${prompt_source}
  COMMAND ${CMAKE_COMMAND} -D OUTPUT=${prompt_source} -D "FILES=${prompt_files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed_prompts.cmake
  DEPENDS ${prompt_files} ${CMAKE_SOURCE_DIR}/cmake/embed_prompts.cmake
  VERBATIM)
target_sources(tenon_inference PRIVATE ${prompt_source})
