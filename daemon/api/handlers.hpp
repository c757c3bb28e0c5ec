// The handlers of all routes: plain functions that answer a Call, one file per noun.
// Not who may call them: the table is routes.cpp.
#pragma once

#include "daemon/api/call.hpp"

namespace sy::daemon::handlers {

// jobs
void submit_job(const CallPtr&);
void list_jobs(const CallPtr&);
void get_job(const CallPtr&);
void get_script(const CallPtr&);
void change_job(const CallPtr&);
void cancel_job(const CallPtr&);
void signal_job(const CallPtr&);
void hold_job(const CallPtr&);
void release_job(const CallPtr&);
void requeue_job(const CallPtr&);
void list_accounting(const CallPtr&);
// nodes
void list_nodes(const CallPtr&);
void get_node(const CallPtr&);
void issue_enrolment(const CallPtr&);
void drain_node(const CallPtr&);
void down_node(const CallPtr&);
void resume_node(const CallPtr&);
void fence_node(const CallPtr&);
// the cluster
void list_partitions(const CallPtr&);
void get_partition(const CallPtr&);
void list_topologies(const CallPtr&);
void get_topology(const CallPtr&);
void export_topology(const CallPtr&);
void topology_use(const CallPtr&);
void topology_quality(const CallPtr&);
void import_topology(const CallPtr&);
void import_topologies(const CallPtr&);
void check_topologies(const CallPtr&);
void try_topology(const CallPtr&);
void get_config(const CallPtr&);
void reconfigure(const CallPtr&);
// health
void livez(const CallPtr&);
void readyz(const CallPtr&);
void metrics(const CallPtr&);
// agents
void enrol_agent(const CallPtr&);
void register_agent(const CallPtr&);
void heartbeat(const CallPtr&);
void take_reports(const CallPtr&);

}  // namespace sy::daemon::handlers
