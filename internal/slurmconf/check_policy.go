package slurmconf

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

func checkAccounting(r *report, c Cluster) {
	a := c.Accounting
	if a == nil {
		if len(c.Priority.TRES) > 0 {
			r.add("priority.tres", "PriorityWeightTRES", "set accounting", "weights of resources need a database that counts them")
		}
		return
	}
	checkName(r, "accounting.host", "AccountingStorageHost", "database host", a.Host)
	if !a.External && strings.Contains(a.Host, ".") {
		r.add("accounting.host", "DbdHost", "write the short name", "slurmdbd wants its host's short name, not %q", a.Host)
	}
	if a.Port < 0 || a.Port > 65535 {
		r.add("accounting.port", "AccountingStoragePort", "write a port from 1 to 65535", "port %d", a.Port)
	}
	for i, e := range a.Enforce {
		if !contains([]string{"associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all"}, e) {
			r.add(fmt.Sprintf("accounting.enforce[%d]", i), "AccountingStorageEnforce", "write associations, limits, nojobs, nosteps, qos, safe or wckeys", "no such rule %q", e)
		}
	}
	for i, t := range a.TRES {
		checkWord(r, fmt.Sprintf("accounting.tres[%d]", i), "AccountingStorageTRES", "resource", t)
	}
	if a.External && a.Storage != (Storage{}) {
		r.add("accounting.storage", "", "leave it out", "the site's slurmdbd has its own database")
	}
	r.in("slurmdbd.conf", func() {
		for _, f := range []struct{ field, key, text string }{
			{"host", "StorageHost", a.Storage.Host}, {"database", "StorageLoc", a.Storage.Database}, {"user", "StorageUser", a.Storage.User},
		} {
			if f.text != "" {
				checkWord(r, "accounting.storage."+f.field, f.key, f.field, f.text)
			}
		}
	})
}

var priorityFlags = []string{
	"ACCRUE_ALWAYS", "CALCULATE_RUNNING", "DEPTH_OBLIVIOUS", "INCR_ONLY", "MAX_TRES", "MAX_TRES_GRES", "NO_FAIR_TREE", "NO_NORMAL_ALL",
	"NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES", "SMALL_RELATIVE_TO_TIME",
}

