#!/bin/sh
# A first job: says where it runs and with what, then sleeps a second.   sbatch hello.sh
#SBATCH --job-name=hello
#SBATCH --output=%x-%j.out      # hello-1.out
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=64M
#SBATCH --time=5                # minutes
#SBATCH --gres=gpu:1

echo "hello from ${SLURMD_NODENAME:-$(hostname)}: job $SLURM_JOB_ID ($SLURM_JOB_NAME) on $SLURM_JOB_NUM_NODES nodes: $SLURM_JOB_NODELIST"
echo "tasks: $SLURM_NTASKS, on this node: $SLURM_TASKS_PER_NODE, CPUs per task: $SLURM_CPUS_PER_TASK"
echo "GPUs on this node: ${CUDA_VISIBLE_DEVICES:-none}"
env | grep '^SLURM_' | sort
sleep 1
echo "done"
