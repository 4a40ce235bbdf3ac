package impact

import "github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"

// rule is what a key of slurm.conf asks for when its value changes.
type rule struct {
	actions []Action
	why     string
}

type rules struct {
	keys     map[string]rule
	nodesWhy string
}

func (r rules) key(low string) rule {
	if rule, ok := r.keys[low]; ok {
		return rule
	}
	return rule{actions: []Action{Reconfigure}}
}

var (
	refused = map[string]rule{
		"clustername": {[]Action{Refuse}, "the name of the cluster is in its state and its accounting records; make a new environment"},
		"slurmuser":   {[]Action{Refuse}, "state, keys and logs belong to the user; make a new environment"},
	}

	restartController = rule{actions: []Action{RestartController}}
	restartAll        = rule{actions: []Action{RestartController, RestartHosts}}

	// cold are the keys that no release takes in a running daemon.
	cold = map[string]rule{
		"slurmctldport":     restartAll,
		"slurmdport":        restartAll,
		"authtype":          restartAll,
		"authinfo":          restartAll,
		"authalttypes":      restartAll,
		"authaltparameters": restartController,
		"credtype":          restartAll,
		"hashplugin":        restartAll,
		"tlstype":           restartAll,
		"slurmctldhost":     {[]Action{RestartController, RestartHosts}, "slurmd and clients ask the controllers that they know"},
		"statesavelocation": {[]Action{RestartController},
			"the state is copied there while slurmctld is down; jobs go on"},
		"slurmdspooldir": {[]Action{Drain, RestartController, RestartHosts}, "slurmd finds its running jobs there"},
		"selecttype":     restartAll,
		"plugindir":      restartAll,
	}

	// coldBefore2311 are those that a daemon below 23.11 reads only at its
	// start, by its manual or because they name a plugin.
	coldBefore2311 = map[string]rule{
		"accountingstorageenforce":   restartController,
		"accountingstoragetype":      restartController,
		"accountingstoragehost":      restartController,
		"accountingstorageport":      restartController,
		"accountingstoragetres":      restartController,
		"maxjobcount":                restartController,
		"maxnodecount":               restartController,
		"prioritytype":               restartController,
		"preempttype":                restartController,
		"schedulertype":              restartController,
		"selecttypeparameters":       restartController,
		"slurmctldparameters":        restartController,
		"topologyplugin":             restartController,
		"topologyparam":              restartController,
		"jobcomptype":                restartController,
		"jobsubmitplugins":           restartController,
		"powerplugin":                restartController,
		"corespecplugin":             restartAll,
		"grestypes":                  restartAll,
		"jobacctgathertype":          restartAll,
		"jobcontainertype":           restartAll,
		"namespacetype":              restartAll,
		"proctracktype":              restartAll,
		"slurmdparameters":           restartAll,
		"switchtype":                 restartAll,
		"taskplugin":                 restartAll,
		"acctgatherenergytype":       restartAll,
		"acctgatherprofiletype":      restartAll,
		"acctgatherinterconnecttype": restartAll,
	}
)

// rulesFor are the rules of a release.
func rulesFor(v slurmconf.Version) rules {
	r := rules{keys: map[string]rule{}}
	tables := []map[string]rule{cold, refused}
	if !v.ReconfigureTakesNodes() {
		tables = append([]map[string]rule{coldBefore2311}, tables...)
		r.nodesWhy = "before 23.11 a reconfigure with other nodes would be fatal; running jobs go on"
	}
	for _, t := range tables {
		for k, rule := range t {
			r.keys[k] = rule
		}
	}
	return r
}
