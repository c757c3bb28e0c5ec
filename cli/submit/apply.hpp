// What each option does to a submission: one function an option, grouped by what it is about.
#pragma once

#include "base/option_table.hpp"
#include "cli/submit/request.hpp"

namespace sy::cli::apply {

using Given = base::GivenOption;
using Done = base::Result<void>;

// The refusal every option makes: the field is the option as the user wrote it.
tl::unexpected<base::Error> refuse(const Given&, std::string message, std::string limit = {}, std::string hint = {});
base::Result<std::uint32_t> count(const Given&, std::string_view text, std::uint32_t least, std::uint32_t most);

// resources
Done nodes(SubmitRequest&, const Given&);
Done ntasks(SubmitRequest&, const Given&);
Done ntasks_per_node(SubmitRequest&, const Given&);
Done cpus_per_task(SubmitRequest&, const Given&);
Done mem(SubmitRequest&, const Given&);
Done mem_per_cpu(SubmitRequest&, const Given&);
Done mem_per_gpu(SubmitRequest&, const Given&);
Done gres(SubmitRequest&, const Given&);
Done gpus(SubmitRequest&, const Given&);
Done gpus_per_node(SubmitRequest&, const Given&);
Done gpus_per_task(SubmitRequest&, const Given&);
Done time(SubmitRequest&, const Given&);
Done time_min(SubmitRequest&, const Given&);

// placement
Done partition(SubmitRequest&, const Given&);
Done constraint(SubmitRequest&, const Given&);
Done nodelist(SubmitRequest&, const Given&);
Done exclude(SubmitRequest&, const Given&);
Done exclusive(SubmitRequest&, const Given&);
Done oversubscribe(SubmitRequest&, const Given&);
Done contiguous(SubmitRequest&, const Given&);
Done switches(SubmitRequest&, const Given&);
Done segment(SubmitRequest&, const Given&);
Done spread_segments(SubmitRequest&, const Given&);
Done consolidate_segments(SubmitRequest&, const Given&);
Done distribution(SubmitRequest&, const Given&);
Done within(SubmitRequest&, const Given&);
Done near(SubmitRequest&, const Given&);
Done ladder(SubmitRequest&, const Given&);
Done sizes(SubmitRequest&, const Given&);
Done spread(SubmitRequest&, const Given&);
Done order(SubmitRequest&, const Given&);
Done fill(SubmitRequest&, const Given&);

// how the script runs
Done job_name(SubmitRequest&, const Given&);
Done output(SubmitRequest&, const Given&);
Done error(SubmitRequest&, const Given&);
Done input(SubmitRequest&, const Given&);
Done open_mode(SubmitRequest&, const Given&);
Done chdir(SubmitRequest&, const Given&);
Done signal(SubmitRequest&, const Given&);
Done requeue(SubmitRequest&, const Given&);
Done no_requeue(SubmitRequest&, const Given&);
Done hold(SubmitRequest&, const Given&);
Done nice(SubmitRequest&, const Given&);
Done no_kill(SubmitRequest&, const Given&);
Done wait_all_nodes(SubmitRequest&, const Given&);
Done export_names(SubmitRequest&, const Given&);
Done get_user_env(SubmitRequest&, const Given&);

// stored, not enforced
Done account(SubmitRequest&, const Given&);
Done qos(SubmitRequest&, const Given&);
Done comment(SubmitRequest&, const Given&);
Done wckey(SubmitRequest&, const Given&);
Done hint(SubmitRequest&, const Given&);
Done cpu_bind(SubmitRequest&, const Given&);
Done mem_bind(SubmitRequest&, const Given&);
Done mail_type(SubmitRequest&, const Given&);
Done mail_user(SubmitRequest&, const Given&);

// the command itself
Done wrap(SubmitRequest&, const Given&);
Done spec(SubmitRequest&, const Given&);
Done parsable(SubmitRequest&, const Given&);
Done wait(SubmitRequest&, const Given&);
Done test_only(SubmitRequest&, const Given&);
Done json(SubmitRequest&, const Given&);
Done quiet(SubmitRequest&, const Given&);
Done verbose(SubmitRequest&, const Given&);
Done clusters(SubmitRequest&, const Given&);
Done help(SubmitRequest&, const Given&);
Done usage(SubmitRequest&, const Given&);
Done version(SubmitRequest&, const Given&);
Done socket(SubmitRequest&, const Given&);
Done ignore_pbs(SubmitRequest&, const Given&);

}  // namespace sy::cli::apply
