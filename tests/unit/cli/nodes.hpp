// A small cluster as GET /v1/nodes and /v1/partitions answer it.
#pragma once

#include <string>

namespace sy::cli::test {

inline std::string node_json(const std::string& name, const std::string& state, const std::string& memory = "16384",
                             const std::string& held = "0") {
  return R"({"name":")" + name + R"(","state":")" + state + R"(","contact":"up","cpus":8,"cpus_held":)" + held + R"(,"memory_mib":)" +
         memory +
         R"J(,"memory_held_mib":0,"sockets":1,"cores_per_socket":4,"threads_per_core":2,"gres":[{"name":"gpu","type":"a100","index":0},{"name":"gpu","type":"a100","index":1}],
 "gres_text":"gpu:a100:2","gres_used_text":"gpu:a100:0(IDX:N/A)","features":["a100","ib"],"weight":1,"address":"10.0.0.1","port":6831,"boot_id":"b","boot_time_us":1795900000000000,
 "registered_at_us":1795950000000000,"version":"0.1.0","partitions":["main"],"jobs":[],"enrolled":true,"reason":"","reason_by":"","reason_at_us":null,"drained":false,"down":false})J";
}

inline const std::string nodes_body =
    R"({"nodes":[)" + node_json("n1", "allocated", "16384", "8") + "," + node_json("n2", "mixed", "32768", "2.5") + "," +
    node_json("n3", "idle") + "," + node_json("n4", "idle") + "," +
    R"({"name":"n5","state":"drained","contact":"up","cpus":16,"cpus_held":0,"memory_mib":65536,"memory_held_mib":0,"sockets":2,"cores_per_socket":8,
 "threads_per_core":1,"gres":[],"gres_text":"","gres_used_text":"","features":[],"weight":5,"address":"","port":6831,"version":"0.1.0","partitions":["main","big"],"jobs":[],
 "reason":"bad fan","reason_by":"root","reason_at_us":1795957200000000},)" +
    R"({"name":"n10","state":"down","contact":"silent","cpus":16,"cpus_held":0,"memory_mib":65536,"memory_held_mib":0,"sockets":2,"cores_per_socket":8,
 "threads_per_core":1,"gres":[],"gres_text":"","gres_used_text":"","features":[],"weight":5,"address":"","port":6831,"version":"","partitions":["big"],"jobs":[],
 "reason":"no answer","reason_by":"switchyard","reason_at_us":1795957200000000}]})";

inline const std::string partitions_body = R"({"partitions":[
{"name":"main","default":true,"state":"up","nodes":"n[1-5]","node_count":5,"cpus":48,"max_time_s":86400,"default_time_s":3600,"min_nodes":0,"max_nodes":null,"priority_tier":1,
 "exclusive_node":false,"hidden":false,"allow_groups":[],"allow_users":[],"deny_groups":[],"deny_users":[],"topology":""},
{"name":"big","default":false,"state":"down","nodes":"n[5,10]","node_count":2,"cpus":32,"max_time_s":null,"default_time_s":null,"min_nodes":1,"max_nodes":4,"priority_tier":2,
 "exclusive_node":true,"hidden":false,"allow_groups":["phys"],"allow_users":[],"deny_groups":[],"deny_users":[],"topology":""}]})";

}  // namespace sy::cli::test
