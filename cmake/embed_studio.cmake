# cmake -D OUTPUT=FILE.cpp -D FOLDER=DIR -D FILES=DIR/A;DIR/B -P embed_studio.cmake: compresses the files, and writes a C++
# file that includes the results as they are: the assembler reads them, since literals of this size take a compiler long.
cmake_path(GET OUTPUT PARENT_PATH generated)
set(parts)
set(entries)
set(number 0)
list(SORT FILES)
foreach(file IN LISTS FILES)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${FOLDER} OUTPUT_VARIABLE name)
  set(packed ${generated}/studio_${number}.gz)
  # Without name and time, so that equal files give equal bytes.
  execute_process(COMMAND gzip -9 -n -c ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
  string(APPEND parts
    "asm(\".section .rodata, \\\"a\\\"\\n\"\n    \"tenon_studio_${number}: .incbin \\\"${packed}\\\"\\n\"\n"
    "    \"tenon_studio_${number}_end: .byte 0\\n\"\n    \".previous\\n\");\n"
    "extern \"C\" {\n// NOLINTNEXTLINE(modernize-avoid-c-arrays)\n"
    "extern const char tenon_studio_${number}[], tenon_studio_${number}_end[];\n}\n")
  string(APPEND entries
    "      {\"${name}\", {tenon_studio_${number}, tenon_studio_${number}_end}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"cli/studio.h\"\n\n${parts}\nnamespace tenon::cli {\n\nserver::StudioFiles studio_files() {\n"
  "  static const server::StudioFile files[] = {\n${entries}  };\n  return files;\n}\n\n}  // namespace tenon::cli\n")
