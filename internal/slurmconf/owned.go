package slurmconf

// owned are the keys of each file that fields of [Cluster] render, with the
// place to say it instead. An extra key of that name would be a second, hidden
// source for one fact.
var owned = map[string]map[string]string{
	"slurm.conf": {
		"clustername": "set name", "slurmctldhost": "set controllers", "slurmuser": "it is fixed", "statesavelocation": "set paths.stateSaveLocation",
		"slurmdspooldir": "set paths.slurmdSpoolDir", "slurmdpidfile": "it is derived", "slurmctldpidfile": "it is derived", "slurmctldaddr": "set controllers",
		"controlmachine": "set controllers", "controladdr": "set controllers", "backupcontroller": "set controllers", "backupaddr": "set controllers",
		"authtype": "it is fixed", "credtype": "it is fixed", "cryptotype": "it is fixed", "selecttype": "it is fixed: GPUs need select/cons_tres",
		"grestypes": "it follows from the nodes' GPUs", "topologyplugin": "set topology", "proctracktype": "it is fixed", "taskplugin": "it is fixed",
		"jobcontainertype": "set privateTmp", "namespacetype": "set privateTmp",
		"prolog": "put the script into prolog.d on the hosts", "epilog": "put the script into epilog.d on the hosts",
		"healthcheckprogram": "set healthCheck", "healthcheckinterval": "set healthCheck", "healthchecknodestate": "set healthCheck",
		"accountingstoragetype": "set accounting", "accountingstoragehost": "set accounting", "accountingstorageport": "set accounting",
		"accountingstorageenforce": "set accounting.enforce", "accountingstoragetres": "set accounting.tres", "jobacctgathertype": "it is fixed",
		"prioritytype": "it is fixed", "prioritydecayhalflife": "set priority", "prioritymaxage": "set priority", "prioritycalcperiod": "set priority",
		"priorityfavorsmall": "set priority", "priorityweightage": "set priority", "priorityweightfairshare": "set priority",
		"priorityweightjobsize": "set priority", "priorityweightpartition": "set priority", "priorityweightqos": "set priority",
		"priorityweighttres": "set priority", "priorityflags": "set priority",
		"preempttype": "set preemption", "preemptmode": "set preemption", "preemptexempttime": "set preemption",
		"nodename": "set nodes", "nodeset": "set nodeSets", "partitionname": "set partitions", "downnodes": "drain the node", "frontendname": "it is not supported",
	},
	"node": {
		"nodename": "set name", "nodeaddr": "set addr", "nodehostname": "set hostname", "port": "set port", "sockets": "set sockets",
		"corespersocket": "set coresPerSocket", "threadspercore": "set threadsPerCore", "realmemory": "set realMemoryMiB", "gres": "set gpus",
		"features": "set features", "feature": "set features", "weight": "set weight", "state": "set state", "reason": "drain the node",
		"cpus": "set sockets, coresPerSocket and threadsPerCore", "procs": "set sockets, coresPerSocket and threadsPerCore",
		"boards": "set sockets", "socketsperboard": "set sockets", "gresconf": "set gpus", "topology": "set topology",
	},
	"partition": {
		"partitionname": "set name", "nodes": "set nodes", "default": "set default", "maxtime": "set maxTime", "defaulttime": "set defaultTime",
		"minnodes": "set minNodes", "maxnodes": "set maxNodes", "prioritytier": "set priorityTier", "priorityjobfactor": "set priorityJobFactor",
		"priority": "set priorityTier and priorityJobFactor", "defmempergpu": "set defMemPerGPU", "defcpupergpu": "set defCPUPerGPU",
		"defmempercpu": "set defMemPerCPU", "allowaccounts": "set allowAccounts", "allowgroups": "set allowGroups", "allowqos": "set allowQOS",
		"qos": "set qos", "oversubscribe": "set overSubscribe", "shared": "set overSubscribe", "preemptmode": "set preemptMode",
		"gracetime": "set graceTime", "state": "set state", "topology": "set topology",
	},
	"cgroup.conf": {
		"cgroupplugin": "it is fixed", "ignoresystemd": "it is fixed", "constraindevices": "it is fixed: GPU isolation needs it",
		"constraincores": "it is fixed", "constrainramspace": "it is fixed", "constrainswapspace": "it is fixed",
	},
	"slurmdbd.conf": {
		"authtype": "it is fixed", "dbdhost": "set accounting", "dbdaddr": "set accounting", "dbdport": "set accounting", "slurmuser": "it is fixed",
		"pidfile": "it is derived", "storagetype": "it is fixed", "storagehost": "set accounting.storage", "storageport": "set accounting.storage",
		"storageloc": "set accounting.storage", "storageuser": "set accounting.storage",
	},
	"job_container.conf": {"autobasepath": "it is fixed", "basepath": "set privateTmp", "dirs": "set privateTmp", "nodename": "set privateTmp"},
}