func checkPriority(r *report, c Cluster) {
	p := c.Priority
	half, ok := checkTime(r, "priority.decayHalfLife", "PriorityDecayHalfLife", p.DecayHalfLife)
	if _, reset := c.Extra["slurm.conf"]["PriorityUsageResetPeriod"]; ok && half == 0 && !reset {
		r.add("priority.decayHalfLife", "PriorityDecayHalfLife", "set extra PriorityUsageResetPeriod, or a half life", "use that never decays must be reset at times")
	}
	checkTime(r, "priority.maxAge", "PriorityMaxAge", p.MaxAge)
	checkTime(r, "priority.calcPeriod", "PriorityCalcPeriod", p.CalcPeriod)
	for _, w := range []struct {
		field string
		value int
	}{{"age", p.Age}, {"fairShare", p.FairShare}, {"jobSize", p.JobSize}, {"partition", p.Partition}, {"qos", p.QOS}} {
		if w.value < 0 {
			r.add("priority."+w.field, "", "write 0 to leave it out", "weight %d", w.value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.TRES)) {
		checkWord(r, "priority.tres."+name, "PriorityWeightTRES", "resource", name)
		if strings.HasPrefix(strings.ToLower(name), "gres/gpu") && len(gpuTypes(c.Nodes)) == 0 {
			r.add("priority.tres."+name, "PriorityWeightTRES", "leave it out", "no node has a GPU to weigh")
		}
	}
	for i, f := range p.Flags {
		at := fmt.Sprintf("priority.flags[%d]", i)
		switch {
		case !contains(priorityFlags, strings.ToUpper(f)):
			r.add(at, "PriorityFlags", "write one of "+strings.Join(priorityFlags, ", "), "no such flag %q", f)
		case strings.EqualFold(f, "MAX_TRES_GRES") && !c.Version.AtLeast(V2511):
			r.add(at, "PriorityFlags", "leave it out; it came after 24.11", "flag %q is not in Slurm %s", f, c.Version)
		}
	}
}

func checkPreemption(r *report, c Cluster) {
	p := c.Preemption
	if p == nil {
		return
	}
	if p.By != "qos" && p.By != "partition" {
		r.add("preemption.by", "PreemptType", "write qos or partition", "preemption by %q", p.By)
	}
	if p.By == "qos" && c.Accounting == nil {
		r.add("preemption.by", "PreemptType", "set accounting", "preemption by QOS needs a database that knows the QOS")
	}
	if !contains([]string{"requeue", "cancel", "suspend"}, strings.ToLower(p.Mode)) {
		r.add("preemption.mode", "PreemptMode", "write requeue, cancel or suspend", "preemption mode %q", p.Mode)
	}
	checkTime(r, "preemption.exemptTime", "PreemptExemptTime", p.ExemptTime)
}

var detectors = map[string]Version{
	"off": V2205, "nvml": V2205, "rsmi": V2205, "oneapi": V2205, "nrt": V2311, "nvidia": V2411, "full": V2605,
}

func checkDetection(r *report, c Cluster) {
	if c.GPUAutoDetect == "" {
		return
	}
	since, known := detectors[c.GPUAutoDetect]
	switch {
	case c.GPUAutoDetect == "off":
		r.add("gpuAutoDetect", "AutoDetect", "leave it out", "detection that is off finds no GPU")
	case !known:
		r.add("gpuAutoDetect", "AutoDetect", "write nvml or nvidia, rsmi for AMD, oneapi for Intel, or leave it out", "Slurm cannot detect by %q, and would go on with no GPU", c.GPUAutoDetect)
	case !c.reader().AtLeast(since):
		r.add("gpuAutoDetect", "AutoDetect", "leave it out, so that device files are named; it came with "+since.String(), "Slurm %s cannot detect by %q, and would go on with no GPU", c.reader(), c.GPUAutoDetect)
	}
}

func checkPaths(r *report, c Cluster) {
	for _, p := range []struct{ field, key, value string }{
		{"configDir", "", c.Paths.ConfigDir}, {"stateSaveLocation", "StateSaveLocation", c.Paths.StateSaveLocation}, {"slurmdSpoolDir", "SlurmdSpoolDir", c.Paths.SlurmdSpoolDir},
	} {
		if p.value != "" {
			checkPath(r, "paths."+p.field, p.key, p.value)
		}
	}
	if c.Paths.SlurmUser != "" {
		checkWord(r, "paths.slurmUser", "SlurmUser", "user", c.Paths.SlurmUser)
	}
	if len(c.Controllers) > 1 && (c.Paths.StateSaveLocation == "" || c.Paths.StateSaveLocation == DefaultStateSaveLocation) {
		r.add("paths.stateSaveLocation", "StateSaveLocation", "name a directory on storage that the controllers share", "%d controllers without a shared state directory", len(c.Controllers))
	}
}

func checkPath(r *report, path, key, value string) {
	if !strings.HasPrefix(value, "/") || hasControl(value) || strings.ContainsAny(value, " \"#\\") {
		r.add(path, key, "write an absolute path without blanks", "path %q", value)
	}
}

func checkPrivateTmp(r *report, c Cluster) {
	p := c.PrivateTmp
	if p == nil {
		return
	}
	r.in("job_container.conf", func() {
		if p.BasePath != "" {
			checkPath(r, "privateTmp.basePath", "BasePath", p.BasePath)
		}
		if p.BasePath == "/tmp" || p.BasePath == "/dev/shm" || contains(p.Dirs, p.BasePath) && p.BasePath != "" {
			r.add("privateTmp.basePath", "BasePath", "keep the jobs' directories elsewhere", "%s is what jobs get for themselves", p.BasePath)
		}
		for i, d := range p.Dirs {
			checkPath(r, fmt.Sprintf("privateTmp.dirs[%d]", i), "Dirs", d)
		}
		if len(p.Dirs) > 0 && !c.reader().AtLeast(V2302) {
			r.add("privateTmp.dirs", "Dirs", "leave it out; it came with 23.02", "Slurm %s gives jobs /tmp and /dev/shm alone", c.reader())
		}
		if c.Overrides.NoCgroups {
			r.add("privateTmp", "", "leave one of them out", "private directories need control groups, which are off")
		}
	})
}

var healthStates = map[string]Version{
	"ANY": V2205, "IDLE": V2205, "ALLOC": V2205, "MIXED": V2205, "CYCLE": V2205, "NONDRAINED_IDLE": V2302, "START_ONLY": V2511, "REBOOT_ONLY": V2605,
}

func checkHealth(r *report, c Cluster) {
	h := c.HealthCheck
	if h == nil {
		return
	}
	checkPath(r, "healthCheck.program", "HealthCheckProgram", h.Program)
	if h.Seconds < 0 {
		r.add("healthCheck.seconds", "HealthCheckInterval", "write how many seconds lie between two runs", "%d seconds", h.Seconds)
	}
	if h.NodeState == "" {
		return
	}
	for _, s := range strings.Split(h.NodeState, ",") {
		since, known := healthStates[strings.ToUpper(s)]
		if !known || !c.reader().AtLeast(since) {
			r.add("healthCheck.nodeState", "HealthCheckNodeState", "write ANY, or a list of IDLE, ALLOC, MIXED and CYCLE", "Slurm %s knows no hosts in state %q", c.reader(), s)
		}
	}
}

func checkPlugins(r *report, c Cluster) {
	seen := map[string]bool{}
	r.in("plugstack.conf", func() {
		for i, p := range c.Plugins {
			at := fmt.Sprintf("plugins[%d].path", i)
			if p.Path == "" || hasControl(p.Path) || strings.ContainsAny(p.Path, " \"#\\") {
				r.add(at, "", "write the path of the plugin, or its file name", "plugin %q", p.Path)
			}
			base := p.Path[strings.LastIndexByte(p.Path, '/')+1:]
			if seen[base] {
				r.add(at, "", "load it once", "%s twice would add its options twice, and no job starts", base)
			}
			seen[base] = true
			for k, a := range p.Args {
				if a == "" || hasControl(a) || strings.ContainsAny(a, " \"#\\") {
					r.add(fmt.Sprintf("plugins[%d].args[%d]", i, k), "", "write it without blanks and quotes", "argument %q", a)
				}
			}
		}
	})
}

func checkMPI(r *report, c Cluster) {
	if c.MPIDefault == "" {
		return
	}
	if checkWord(r, "mpiDefault", "MpiDefault", "MPI plugin", c.MPIDefault) && strings.HasPrefix(c.MPIDefault, "pmix") && c.Version.DefaultMPI() == "pmi2" {
		r.advise("mpiDefault", "MpiDefault", "write pmi2, unless your build has it", "Debian builds Slurm %s without %s", c.Version, c.MPIDefault)
	}
}
