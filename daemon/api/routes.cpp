#include "daemon/api/routes.hpp"

#include <array>

#include "daemon/api/handlers.hpp"

namespace sy::daemon {

namespace {
using enum Access;
constexpr auto local = Listener::local;
constexpr auto agents = Listener::agents;

constexpr std::array table{
    Route{"POST", "/v1/jobs", local, user, handlers::submit_job, true},
    Route{"GET", "/v1/jobs", local, user, handlers::list_jobs},
    Route{"GET", "/v1/jobs/{id}", local, user, handlers::get_job},
    Route{"GET", "/v1/jobs/{id}/script", local, owner, handlers::get_script},
    Route{"PATCH", "/v1/jobs/{id}", local, owner, handlers::change_job, true},
    Route{"POST", "/v1/jobs/{id}/cancel", local, owner, handlers::cancel_job, true},
    Route{"POST", "/v1/jobs/{id}/signal", local, owner, handlers::signal_job, true},
    Route{"POST", "/v1/jobs/{id}/hold", local, owner, handlers::hold_job, true},
    Route{"POST", "/v1/jobs/{id}/release", local, owner, handlers::release_job, true},
    Route{"POST", "/v1/jobs/{id}/requeue", local, owner, handlers::requeue_job, true},
    Route{"GET", "/v1/accounting", local, user, handlers::list_accounting},
    Route{"GET", "/v1/nodes", local, user, handlers::list_nodes},
    Route{"GET", "/v1/nodes/{name}", local, user, handlers::get_node},
    Route{"POST", "/v1/nodes/{name}/enrol", local, administrator, handlers::issue_enrolment},  // its answer holds a secret: never kept
    Route{"POST", "/v1/nodes/{name}/drain", local, administrator, handlers::drain_node, true},
    Route{"POST", "/v1/nodes/{name}/down", local, administrator, handlers::down_node, true},
    Route{"POST", "/v1/nodes/{name}/resume", local, administrator, handlers::resume_node, true},
    Route{"POST", "/v1/nodes/{name}/fence", local, administrator, handlers::fence_node, true},
    Route{"GET", "/v1/partitions", local, user, handlers::list_partitions},
    Route{"GET", "/v1/partitions/{name}", local, user, handlers::get_partition},
    Route{"GET", "/v1/topologies", local, user, handlers::list_topologies},
    Route{"GET", "/v1/topologies/{name}", local, user, handlers::get_topology},
    Route{"GET", "/v1/topologies/{name}/export", local, user, handlers::export_topology},
    Route{"GET", "/v1/topologies/{name}/use", local, user, handlers::topology_use},
    Route{"GET", "/v1/topologies/{name}/quality", local, user, handlers::topology_quality},
    Route{"PUT", "/v1/topologies", local, administrator, handlers::import_topologies},
    Route{"PUT", "/v1/topologies/{name}", local, administrator, handlers::import_topology},
    Route{"POST", "/v1/topologies/check", local, administrator, handlers::check_topologies},
    Route{"POST", "/v1/topologies/try", local, user, handlers::try_topology},
    Route{"GET", "/v1/config", local, user, handlers::get_config},
    Route{"POST", "/v1/reconfigure", local, administrator, handlers::reconfigure},
    Route{"GET", "/livez", local, anyone, handlers::livez},
    Route{"GET", "/readyz", local, anyone, handlers::readyz},
    Route{"GET", "/metrics", local, anyone, handlers::metrics},
    Route{"POST", "/v1/agent/enrol", agents, enrolment, handlers::enrol_agent},
    Route{"POST", "/v1/agent/register", agents, agent, handlers::register_agent},
    Route{"POST", "/v1/agent/heartbeat", agents, agent, handlers::heartbeat},
    Route{"POST", "/v1/agent/reports", agents, agent, handlers::take_reports},
};

bool path_matches(std::string_view pattern, const std::vector<std::string>& segments, std::vector<std::string>& captures) {
  captures.clear();
  std::size_t at = 0;
  pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const std::size_t end = std::min(pattern.find('/'), pattern.size());
    const std::string_view part = pattern.substr(0, end);
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
    if (at == segments.size()) return false;
    if (part.front() == '{') captures.push_back(segments[at]);
    else if (part != segments[at]) return false;
    ++at;
  }
  return at == segments.size();
}
}  // namespace

std::span<const Route> routes() { return table; }

const Route* find_route(Listener listener, std::string_view method, const std::vector<std::string>& segments,
                        std::vector<std::string>& captures, std::string& other_methods) {
  other_methods.clear();
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  for (const Route& route : table) {
    if (route.listener != listener || !path_matches(route.path, segments, captures)) continue;
    if (route.method == wanted) return &route;
    other_methods += (other_methods.empty() ? "" : ", ") + std::string(route.method);
  }
  return nullptr;
}

}  // namespace sy::daemon
