#pragma once

#include <cstdint>
#include <string_view>

#include "journal/postgres/append_plan.h"
#include "journal/postgres/composer.h"
#include "journal/postgres/session.h"

/// The parts of an append's statement that add rows to other tables than `runs`. Each adds them for the runs whose ids
/// are in the statement's table `applied`.
namespace tenon::journal::postgres {

/// ` WHERE …`: keeps the rows of `table` whose run is in `applied`.
void compose_if_applied(Composer& out, std::string_view table, std::string_view applied);

void compose_contents(Composer& out, const ContentRows& contents, std::string_view applied);
/// After the contents: bodies of those that were added.
void compose_bodies(Composer& out, const ContentRows& contents);
void compose_snapshots(Composer& out, const Layer& layer, std::string_view applied);
/// Notes that replace older ones, as the tables `replacing` and `replaced`.
void compose_replaced_notes(Composer& out, const Layer& layer, std::string_view applied);
/// Notes that are kept first: `keeping` are those of the runs that have changed, `kept` those that had no older one.
void compose_first_notes(Composer& out, const Layer& layer, std::string_view applied);

/// The statement that adds contents which did not fit into their layer's statement, if the runs have changed as
/// planned. `later` outlives the parameters.
[[nodiscard]] const Statement& fill_later_contents(const LaterContents& later, Parameters& parameters);

}  // namespace tenon::journal::postgres
