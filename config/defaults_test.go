package config

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Each default is checked with the field absent, with an explicit zero where
// zero means something, and with a value.
func TestSetDefaults(t *testing.T) {
	zero, five := 0, 5
	half := 0.5
	for name, c := range map[string]struct {
		give func(*Environment)
		want func(*Environment) any
		is   any
	}{
		"profile, threads absent":        {profile(Profile{}), threads, 1},
		"profile, threads given":         {profile(Profile{ThreadsPerCore: 2}), threads, 2},
		"usable memory absent":           {profile(Profile{Memory: 1000}), usable, Size(950)},
		"usable memory rounds down":      {profile(Profile{Memory: 2 << 20}), usable, Size(1992294)},
		"usable memory given":            {profile(Profile{Memory: 1000, UsableMemory: 7}), usable, Size(7)},
		"first device absent":            {profile(Profile{GPUs: []GPU{{Count: 4}}}), device(0), 0},
		"second type after the first":    {profile(Profile{GPUs: []GPU{{Count: 4}, {Count: 2}}}), device(1), 4},
		"second type, explicit zero":     {profile(Profile{GPUs: []GPU{{Count: 4}, {Count: 2, FirstDevice: &zero}}}), device(1), 0},
		"third type after a given one":   {profile(Profile{GPUs: []GPU{{Count: 4}, {Count: 2, FirstDevice: &five}, {Count: 1}}}), device(2), 7},
		"node weight absent":             {func(e *Environment) { e.Hosts = []HostGroup{{}} }, func(e *Environment) any { return e.Hosts[0].Weight }, 1},
		"node weight given":              {func(e *Environment) { e.Hosts = []HostGroup{{Weight: 5}} }, func(e *Environment) any { return e.Hosts[0].Weight }, 5},
		"no inventory stays so":          {func(*Environment) {}, func(e *Environment) any { return e.Inventory == nil }, true},
		"ssh user and port absent":       {func(e *Environment) { e.Inventory = &Inventory{} }, func(e *Environment) any { return e.Inventory.SSH }, SSH{User: "root", Port: 22}},
		"ssh user and port given":        {func(e *Environment) { e.Inventory = &Inventory{SSH: SSH{User: "x", Port: 5}} }, func(e *Environment) any { return e.Inventory.SSH }, SSH{User: "x", Port: 5}},
		"dns absent":                     {func(e *Environment) { e.Inventory = &Inventory{} }, func(e *Environment) any { return e.Inventory.DNS }, DNSExisting},
		"dns given":                      {func(e *Environment) { e.Inventory = &Inventory{DNS: DNSHosts} }, func(e *Environment) any { return e.Inventory.DNS }, DNSHosts},
		"identity source and shell":      {func(e *Environment) { e.Identity = &Identity{Users: []User{{}, {Shell: "/bin/sh"}}} }, func(e *Environment) any { return *e.Identity }, Identity{Source: IdentityManaged, Users: []User{{Shell: "/bin/bash"}, {Shell: "/bin/sh"}}}},
		"home, existing":                 {func(e *Environment) { e.Home = &Home{Kind: HomeExisting} }, func(e *Environment) any { return *e.Home }, Home{Kind: HomeExisting, Path: "/home"}},
		"home, glusterfs":                {func(e *Environment) { e.Home = &Home{Kind: HomeGlusterFS} }, func(e *Environment) any { return *e.Home }, Home{Kind: HomeGlusterFS, Path: "/home", Brick: "/srv/gpucluster/home"}},
		"home, given":                    {func(e *Environment) { e.Home = &Home{Kind: HomeGlusterFS, Path: "/h", Brick: "/b"} }, func(e *Environment) any { return *e.Home }, Home{Kind: HomeGlusterFS, Path: "/h", Brick: "/b"}},
		"cluster name from environment":  {func(e *Environment) { e.Name = "x"; e.Slurm = &Slurm{} }, func(e *Environment) any { return e.Slurm.ClusterName }, "x"},
		"cluster name given":             {func(e *Environment) { e.Name = "x"; e.Slurm = &Slurm{ClusterName: "y"} }, func(e *Environment) any { return e.Slurm.ClusterName }, "y"},
		"state, one controller":          {controllers("ctl1", ""), state, "/var/spool/slurmctld"},
		"state, two controllers":         {controllers("ctl[1-2]", ""), state, ""},
		"state, given":                   {controllers("ctl[1-2]", "/shared"), state, "/shared"},
		"drain deadline absent":          {slurm(Slurm{}), func(e *Environment) any { return e.Slurm.DrainDeadline }, "30m"},
		"drain deadline given":           {slurm(Slurm{DrainDeadline: "0s"}), func(e *Environment) any { return e.Slurm.DrainDeadline }, "0s"},
		"slurm ids absent":               {slurm(Slurm{}), func(e *Environment) any { return [2]int{e.Slurm.SlurmUID, e.Slurm.SlurmGID} }, [2]int{64030, 64030}},
		"slurm ids given":                {slurm(Slurm{SlurmUID: 5, SlurmGID: 6}), func(e *Environment) any { return [2]int{e.Slurm.SlurmUID, e.Slurm.SlurmGID} }, [2]int{5, 6}},
		"partition absent":               {slurm(Slurm{Partitions: []Partition{{}}}), func(e *Environment) any { return e.Slurm.Partitions[0] }, Partition{MaxTime: "UNLIMITED", PriorityTier: 1}},
		"account absent":                 {slurm(Slurm{Accounts: []Account{{Name: "a"}}}), account, `{"name":"a","parent":"root","description":"a","organization":"root","fairShare":1}`},
		"account, explicit zero":         {slurm(Slurm{Accounts: []Account{{Name: "a", FairShare: &zero, Parent: "p"}}}), account, `{"name":"a","parent":"p","description":"a","organization":"p","fairShare":0}`},
		"one association is the default": {slurm(Slurm{Associations: []Association{{User: "u"}}}), defaults, []bool{true}},
		"two associations: none chosen":  {slurm(Slurm{Associations: []Association{{User: "u"}, {User: "u"}}}), defaults, []bool{false, false}},
		"two associations: one given":    {slurm(Slurm{Associations: []Association{{User: "u"}, {User: "u", Default: true}}}), defaults, []bool{false, true}},
		"usage factor absent":            {slurm(Slurm{QOS: []QOS{{}}}), factor, 1.0},
		"usage factor zero":              {slurm(Slurm{QOS: []QOS{{UsageFactor: new(float64)}}}), factor, 0.0},
		"usage factor given":             {slurm(Slurm{QOS: []QOS{{UsageFactor: &half}}}), factor, 0.5},
		"weights absent":                 {slurm(Slurm{}), weights, `{"age":1000,"fairShare":10000,"jobSize":1000,"qos":10000}`},
		"weights, explicit zero":         {slurm(Slurm{Priority: &Priority{Weights: PriorityWeights{Age: &zero, QOS: &five}}}), weights, `{"age":0,"fairShare":10000,"jobSize":1000,"qos":5}`},
		"mariadb absent":                 {slurm(Slurm{Database: &Database{MariaDB: &MariaDB{Host: "h"}}}), mariadb, MariaDB{Host: "h", Port: 3306, Database: "slurm_acct_db", User: "slurm"}},
		"mariadb given":                  {slurm(Slurm{Database: &Database{MariaDB: &MariaDB{"h", 1, "d", "u", Secret{}}}}), mariadb, MariaDB{"h", 1, "d", "u", Secret{}}},
		"health check absent":            {slurm(Slurm{}), func(e *Environment) any { return e.Slurm.HealthCheck == nil }, true},
		"health check, program alone":    {slurm(Slurm{HealthCheck: &HealthCheck{Program: "/p"}}), func(e *Environment) any { return *e.Slurm.HealthCheck }, HealthCheck{"/p", 300, "ANY"}},
		"no kubernetes stays so":         {func(e *Environment) { e.Lab = &Lab{} }, func(e *Environment) any { return e.Kubernetes == nil && e.Artifacts == nil }, true},
		"kubernetes, nothing given":      {kube(Kubernetes{}), kubeText, `{"version":"","podCIDR":"10.244.0.0/16","serviceCIDR":"10.96.0.0/16","evictionDeadline":"30m","upgradeAtOnce":1,"queueing":"kueue","preemption":{"withinTeam":"lower","reclaim":"any"}}`},
		"kubernetes, all given":          {kube(Kubernetes{"v", "p", "s", "e", "0s", 3, nil, "volcano", nil, nil, &QueuePreemption{"never", "never"}, nil, nil, true, true, nil}), kubeText, `{"version":"v","podCIDR":"p","serviceCIDR":"s","endpoint":"e","evictionDeadline":"0s","upgradeAtOnce":3,"queueing":"volcano","preemption":{"withinTeam":"never","reclaim":"never"},"jobSet":true,"leaderWorkerSet":true}`},
		"kubernetes without queueing":    {kube(Kubernetes{Queueing: QueueingNone, Teams: []Team{{Name: "a"}}}), kubeText, `{"version":"","podCIDR":"10.244.0.0/16","serviceCIDR":"10.96.0.0/16","evictionDeadline":"30m","upgradeAtOnce":1,"queueing":"none","teams":[{"name":"a","namespace":"a"}]}`},
		"endpoint, one control plane":    {planes("c1"), func(e *Environment) any { return e.Kubernetes.Endpoint }, "c1:6443"},
		"endpoint, three":                {planes("c[1-3]"), func(e *Environment) any { return e.Kubernetes.Endpoint }, "127.0.0.1:6444"},
		"team absent":                    {kube(Kubernetes{Teams: []Team{{Name: "a"}}}), func(e *Environment) any { return asJSON(e.Kubernetes.Teams[0]) }, `{"name":"a","namespace":"a","weight":1}`},
		"team given":                     {kube(Kubernetes{Teams: []Team{{Name: "a", Namespace: "b", Weight: 5}}}), func(e *Environment) any { return asJSON(e.Kubernetes.Teams[0]) }, `{"name":"a","namespace":"b","weight":5}`},
		"reserved, small":                {reserving(Profile{Sockets: 1, CoresPerSocket: 2, Memory: 4 * GiB}, Reserved{}), kept, `{"cpu":0.1,"memory":"256MiB"}`},
		"reserved, in the middle":        {reserving(Profile{Sockets: 2, CoresPerSocket: 32, Memory: 512 * GiB}, Reserved{}), kept, `{"cpu":0.64,"memory":"10485MiB"}`},
		"reserved, large":                {reserving(Profile{Sockets: 8, CoresPerSocket: 128, Memory: 8 * TiB}, Reserved{}), kept, `{"cpu":4,"memory":"16GiB"}`},
		"reserved, explicit zero":        {reserving(Profile{Sockets: 8, CoresPerSocket: 128, Memory: 8 * TiB}, Reserved{CPU: new(float64)}), kept, `{"cpu":0,"memory":"16GiB"}`},
		"reserved, given":                {reserving(Profile{Memory: TiB}, Reserved{CPU: &half, Memory: GiB}), kept, `{"cpu":0.5,"memory":"1GiB"}`},
		"artifacts outside of a lab":     {func(e *Environment) { e.Scheduler = SchedulerKubernetes }, func(e *Environment) any { return e.Artifacts == nil }, true},
		"artifacts in a lab":             {labArtifactsOf(nil), sources, `{"registry":"http://artifacts:5000","binaries":"http://artifacts:5000/binaries","charts":"http://artifacts:5000/charts"}`},
		"artifacts in a lab, given":      {labArtifactsOf(&Artifacts{"r", "b", "c", "a"}), sources, `{"registry":"r","binaries":"b","charts":"c","apt":"a"}`},
		"preemption stays off":           {slurm(Slurm{}), func(e *Environment) any { return e.Slurm.Preemption == nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			env := &Environment{}
			c.give(env)
			env.SetDefaults()
			if got := c.want(env); !reflect.DeepEqual(got, c.is) {
				t.Errorf("got %v, want %v", got, c.is)
			}
			once, _ := json.Marshal(env)
			env.SetDefaults()
			if twice, _ := json.Marshal(env); string(once) != string(twice) {
				t.Errorf("a second time changes\n%s\nto\n%s", once, twice)
			}
		})
	}
}

