#include "journal/postgres/keeper.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "base/backoff.h"
#include "base/signal_free_thread.h"
#include "journal/postgres/channels.h"
#include "journal/postgres/notice_sending.h"

namespace tenon::journal::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// The lease is renewed this often during its time, and this part of it is not used: an effect that was checked before
/// its end still has to begin.
constexpr int renewals_per_lease = 4;
constexpr int lease_per_margin = 10;
/// Between two sendings to watchers: what comes meanwhile is collected.
constexpr milliseconds send_interval{3};
constexpr milliseconds clean_interval{30'000};
/// Between attempts to connect again, in milliseconds.
constexpr Backoff return_backoff{.first = 10, .factor = 2, .most = 1'000};
/// After an error of the server that does not end the session.
constexpr milliseconds error_pause{200};
/// How long joining waits until it is known which others are dead.
constexpr milliseconds settle_time_max{1'000};
constexpr milliseconds settle_interval{10};

const Statement select_watched{R"sql(
  SELECT r.name, CASE WHEN o.id IS NULL THEN 0 ELSE o.id END, r.appends
  FROM runs AS r LEFT JOIN owners AS o ON o.id = r.owner AND o.dead_at IS NULL
  WHERE r.name = ANY($1::text[]))sql"};
/// $1: runs; $2: the beginning of the channels' names. A transaction sends a notice of the same text once.
const Statement notify_hosts{R"sql(
  WITH moved AS MATERIALIZED (
    SELECT r.name, r.pool, o.id AS owner FROM runs AS r LEFT JOIN owners AS o ON o.id = r.owner AND o.dead_at IS NULL
    WHERE r.name = ANY($1::text[]))
  SELECT pg_notify($2::text || m.owner, 'given ' || string_agg(m.name, ' '))
  FROM moved AS m WHERE m.owner IS NOT NULL GROUP BY m.owner
  UNION ALL SELECT pg_notify($2::text || o.id, 'moved') FROM owners AS o
  WHERE o.role = 1 AND o.dead_at IS NULL AND o.pool IN (SELECT m.pool FROM moved AS m WHERE m.owner IS NULL))sql"};
/// Their names are in one notice.
constexpr std::size_t runs_per_notice = 256;
static_assert(runs_per_notice * (run_name_bytes + 1) < notice_bytes_max);
/// Of runs that were given to this owner. It finds more of them when it looks by itself.
constexpr std::size_t given_max = 10'000;
/// Replies that no one has taken.
const Statement delete_old_replies{
    "DELETE FROM inbox WHERE reply IS NOT NULL AND replied_at < clock_timestamp() - interval '60 s'"};

/// For people.
std::string label_of_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return fmt::format("process {} on {}", ::getpid(), host.data());
}

}  // namespace

/// A subscription.
class Keeper::Listener final : public Subscription {
 public:
  Listener(Keeper& keeper, std::list<std::function<void(Wakeups::Notice)>>::iterator place)
      : keeper_(keeper), place_(place) {}
  ~Listener() override {
    const std::scoped_lock lock(keeper_.listeners_mutex_);
    keeper_.listeners_.erase(place_);
  }

 private:
  Keeper& keeper_;
  const std::list<std::function<void(Wakeups::Notice)>>::iterator place_;
};

Keeper::Keeper(Connection& connection) : connection_(connection), lease_time_(connection.lease()) {}

Keeper::~Keeper() {
  is_ending_ = true;
  waker_.wake();
  if (thread_.joinable()) thread_.join();
}

std::unique_ptr<Subscription> Keeper::subscribe(std::function<void(Wakeups::Notice)> notify) {
  const std::scoped_lock lock(listeners_mutex_);
  return std::make_unique<Listener>(*this, listeners_.insert(listeners_.end(), std::move(notify)));
}

void Keeper::announce_moves(const std::vector<RunName>& runs) {
  {
    const std::scoped_lock lock(moves_mutex_);
    moves_.insert(moves_.end(), runs.begin(), runs.end());
  }
  waker_.wake();
}

std::vector<RunName> Keeper::take_given() {
  const std::scoped_lock lock(moves_mutex_);
  return std::exchange(given_, {});
}

void Keeper::on_given(std::vector<RunName> runs) {
  {
    const std::scoped_lock lock(moves_mutex_);
    runs.resize(std::min(runs.size(), given_max - given_.size()));
    std::ranges::move(runs, std::back_inserter(given_));
  }
  ++given_count_;
  notify_listeners();
}

void Keeper::on_abandoned(std::uint64_t count) {
  abandonments_ += count;
  notify_listeners();
}

void Keeper::notify_listeners(Wakeups::Notice notice) {
  const std::scoped_lock lock(listeners_mutex_);
  for (const auto& listener : listeners_) listener(notice);
}

Result<void, StoreError> Keeper::join() {
  Joined joined;
  // Renewals need not wait for the disk: after a crash of the server a lease lasts a whole term.
  joined.link = std::make_unique<ServerLink>(connection_.address(), connection_.stop(),
                                             ServerLink::Options{.application_name = "tenon",
                                                                 .durability = Durability::Process,
                                                                 .reply_time = lease_time_,
                                                                 .silence = silence_of(lease_time_)});
  const auto session = joined.link->get(ServerLink::Patience::Once);
  if (!session) return failure(session.error());
  const auto error = [&](const SessionError& reason) { return failure(connection_.error(reason)); };
  const StoreOptions& options = connection_.options();
  const Time asked_at = Lease::now();
  const auto owner =
      postgres::join(**session, connection_.number(), {options.role, label_of_process(), options.pool, lease_time_});
  if (!owner) return error(owner.error());
  joined.owner = *owner;
  joined.session = *session;
  if (auto done = joined.link->rename(application_name_of(connection_.number(), *owner)); !done)
    return error(done.error());
  if (auto done = set_up(**session, *owner); !done) return error(done.error());
  joined.others = std::make_unique<OtherOwners>(connection_.number(), *owner);
  for (const Time deadline = Lease::now() + settle_time_max; Lease::now() < deadline;) {
    if (const auto departed = joined.others->look(**session, Lease::now()); !departed) return error(departed.error());
    if (joined.others->are_settled() || !joined.link->wait(settle_interval)) break;
  }
  if (auto done = notify(**session, {{owners_channel(connection_.number()), "joined"}}); !done)
    return error(done.error());
  connection_.set_owner(*owner);
  hold_lease(**session, asked_at);
  {
    const std::scoped_lock lock(joined_mutex_);
    joined_ = std::move(joined);
  }
  if (!thread_.joinable()) thread_ = start_signal_free_thread([this] { keep(); });
  waker_.wake();
  return {};
}

void Keeper::take_joined() {
  const std::scoped_lock lock(joined_mutex_);
  if (!joined_) return;
  owner_ = joined_->owner;
  link_ = std::move(joined_->link);
  others_ = std::move(joined_->others);
  session_ = joined_->session;
  joined_.reset();
  renew_at_ = Lease::now() + lease_time_ / renewals_per_lease;
  watches_.runs.forget_watched();
  watches_.store.forget_watched();
}

/// What a new session needs: notices, and a server that does not end it before the lease ends.
Keeper::Done Keeper::set_up(Session& session, std::int64_t owner) const {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(lease_time_).count();
  return session.execute(
      fmt::format("SET tcp_keepalives_idle = {0}; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; "
                  "SET tcp_user_timeout = {1}; LISTEN {2}; LISTEN {3}",
                  std::max<std::int64_t>(seconds, 1), (lease_time_ * 2).count(),
                  channel_of(connection_.number(), owner), owners_channel(connection_.number())));
}

void Keeper::hold_lease(const Session& session, Time asked_at) {
  lease_.hold(session.descriptor(), asked_at + lease_time_ - lease_time_ / lease_per_margin);
  renew_at_ = asked_at + lease_time_ / renewals_per_lease;
}

void Keeper::keep() {
  while (!is_ending_) {
    take_joined();
    if (session_ != nullptr) {
      const auto done = work(*session_);
      if (session_ != nullptr && session_->is_lost()) {
        on_connection_lost();
      } else if (!done) {
        pause_until_ = Lease::now() + error_pause;
      }
    } else if (link_ != nullptr && Lease::now() >= return_at_) {
      try_to_return();
    }
    wait();
  }
  take_joined();
  // Its runs are free at once.
  if (session_ == nullptr || session_->is_lost()) return;
  if (leave(*session_, owner_)) static_cast<void>(notify(*session_, {{owners_channel(connection_.number()), "gone"}}));
  lease_.suspend();
}

Keeper::Done Keeper::work(Session& session) {
  if (auto done = take_notices(session); !done) return done;
  if (Lease::now() >= renew_at_) {
    if (auto done = renew_lease(session); !done || session_ == nullptr) return done;
  }
  const auto departed = others_->look(session, Lease::now());
  if (!departed) return failure(departed.error());
  if (*departed > 0) on_abandoned(*departed);
  if (auto done = send_moves(session); !done) return done;
  if (auto done = send_notices(session); !done) return done;
  if (auto done = look_at_watched(session); !done) return done;
  if (auto done = clean(session); !done) return done;
  return take_notices(session);  // that came with the replies
}

Keeper::Done Keeper::renew_lease(Session& session) {
  const Time asked_at = Lease::now();
  renew_at_ = asked_at + lease_time_ / renewals_per_lease / 2;  // if it fails
  const auto renewed = renew(session, owner_, runs_);
  if (!renewed) return failure(renewed.error());
  if (*renewed == Renewal::Marked) {
    on_marked();
  } else {
    const bool was_held = lease_.state() == LeaseState::Held;
    hold_lease(session, asked_at);
    if (!was_held) notify_listeners();  // effects wait for it
  }
  return {};
}

void Keeper::on_marked() {
  lease_.lose();
  session_ = nullptr;
  link_.reset();
  others_.reset();
  notify_listeners();
}

void Keeper::on_connection_lost() {
  lease_.suspend();
  session_ = nullptr;
  returns_ = 0;
  return_at_ = {};
  notify_listeners();  // effects wait
}

void Keeper::try_to_return() {
  return_at_ = Lease::now() + milliseconds(static_cast<std::int64_t>(return_backoff.wait_after(returns_++)));
  const auto session = link_->get(ServerLink::Patience::Once);
  if (!session) return;
  const Time asked_at = Lease::now();
  const auto renewed = return_to(**session, connection_.number(), owner_, runs_);
  if (!renewed) return;
  if (*renewed == Renewal::Marked) return on_marked();
  if (!set_up(**session, owner_)) return;
  session_ = *session;
  hold_lease(**session, asked_at);
  others_->look_soon();
  look_at_watched_at_ = {};
  notify_listeners();  // notices may have been lost
  watches_.store.on_missed();
}

Keeper::Done Keeper::take_notices(Session& session) {
  const auto notices = session.take_notifications();
  if (!notices) return failure(notices.error());
  for (const Notification& notice : *notices) on_notice(notice);
  return {};
}

void Keeper::on_notice(const Notification& notice) {
  const std::string_view kind = kind_of(notice.payload);
  if (kind == "command") {
    notify_listeners(Wakeups::Notice::Command);
  } else if (kind == "reply") {
    notify_listeners(Wakeups::Notice::Reply);
  } else if (kind == "moved") {
    on_abandoned(1);
  } else if (kind == "given") {
    if (auto runs = read_given_notice(notice.payload)) on_given(std::move(*runs));
  } else if (kind == "joined") {
    others_->look_soon();
    look_at_watched_at_ = {};  // it does not know who watches
  } else if (kind == "gone") {
    others_->look_soon();
    on_abandoned(1);  // it may have left before it was seen
  } else if (kind == "watch") {
    if (const auto watch = read_watch_notice(notice.payload)) watches_.runs.on_watch(*watch, Lease::now());
  } else if (kind == "changed") {
    if (const auto runs = read_changed_notice(notice.payload)) watches_.runs.on_changed(*runs);
  } else if (kind == "watch-all") {
    const auto watcher = read_watch_all_notice(notice.payload);
    if (watcher && *watcher != owner_) watches_.store.on_watch(*watcher, Lease::now());
  } else if (kind == "any-changed") {
    if (const auto runs = read_any_changed_notice(notice.payload)) watches_.store.on_changed(*runs);
  } else if (kind == "messages") {
    if (const auto messages = read_messages_notice(notice.payload)) watches_.runs.on_messages(*messages);
  }
}

/// What is not announced is found by the hosts' own look at the runs that they have, and those without an owner.
Keeper::Done Keeper::send_moves(Session& session) {
  std::vector<RunName> runs;
  {
    const std::scoped_lock lock(moves_mutex_);
    runs.swap(moves_);
  }
  for (std::size_t at = 0; at < runs.size(); at += runs_per_notice) {
    ArrayValue names(ArrayValue::Element::Text);
    for (const RunName& run : std::span(runs).subspan(at, std::min(runs_per_notice, runs.size() - at)))
      names.add(run.text);
    const auto sent =
        session.run(notify_hosts, Parameters().array(std::move(names)).own_bytes(channel_prefix(connection_.number())));
    if (!sent) return failure(sent.error());
  }
  return {};
}

Keeper::Done Keeper::send_notices(Session& session) {
  const Time now = Lease::now();
  if (!watches_.runs.has_outgoing() && !watches_.store.has_outgoing()) {
    send_at_ = {};
    return {};
  }
  send_at_ = sent_at_ + send_interval;
  if (now < send_at_) return {};
  send_at_ = {};
  sent_at_ = now;
  std::vector<Notification> notices;
  for (OutgoingNotice& notice : watches_.runs.take_outgoing(owner_, now))
    notices.push_back({channel_of(connection_.number(), notice.owner), std::move(notice.text)});
  for (OutgoingNotice& notice : watches_.store.take_outgoing(now))
    notices.push_back({channel_of(connection_.number(), notice.owner), std::move(notice.text)});
  return notify(session, notices);
}

/// Asks the owners of watched runs to notify this one, and looks itself, because notices may be lost.
Keeper::Done Keeper::look_at_watched(Session& session) {
  const Time now = Lease::now();
  const bool has_new = watches_.runs.take_has_new();
  if (watches_.store.take_has_new() || has_new) look_at_watched_at_ = {};
  if (now < look_at_watched_at_) return {};
  look_at_watched_at_ = now + watch_interval;
  if (watches_.store.has_watchers_here()) {
    if (auto done = notify(session, {{owners_channel(connection_.number()), make_watch_all_notice(owner_)}}); !done)
      return done;
  }
  const std::vector<RunName> runs = watches_.runs.watched_here();
  if (runs.empty()) return {};
  ArrayValue names(ArrayValue::Element::Text);
  for (const RunName& run : runs) names.add(run.text);
  const auto rows = session.run(select_watched, Parameters().array(std::move(names)));
  if (!rows) return failure(rows.error());
  std::map<std::int64_t, std::vector<RunName>> by_owner;
  for (std::size_t row = 0; row < rows->size(); ++row) {
    const RunName run{rows->get_text(row, 0)};
    const std::int64_t owner = rows->get_integer(row, 1);
    if (owner != 0 && owner != owner_) by_owner[owner].push_back(run);
    watches_.runs.on_seen(run, owner, rows->get_unsigned(row, 2));
  }
  std::vector<Notification> notices;
  for (const auto& [owner, watched] : by_owner)
    for (std::string& text : make_watch_notices(owner_, watched))
      notices.push_back({channel_of(connection_.number(), owner), std::move(text)});
  return notify(session, notices);
}

Keeper::Done Keeper::clean(Session& session) {
  const Time now = Lease::now();
  if (now < clean_at_) return {};
  clean_at_ = now + clean_interval;
  const auto deleted = session.run(delete_old_replies);
  if (!deleted) return failure(deleted.error());
  return remove_ended(session);
}

Keeper::Time Keeper::next_work() const {
  if (session_ == nullptr) return link_ == nullptr ? Lease::now() + lease_time_ : return_at_;
  Time next = std::min({renew_at_, others_->next_look(), look_at_watched_at_, clean_at_});
  if (send_at_.count() != 0) next = std::min(next, send_at_);
  return std::max(next, pause_until_);
}

void Keeper::wait() const {
  const auto time = std::chrono::ceil<milliseconds>(next_work() - Lease::now());
  if (time.count() <= 0) return;
  std::array<pollfd, 2> waits{pollfd{waker_.descriptor(), POLLIN, 0},
                              pollfd{session_ == nullptr ? -1 : session_->descriptor(), POLLIN, 0}};
  static_cast<void>(::poll(waits.data(), waits.size(), static_cast<int>(std::min<std::int64_t>(time.count(), 1'000))));
  waker_.clear();
}

}  // namespace tenon::journal::postgres
