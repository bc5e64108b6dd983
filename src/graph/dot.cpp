#include <fmt/format.h>

#include "graph/edge_text.h"
#include "graph/pictures.h"

namespace tenon::graph {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') out += '\\';
    if (byte == '\n') {
      out += "\\n";
    } else {
      out += byte;
    }
  }
  return out + '"';
}

class DotWriter {
 public:
  std::string run(const Graph& graph) {
    out_ =
        "digraph tenon {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n"
        "  edge [fontname=\"sans-serif\", fontsize=10];\n  compound=true;\n";
    for (const Agent& agent : graph.agents) {
      agent_ = agent.name;
      begin_cluster(agent.name);
      for (const Sequence& sequence : agent.sequences) {
        const std::string_view first = &sequence == &agent.main() ? agent.first_block() : std::string_view();
        if (sequence.name.empty()) {
          write(sequence, first);
        } else {
          begin_cluster(sequence.name);
          write(sequence, first);
          end_cluster();
        }
      }
      end_cluster();
    }
    return out_ + "}\n";
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("{:{}}{}\n", "", 2 * depth_, text); }
  void begin_cluster(std::string_view label) {
    line(fmt::format("subgraph cluster_{} {{", clusters_++));
    ++depth_;
    line(fmt::format("label={};", quoted(label)));
  }
  void end_cluster() {
    --depth_;
    line("}");
  }
  [[nodiscard]] std::string id(std::string_view path) const { return quoted(agent_ + "/" + std::string(path)); }

  void write(const Sequence& sequence, std::string_view first) {
    const std::string inner = sequence.path.empty() ? "" : sequence.path + "/";
    for (const Block& block : sequence.blocks) {
      line(fmt::format("{} [label={}{}];", id(block.path), quoted(block.name + "\n" + block.kind),
                       block.name == first ? ", penwidth=2" : ""));
      for (const Sequence& nested : block.nested) {
        begin_cluster(nested.name.empty() ? block.name : block.name + ": " + nested.name);
        write(nested, "");
        end_cluster();
        if (!nested.blocks.empty()) {
          line(fmt::format("{} -> {} [style=dashed];", id(block.path), id(nested.blocks.front().path)));
        }
      }
    }
    for (const Block& block : sequence.blocks) {
      for (const Edge& edge : block.edges) {
        const std::string label = edge_text(edge);
        line(fmt::format("{} -> {}{};", id(block.path), id(inner + edge.target),
                         label.empty() ? "" : fmt::format(" [label={}]", quoted(label))));
      }
    }
  }

  std::string out_;
  std::string agent_;
  std::size_t clusters_ = 0;
  std::size_t depth_ = 1;
};

}  // namespace

std::string to_dot(const Graph& graph) {
  return DotWriter().run(graph);
}

}  // namespace tenon::graph
