# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_prompts.cmake: writes the files as one table of C++ strings.
string(CONCAT source "#include \"inference/prompting/builtin_templates.h\"\n\n#include <array>\n\n"
  "namespace tenon::inference::prompting {\nnamespace {\n\n"
  "struct BuiltinTemplate {\n  std::string_view style, name, text;\n};\n\n")
list(LENGTH FILES count)
string(APPEND entries "constexpr std::array<BuiltinTemplate, ${count}> builtin_templates = {{\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file STEM name)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME style)
  file(READ ${file} text)
  string(APPEND entries "    {\"${style}\", \"${name}\", R\"tenon(${text})tenon\"},\n")
endforeach()
string(APPEND entries "}};\n\n}  // namespace\n\n"
  "std::optional<std::string_view> find_builtin_template(std::string_view style, std::string_view name) {\n"
  "  for (const BuiltinTemplate& entry : builtin_templates) {\n"
  "    if (entry.style == style && entry.name == name) return entry.text;\n  }\n  return std::nullopt;\n}\n\n"
  "}  // namespace tenon::inference::prompting\n")
file(WRITE ${OUTPUT} "${source}${entries}")
