package slurmstep

// up is an scontrol whose slurmctld answers.
const up = `case "$*" in
ping) echo "Slurmctld(primary) at ctl1 is UP" ;;
esac`

// down is one whose slurmctld does not.
const down = `echo "Slurmctld(primary) at ctl1 is DOWN"; exit 1`

// running is a squeue with a job, waiting with one that has not begun, and idle
// without.
const (
	running = `echo '7|R|alice|research|train|gpu1|||(null)|1|normal|train-llm'`
	waiting = `echo '8|PD|bob|product|train||||(null)|2|normal|sweep'`
	idle    = `true`
)
