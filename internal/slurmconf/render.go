package slurmconf

import (
	"sort"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// Render writes the file set of a cluster. A cluster with errors is not
// rendered: the error is then the [Problems] that [Check] reports.
func Render(c Cluster) (FileSet, error) {
	if errs := Check(c).Errors(); len(errs) > 0 {
		return FileSet{}, errs
	}
	c = c.withDefaults()
	set := FileSet{ConfigDir: c.Paths.ConfigDir, Version: c.Version}
	for _, build := range []func(Cluster) (File, error){
		slurmConfFile, gresConfFile, topologyConfFile, cgroupConfFile, jobContainerFile,
		plugstackFile, prologFile("prolog.sh"), prologFile("epilog.sh"), slurmdbdFile,
	} {
		f, err := build(c)
		if err != nil {
			return FileSet{}, err
		}
		if f.Content != "" {
			set.Files = append(set.Files, f)
		}
	}
	return set, nil
}

// pushed makes a file that the controllers hold and slurmctld hands out.
func pushed(name, content string) File {
	return File{Name: name, Content: content, Mode: "0644", Owner: "root", On: []Placement{OnControllers}, Pushed: true}
}

func slurmConfFile(c Cluster) (File, error) {
	text, err := renderTemplate("slurm.conf", c.Extra["slurm.conf"], newSlurmConfData(c))
	f := pushed("slurm.conf", text)
	if !c.Version.HasSackd() {
		f.On = append(f.On, OnLogin)
	}
	return f, err
}

func gresConfFile(c Cluster) (File, error) { return pushed("gres.conf", gresConf(c)), nil }

func topologyConfFile(c Cluster) (File, error) {
	text := topology.Text(c.Topology)
	if text != "" {
		text = header("topology.conf") + "\n\n" + text
	}
	return pushed("topology.conf", text), nil
}

func cgroupConfFile(c Cluster) (File, error) {
	if c.Overrides.NoCgroups {
		// slurmd loads a plugin all the same; before 24.05 there is none that
		// does nothing, and that of v1 needs nothing until it is used.
		plugin := "disabled"
		if !c.Version.AtLeast(V2405) {
			plugin = "cgroup/v1"
		}
		return pushed("cgroup.conf", header("cgroup.conf")+"\n\nCgroupPlugin="+plugin+"\n"), nil
	}
	text, err := renderTemplate("cgroup.conf", c.Extra["cgroup.conf"], c)
	return pushed("cgroup.conf", text), err
}

func jobContainerFile(c Cluster) (File, error) {
	if c.PrivateTmp == nil {
		return File{}, nil
	}
	data := struct {
		Cluster
		TmpDirs string
	}{Cluster: c}
	if c.Version.AtLeast(V2302) {
		data.TmpDirs = strings.Join(c.PrivateTmp.Dirs, ",")
	}
	text, err := renderTemplate("job_container.conf", c.Extra["job_container.conf"], data)
	return pushed("job_container.conf", text), err
}

// plugstackFile lists each plugin in plugstack.conf itself: files that it
// would include are not handed out by every release.
func plugstackFile(c Cluster) (File, error) {
	if len(c.Plugins) == 0 {
		return File{}, nil
	}
	var b strings.Builder
	b.WriteString(header("plugstack.conf") + "\n\n")
	for _, p := range c.Plugins {
		kind := "required"
		if p.Optional {
			kind = "optional"
		}
		b.WriteString(strings.Join(append([]string{kind, p.Path}, p.Args...), " ") + "\n")
	}
	f := pushed("plugstack.conf", b.String())
	if !c.Version.HasSackd() {
		f.On = append(f.On, OnLogin)
	}
	return f, nil
}

// prologFile makes a prolog or epilog. Below 23.11 slurmctld does not hand it
// out, so that every compute host holds a copy.
func prologFile(name string) func(Cluster) (File, error) {
	return func(c Cluster) (File, error) {
		text, err := renderTemplate(name, nil, c)
		f := pushed(name, text)
		f.Mode = "0755"
		if !c.Version.ConfiglessPushesScripts() {
			f.On, f.Pushed = []Placement{OnCompute}, false
		}
		return f, err
	}
}

func slurmdbdFile(c Cluster) (File, error) {
	if c.Accounting == nil || c.Accounting.External {
		return File{}, nil
	}
	data := struct {
		Cluster
		Storage Storage
		PidFile string
	}{c, c.Accounting.Storage, pidFile(c.Version, "slurmdbd")}
	text, err := renderTemplate("slurmdbd.conf", c.Extra["slurmdbd.conf"], data)
	return File{
		Name: "slurmdbd.conf", Content: text, Mode: "0600", Owner: c.Paths.SlurmUser, On: []Placement{OnDatabase},
	}, err
}

// gpuTypes are the types of all nodes' GPUs, sorted.
func gpuTypes(nodes []Node) []string {
	seen := map[string]bool{}
	for i := range nodes {
		for _, g := range nodes[i].GPUs {
			seen[g.Type] = true
		}
	}
	types := make([]string, 0, len(seen))
	for t := range seen {
		types = append(types, t)
	}
	sort.Strings(types)
	return types
}

// weightedTRES writes "cpu=1,gres/gpu=2000", by name.
func weightedTRES(weights map[string]int) string {
	out := make([]string, 0, len(weights))
	for name, w := range weights {
		out = append(out, name+"="+strconv.Itoa(w))
	}
	sort.Strings(out)
	return strings.Join(out, ",")
}
