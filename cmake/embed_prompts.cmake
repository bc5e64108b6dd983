# cmake -D OUTPUT=FILE.cpp -D FILES=A;B -P embed_prompts.cmake: writes the files as one table of C++ strings.
string(CONCAT source "#include \"inference/prompting/builtin_wordings.h\"\n\n#include <array>\n\n"
  "namespace tenon::inference::prompting {\nnamespace {\n\n"
  "struct Wording {\n  std::string_view style, name, text;\n};\n\n")
list(LENGTH FILES count)
string(APPEND entries "constexpr std::array<Wording, ${count}> wordings = {{\n")
foreach(file IN LISTS FILES)
  cmake_path(GET file STEM name)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME style)
  file(READ ${file} text)
  string(APPEND entries "    {\"${style}\", \"${name}\", R\"tenon(${text})tenon\"},\n")
endforeach()
string(APPEND entries "}};\n\n}  // namespace\n\n"
  "std::optional<std::string_view> find_builtin_wording(std::string_view style, std::string_view name) {\n"
  "  for (const Wording& wording : wordings) {\n"
  "    if (wording.style == style && wording.name == name) return wording.text;\n  }\n  return std::nullopt;\n}\n\n"
  "}  // namespace tenon::inference::prompting\n")
file(WRITE ${OUTPUT} "${source}${entries}")
