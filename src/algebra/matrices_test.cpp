#include "algebra/matrices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tenon::algebra {
namespace {

using testing::ElementsAre;

template <class T>
Matrix<T> matrix(std::size_t columns, const std::vector<std::vector<T>>& rows) {
  Matrix<T> made(rows.size(), columns);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) made.at(row, column) = rows[row][column];
  }
  return made;
}

Mask mask(std::size_t columns, const std::vector<std::vector<std::uint8_t>>& rows) {
  return matrix<std::uint8_t>(columns, rows);
}

/// The matrices of Robert Cunningham's Agentic Architecture (2024). First example: six calls of five tools.
const Selection six_calls{{2, 1, 3, 5, 2, 2}};
const std::vector<std::vector<std::uint8_t>> six_calls_mask{{0, 1, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 0, 1, 0, 0},
                                                            {0, 0, 0, 0, 1}, {0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}};
/// Its second cycle.
const Selection two_cycles{{2, 1, 3, 5, 2, 2}, {1, 4, 5}};
/// The third example: k = 5, n = 3.
const Selection five_cycles{{2, 1}, {1, 3, 2, 2}, {3, 1, 2}, {}, {1, 2}};

TEST(Matrices, SixCallsOfFiveTools) {
  EXPECT_THAT(call_sequence(six_calls), ElementsAre(2, 1, 3, 5, 2, 2));
  EXPECT_EQ(selection_mask(six_calls, 0, 5), mask(5, six_calls_mask));
  EXPECT_EQ(selection_mask(two_cycles, 0, 5), mask(5, six_calls_mask));
  EXPECT_EQ(selection_mask(two_cycles, 1, 5), mask(5, {{1, 0, 0, 0, 0}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}}));
  EXPECT_EQ(selection_mask(two_cycles, 5).rows(), 9U);
  EXPECT_THAT(row_counts(two_cycles), ElementsAre(6, 3));
  EXPECT_EQ(row_count_max(two_cycles), 6U);
}

TEST(Matrices, ResultsAreQueriesComposedWithToolsUnderTheMask) {
  const std::vector<std::string> queries{"q1", "q2", "q3", "q4", "q5", "q6"};
  const std::vector<std::string> tools{"T1", "T2", "T3", "T4", "T5"};
  const auto all = compose(queries, tools,
                           [](const std::string& tool, const std::string& query) { return tool + "(" + query + ")"; });
  EXPECT_EQ(all.rows(), 6U);
  EXPECT_EQ(all.columns(), 5U);
  EXPECT_EQ(all.at(3, 1), "T2(q4)");
  const std::string o;
  const auto expected = matrix<std::string>(5, {{o, "T2(q1)", o, o, o},
                                                {"T1(q2)", o, o, o, o},
                                                {o, o, "T3(q3)", o, o},
                                                {o, o, o, o, "T5(q4)"},
                                                {o, "T2(q5)", o, o, o},
                                                {o, "T2(q6)", o, o, o}});
  EXPECT_EQ(select(selection_mask(six_calls, 5), all), expected);
  const std::vector<std::string> results{"T2(q1)", "T1(q2)", "T3(q3)", "T5(q4)", "T2(q5)", "T2(q6)"};
  EXPECT_EQ(result_matrix(six_calls, 5, results, o), expected);
}

TEST(Matrices, FiveCyclesOfThreeTools) {
  EXPECT_THAT(row_counts(five_cycles), ElementsAre(2, 4, 3, 0, 2));
  EXPECT_EQ(row_count_max(five_cycles), 4U);
  EXPECT_EQ(selection_mask(five_cycles, 0, 3), mask(3, {{0, 1, 0}, {1, 0, 0}}));
  EXPECT_EQ(selection_mask(five_cycles, 1, 3), mask(3, {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(selection_mask(five_cycles, 2, 3), mask(3, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}));
  // The document gives its fourth mask a row of zeros; without calls there is none.
  EXPECT_EQ(selection_mask(five_cycles, 3, 3), mask(3, {}));
  EXPECT_EQ(selection_mask(five_cycles, 4, 3), mask(3, {{1, 0, 0}, {0, 1, 0}}));
  EXPECT_THAT(call_sequence(five_cycles), ElementsAre(2, 1, 1, 3, 2, 2, 3, 1, 2, 1, 2));
}

TEST(Matrices, TheTensorHasItsRowsInOrderAndIsPaddedAtTheEnd) {
  const std::vector<Mask> tensor = selection_tensor(five_cycles, 3);
  ASSERT_EQ(tensor.size(), 5U);
  EXPECT_EQ(tensor[0], mask(3, {{0, 1, 0}, {1, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(tensor[1], mask(3, {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}}));
  // In the document the last call of these two is in row 4, after empty rows.
  EXPECT_EQ(tensor[2], mask(3, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}}));
  EXPECT_EQ(tensor[3], mask(3, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(tensor[4], mask(3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(selection_of(tensor), five_cycles);
}

TEST(Matrices, IndicesArePaddedWithZero) {
  EXPECT_EQ(tool_indices(five_cycles),
            matrix<std::uint32_t>(4, {{2, 1, 0, 0}, {1, 3, 2, 2}, {3, 1, 2, 0}, {0, 0, 0, 0}, {1, 2, 0, 0}}));
  const std::vector<std::string> queries{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"};
  EXPECT_EQ(arrange<std::string>(five_cycles, queries, "-"), matrix<std::string>(4, {{"a", "b", "-", "-"},
                                                                                     {"c", "d", "e", "f"},
                                                                                     {"g", "h", "i", "-"},
                                                                                     {"-", "-", "-", "-"},
                                                                                     {"j", "k", "-", "-"}}));
}

TEST(Matrices, RejectsATensorThatIsNotASelection) {
  EXPECT_EQ(selection_of({mask(2, {{1, 1}})}), std::nullopt);
  EXPECT_EQ(selection_of({mask(2, {{0, 0}, {1, 0}})}), std::nullopt);
}

TEST(Matrices, WithoutCallsThereAreCyclesAllTheSame) {
  const Selection silent{{}, {}};
  EXPECT_EQ(row_count_max(silent), 0U);
  EXPECT_EQ(tool_indices(silent).rows(), 2U);
  EXPECT_EQ(selection_tensor(silent, 3).size(), 2U);
  EXPECT_EQ(selection_tensor(silent, 3)[0].rows(), 0U);
  EXPECT_EQ(row_count_max({}), 0U);
}

}  // namespace
}  // namespace tenon::algebra
