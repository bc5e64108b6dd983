#include "report/table.h"

#include <cmark-gfm-core-extensions.h>

#include <algorithm>
#include <numeric>

namespace tenon::report {
namespace {

constexpr double cell_padding = 5;
constexpr double row_padding = 3.5;
constexpr double column_width_min = 24;
constexpr double cell_size = 9.5;

struct Row {
  std::vector<Lines> cells;
  bool is_header = false;
};

class Table {
 public:
  Table(cmark_node* table, const TextSetter& setter, double width)
      : setter_(setter), columns_(cmark_gfm_extensions_get_table_columns(table)) {
    const std::uint8_t* const alignments = cmark_gfm_extensions_get_table_alignments(table);
    for (std::size_t column = 0; column < columns_; ++column) {
      alignments_.push_back(alignments[column] == 'r'   ? PANGO_ALIGN_RIGHT
                            : alignments[column] == 'c' ? PANGO_ALIGN_CENTER
                                                        : PANGO_ALIGN_LEFT);
    }
    choose_widths(table, width);
    for (cmark_node* row = cmark_node_first_child(table); row != nullptr; row = cmark_node_next(row)) add_row(row);
  }

  void place(Pages& pages, double x) const {
    for (std::size_t at = 0; at < rows_.size(); ++at) place_row(pages, x, rows_[at]);
  }

 private:
  [[nodiscard]] TextStyle style_of(bool is_header, std::size_t column) const {
    return {cell_size, is_header, false, ink, alignments_[column]};
  }

  /// Columns are as wide as their widest text. If that does not fit, narrow columns keep their width and the others
  /// share the rest.
  void choose_widths(cmark_node* table, double width) {
    std::vector<double> natural(columns_, column_width_min);
    for (cmark_node* row = cmark_node_first_child(table); row != nullptr; row = cmark_node_next(row)) {
      std::size_t column = 0;
      for (cmark_node* cell = cmark_node_first_child(row); cell != nullptr && column < columns_;
           cell = cmark_node_next(cell), ++column) {
        const bool is_header = cmark_gfm_extensions_get_table_row_is_header(row) != 0;
        const Lines lines = setter_.set(cell, style_of(is_header, column), -1);
        int text_width_units = 0;
        pango_layout_get_size(lines.layout.get(), &text_width_units, nullptr);
        natural[column] =
            std::max(natural[column], static_cast<double>(text_width_units) / PANGO_SCALE + 2 * cell_padding + 0.5);
      }
    }
    widths_ = natural;
    std::vector<bool> is_settled(columns_, false);
    double room = width;
    std::size_t open = columns_;
    for (bool changed = true; changed && open > 0;) {
      changed = false;
      const double share = room / static_cast<double>(open);
      for (std::size_t column = 0; column < columns_; ++column) {
        if (is_settled[column] || natural[column] > share) continue;
        is_settled[column] = changed = true;
        room -= natural[column];
        --open;
      }
    }
    const double wanted = [&] {
      double sum = 0;
      for (std::size_t column = 0; column < columns_; ++column) sum += is_settled[column] ? 0 : natural[column];
      return sum;
    }();
    const double share = open > 0 ? room / static_cast<double>(open) : 0;
    for (std::size_t column = 0; column < columns_; ++column) {
      if (is_settled[column]) continue;
      // Half of the space in equal parts, half in proportion to the wanted widths.
      widths_[column] = std::max(1 + 2 * cell_padding, share / 2 + room / 2 * natural[column] / wanted);
    }
  }

  void add_row(cmark_node* node) {
    Row row;
    row.is_header = cmark_gfm_extensions_get_table_row_is_header(node) != 0;
    std::size_t column = 0;
    for (cmark_node* cell = cmark_node_first_child(node); cell != nullptr && column < columns_;
         cell = cmark_node_next(cell), ++column) {
      row.cells.push_back(
          setter_.set(cell, style_of(row.is_header, column), std::max(1.0, widths_[column] - 2 * cell_padding)));
    }
    rows_.push_back(std::move(row));
  }

  [[nodiscard]] static double height_of(const Row& row) {
    double height = 0;
    for (const Lines& cell : row.cells) height = std::max(height, cell.height());
    return height + 2 * row_padding;
  }

  void place_row(Pages& pages, double x, const Row& row) const {
    const double height = height_of(row);
    const double page_room = text_bottom - page_margin;
    if (height > pages.room() && !pages.is_at_top() && (height < page_room / 2 || pages.room() < page_room / 4)) {
      pages.next_page();
      if (!row.is_header && !rows_.empty() && rows_.front().is_header && height_of(rows_.front()) < page_room / 4) {
        place_part(pages, x, rows_.front());
      }
    }
    place_part(pages, x, row);
  }

  /// The row; what does not fit on the page continues on the next ones.
  void place_part(Pages& pages, double x, const Row& row) const {
    std::vector<int> next(row.cells.size(), 0);
    for (bool more = true; more;) {
      more = false;
      const double top = pages.y();
      double part_height = 0;
      std::vector<std::pair<int, double>> ends;
      for (std::size_t column = 0; column < row.cells.size(); ++column) {
        const Lines& cell = row.cells[column];
        double height = 0;
        int line = next[column];
        for (; line < cell.count(); ++line) {
          const bool fits = height + cell.height(line) + 2 * row_padding <= pages.room();
          if (!fits && !(pages.is_at_top() && line == next[column])) break;
          height += cell.height(line);
        }
        more = more || line < cell.count();
        part_height = std::max(part_height, height);
        ends.emplace_back(line, height);
      }
      part_height += 2 * row_padding;
      if (row.is_header) pages.fill(x, top, total_width(), part_height, shade);
      double left = x;
      for (std::size_t column = 0; column < row.cells.size(); ++column) {
        double y = top + row_padding;
        for (int line = next[column]; line < ends[column].first; ++line) {
          pages.draw_line(row.cells[column], line, left + cell_padding, y);
          y += row.cells[column].height(line);
        }
        next[column] = ends[column].first;
        left += widths_[column];
      }
      draw_borders(pages, x, top, part_height);
      pages.advance(part_height);
      if (more) pages.next_page();
    }
  }

  [[nodiscard]] double total_width() const { return std::accumulate(widths_.begin(), widths_.end(), 0.0); }

  void draw_borders(Pages& pages, double x, double top, double height) const {
    const std::vector<double> widths = widths_;
    const double total = total_width();
    pages.draw([=](cairo_t* cairo) {
      cairo_set_source_rgb(cairo, rule.red, rule.green, rule.blue);
      cairo_set_line_width(cairo, 0.6);
      cairo_rectangle(cairo, x, top, total, height);
      double left = x;
      for (std::size_t column = 0; column + 1 < widths.size(); ++column) {
        left += widths[column];
        cairo_move_to(cairo, left, top);
        cairo_line_to(cairo, left, top + height);
      }
      cairo_stroke(cairo);
    });
  }

  const TextSetter& setter_;
  std::size_t columns_;
  std::vector<PangoAlignment> alignments_;
  std::vector<double> widths_;
  std::vector<Row> rows_;
};

}  // namespace

void place_table(cmark_node* table, const TextSetter& setter, Pages& pages, double x, double width) {
  if (cmark_gfm_extensions_get_table_columns(table) == 0) return;
  Table(table, setter, width).place(pages, x);
}

}  // namespace tenon::report
