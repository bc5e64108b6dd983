#include "graph/edge_text.h"

#include "graph/text_size.h"

namespace tenon::graph {
namespace {

constexpr std::size_t shown_characters_max = 36;

}  // namespace

std::string whole_edge_text(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::Next:
      return "";
    case EdgeKind::Else:
      return "else";
    case EdgeKind::Called:
      return "called " + edge.label;
    case EdgeKind::When:
    case EdgeKind::To:
      return edge.label;
    case EdgeKind::Case:
      return edge.on + ": " + edge.label;
  }
  return "";
}

std::string edge_text(const Edge& edge) {
  return one_line(whole_edge_text(edge), shown_characters_max);
}

}  // namespace tenon::graph
