// A queue of a few jobs as GET /v1/jobs answers it.
#pragma once

#include <string>

namespace sy::cli::test {

// A waiting job of two nodes, a running one, one that waits behind it, one that failed.
inline const std::string queue_body = R"({"jobs":[
{"id":1,"name":"train","user":"ann","uid":1000,"group":"ann","gid":1000,"account":"physics","qos":"","partition":"gpu","state":"running","outcome":"none",
 "slurm_state":"RUNNING","slurm_state_compact":"R","reason":"None","submitted_us":1795957200000000,"eligible_us":1795957200000000,"started_us":1795957260000000,
 "time_limit_s":86400,"elapsed_s":3540,"node_count":2,"nodes":"n[1-2]","batch_host":"n1","cpus":16,"tasks":4,"cpus_per_task":4,"tasks_per_node":2,
 "memory_per_node_mib":16384,"memory_mib":32768,"gres":"gpu:a100:4","tres":"cpu=16,mem=32G,node=2,billing=16,gres/gpu=8","constraint":"ib","nodelist":"","exclude":"","priority":0,"nice":0,
 "attempt":1,"restarts":0,"exit_code":0,"exit_signal":0,"work_dir":"/home/ann/work","std_in":"/dev/null","std_out":"/home/ann/work/slurm-1.out","std_err":"",
 "command":"/home/ann/work/train.sh","comment":"a|b","wckey":"","requeue":true,"held_by_user":false,"held_by_admin":false,"sharing":"shared","contiguous":false,"min_nodes":2,"max_nodes":2},
{"id":2,"name":"a_very_long_name","user":"bob","uid":1001,"group":"bob","gid":1001,"account":"","qos":"","partition":"main","state":"pending","outcome":"none",
 "slurm_state":"PENDING","slurm_state_compact":"PD","reason":"Resources","reason_text":"2 of 4 nodes free: 2 busy","submitted_us":1795957300000000,"eligible_us":1795957300000000,
 "time_limit_s":null,"elapsed_s":0,"node_count":4,"nodes":"","batch_host":"","cpus":4,"tasks":4,"cpus_per_task":1,"tasks_per_node":0,"memory_per_cpu_mib":2048,"memory_mib":8192,"gres":"",
 "priority":90,"nice":100,"attempt":0,"restarts":0,"work_dir":"/home/bob","std_out":"/home/bob/slurm-2.out","command":"wrap","requeue":false,
 "held_by_user":false,"held_by_admin":false,"planned_start_us":1796043660000000,"planned_nodes":"n[1-4]","sharing":"exclusive_node","contiguous":true,"min_nodes":4,"max_nodes":4,
 "verdict":{"kind":"not_now","reason":"Resources","offered":2,"asked":4,"ahead":0,"text":"2 of 4 nodes free: 2 busy","causes":[{"kind":"busy","nodes":2}],"rungs":[]}},
{"id":3,"name":"hello","user":"ann","uid":1000,"group":"ann","gid":1000,"partition":"main","state":"pending","outcome":"none","slurm_state":"PENDING","slurm_state_compact":"PD",
 "reason":"Priority","submitted_us":1795957400000000,"eligible_us":1795957400000000,"time_limit_s":300,"elapsed_s":0,"node_count":1,"nodes":"","cpus":1,"tasks":1,"cpus_per_task":1,
 "priority":190,"nice":0,"sharing":"shared","requeue":true,"work_dir":"/home/ann","command":"hello.sh"},
{"id":4,"name":"bad","user":"ann","uid":1000,"group":"ann","gid":1000,"partition":"main","state":"ended","outcome":"failed","slurm_state":"FAILED","slurm_state_compact":"F",
 "reason":"NonZeroExitCode","submitted_us":1795957400000000,"eligible_us":1795957400000000,"started_us":1795957401000000,"ended_us":1795957411000000,"time_limit_s":300,"elapsed_s":10,
 "node_count":1,"nodes":"n3","batch_host":"n3","cpus":1,"tasks":1,"cpus_per_task":1,"priority":0,"nice":0,"exit_code":3,"exit_signal":0,"sharing":"shared","requeue":true}
],"next":null,"sequence":9})";

}  // namespace sy::cli::test