func profile(p Profile) func(*Environment) {
	return func(e *Environment) { e.Profiles = map[string]Profile{"p": p} }
}

func slurm(s Slurm) func(*Environment) { return func(e *Environment) { e.Slurm = &s } }

func controllers(names, stateSaveLocation string) func(*Environment) {
	return func(e *Environment) {
		e.Hosts = []HostGroup{{Names: names, Roles: []Role{RoleController}}}
		e.Slurm = &Slurm{StateSaveLocation: stateSaveLocation}
	}
}

func kube(k Kubernetes) func(*Environment) { return func(e *Environment) { e.Kubernetes = &k } }

func planes(names string) func(*Environment) {
	return func(e *Environment) {
		e.Hosts = []HostGroup{{Names: names, Roles: []Role{RoleControlPlane}}}
		e.Kubernetes = &Kubernetes{}
	}
}

func reserving(p Profile, r Reserved) func(*Environment) {
	return func(e *Environment) {
		e.Profiles = map[string]Profile{"p": p}
		e.Kubernetes = &Kubernetes{SystemReserved: map[string]Reserved{"p": r}}
	}
}

func labArtifactsOf(a *Artifacts) func(*Environment) {
	return func(e *Environment) { e.Lab, e.Scheduler, e.Artifacts = &Lab{}, SchedulerKubernetes, a }
}

func kubeText(e *Environment) any { return asJSON(e.Kubernetes) }
func kept(e *Environment) any     { return asJSON(e.Kubernetes.SystemReserved["p"]) }
func sources(e *Environment) any  { return asJSON(e.Artifacts) }

func threads(e *Environment) any { return e.Profiles["p"].ThreadsPerCore }
func usable(e *Environment) any  { return e.Profiles["p"].UsableMemory }
func state(e *Environment) any   { return e.Slurm.StateSaveLocation }
func factor(e *Environment) any  { return *e.Slurm.QOS[0].UsageFactor }
func mariadb(e *Environment) any { return *e.Slurm.Database.MariaDB }

func device(i int) func(*Environment) any {
	return func(e *Environment) any { return *e.Profiles["p"].GPUs[i].FirstDevice }
}

func account(e *Environment) any { return asJSON(e.Slurm.Accounts[0]) }
func weights(e *Environment) any { return asJSON(e.Slurm.Priority.Weights) }

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func defaults(e *Environment) any {
	var out []bool
	for _, a := range e.Slurm.Associations {
		out = append(out, a.Default)
	}
	return out
}
