// Arbitrary bytes as a model's answer: parsed leniently and strictly, as values, and as a schema. What was parsed must
// survive a round trip, and if the strict parser accepts a text, the lenient one returns the same value.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ensure.h"
#include "inference/answers/answer_reader.h"
#include "json/lenient_reader.h"
#include "json/reader.h"
#include "tests/support/json_schema/json_schema.h"

namespace {

namespace answers = tenon::inference::answers;
using tenon::bytecode::SiteKind;
using tenon::types::TypeTable;

/// A program with one site of each kind.
struct Sites {
  tenon::bytecode::Program program;
  std::vector<answers::AnswerShape> shapes;

  Sites() {
    TypeTable& types = program.types;
    program.functions.emplace_back();
    const auto node = types.add_struct({"Node", "", {}});
    const auto mood =
        types.add_enum({"Mood", "", {{"Good", "", {}}, {"Bad", "", {TypeTable::string, TypeTable::f64}}}});
    types.mutable_struct(node).fields = {{"children", types.list(node), ""}, {"mood", types.option(mood), ""}};
    tenon::types::Refinement word;
    word.length_high = 5;
    word.pattern = "[a-z]*";
    const auto area = types.make_union({"", std::vector<std::string>{"billing", "tech"}});
    for (const auto type : {TypeTable::string, TypeTable::boolean, TypeTable::i64, TypeTable::f64, node, area,
                            types.map(types.refined(TypeTable::string, word)), types.tuple({TypeTable::unit, mood})}) {
      tenon::bytecode::Site site;
      site.result = type;
      program.sites.push_back(site);
    }
    tenon::bytecode::CallShape call;
    call.name = "f";
    call.parameter_names = {"a", "b"};
    call.parameters = {TypeTable::i32, types.option(node)};
    call.holes = {0, 1};
    tenon::bytecode::Site fill;
    fill.kind = SiteKind::Fill;
    fill.call = call;
    program.sites.push_back(fill);
    tenon::bytecode::Site select;
    select.kind = SiteKind::Select;
    select.clauses = {{call, "x", false}, {{}, "", true}};
    program.sites.push_back(select);
    for (const auto& site : program.sites) shapes.push_back(answers::make_answer_shape(program, site));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto strict = tenon::parse_json(text);
  const auto lenient = tenon::parse_lenient(text);
  if (strict) {
    const auto again = tenon::parse_json(strict->dump());
    ENSURE(again.has_value() && *again == *strict);
    ENSURE(lenient.has_value() && *lenient == *strict);
  }
  if (lenient) {
    const auto again = tenon::parse_json(lenient->dump());
    ENSURE(again.has_value() && *again == *lenient);
    if (const auto schema = tenon::test::Schema::compile(*lenient)) static_cast<void>(schema->validate(*lenient));
  }
  static const Sites sites;
  static const tenon::vm::Refinements refinements(sites.program.types);
  static const answers::ValueReader reader(refinements);
  for (const answers::AnswerShape& shape : sites.shapes) {
    const auto values = answers::read_answer(reader, shape, text);
    ENSURE(values.has_value() || !values.error().empty());
  }
  return 0;
}
