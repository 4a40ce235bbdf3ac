package slurmconf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// TestCaseS16 and S17: GPUs are handed out by select/cons_tres, in every
// release.
func TestCaseS16(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		_, answers := j.Ask(t, render(t, cluster(j.Version, gpuNode("n1", "h100", 8))), []string{"show", "config"})
		if !settingIs(answers[0], "SelectType", "select/cons_tres") {
			t.Error(answers[0])
		}
	})
}

// settingIs looks into the output of "scontrol show config".
func settingIs(config, key, value string) bool {
	for _, line := range strings.Split(config, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v) == value
		}
	}
	return false
}

func TestCaseS17(t *testing.T) {
	c := cluster(slurmconf.V2411, gpuNode("n1", "h100", 8))
	c.Extra = extraKeys("slurm.conf", map[string]string{"SelectType": "select/cons_res"})
	reported(t, c, `extra."slurm.conf".SelectType`, "select/cons_tres")
	every(t, func(t *testing.T, j *judge.Judge) {
		old := swap(t, render(t, cluster(j.Version, gpuNode("n1", "", 0))), "slurm.conf", "select/cons_tres", "select/cons_res")
		if verdict := j.Load(t, old); verdict.Loaded == j.Version.AtLeast(slurmconf.V2311) {
			t.Errorf("select/cons_res: loaded %v\n%s", verdict.Loaded, verdict.Log)
		}
	})
}

// TestCaseS25, S26, S100 and S105: what makes a job see its GPUs alone.
func TestCaseS26(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "a40", 1)))
		has(t, set, "cgroup.conf", "ConstrainDevices=yes")
		_, answers := j.Ask(t, set, []string{"show", "config"})
		for key, want := range map[string]string{"ProctrackType": "proctrack/cgroup", "PrologFlags": "Alloc,Contain"} {
			if !settingIs(answers[0], key, want) {
				t.Errorf("%s is not %s", key, want)
			}
		}
		if !settingIs(answers[0], "TaskPlugin", "task/affinity,task/cgroup") && !settingIs(answers[0], "TaskPlugin", "task/cgroup,task/affinity") {
			t.Error("TaskPlugin does not confine")
		}
	})
}

func TestCaseS25(t *testing.T) {
	node := slurmconf.Node{Name: "vm", Sockets: 12, CoresPerSocket: 1, ThreadsPerCore: 1, RealMemoryMiB: 1000, GPUs: []slurmconf.GPUSet{{Type: "a40", Count: 1}}}
	p := reported(t, cluster(slurmconf.V2411, node), "nodes[0].sockets", "near a GPU mean nothing")
	if p.Severity != slurmconf.Advice {
		t.Error("it is no advice")
	}
}

// TestCaseS27: devices come from gres.conf, not from a list of their own.
func TestCaseS27(t *testing.T) {
	for _, v := range slurmconf.Supported {
		c := cluster(v, gpuNode("n1", "a40", 1))
		hasNot(t, render(t, c), "cgroup.conf", "AllowedDevicesFile")
		c.Extra = extraKeys("cgroup.conf", map[string]string{"AllowedDevicesFile": "/etc/slurm/devices"})
		reported(t, c, `extra."cgroup.conf".AllowedDevicesFile`, "gres.conf")
	}
}

// TestCaseS79: what is not ours is known by its missing header.
func TestCaseS79(t *testing.T) {
	for _, f := range render(t, slurmconf.Samples(slurmconf.V2411)["onprem"]).Files {
		if !slurmconf.IsOurs(f.Content) {
			t.Errorf("%s is not known as ours", f.Name)
		}
	}
	for _, text := range []string{"", "SwitchName=a Nodes=n1\n", "# by hand, like what is written by gpucluster\n", "\n\n# topology.conf: written by gpucluster. x\n"} {
		if slurmconf.IsOurs(text) {
			t.Errorf("%q is taken for ours", text)
		}
	}
}

// TestCaseS97: tokens that a release only complains of are refused; a missing
// key file stops slurmctld.
func TestCaseS97(t *testing.T) {
	c := cluster(slurmconf.V2411, gpuNode("n1", "", 0))
	c.Extra = extraKeys("slurm.conf", map[string]string{"CommunicationParameters": "NoAddrCache"})
	reported(t, c, `extra."slurm.conf".CommunicationParameters`, "no longer heeds")
	c.Version = slurmconf.V2205
	if problems := slurmconf.Check(c); len(problems) > 0 {
		t.Errorf("22.05: %v", problems)
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "", 0)))
		// Through an included file: the trial leaves keys of its own out.
		bad := with(with(set, "jwt.conf", "AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=/nonexistent/jwt.key\n"),
			"slurm.conf", set.Content("slurm.conf")+"Include jwt.conf\n")
		refused(t, j, bad, "jwt")
	})
}

// TestCaseS98 and S100: no key of control groups that a release has dropped.
func TestCaseS98(t *testing.T) {
	for _, v := range slurmconf.Supported {
		set := render(t, cluster(v, gpuNode("n1", "a40", 1)))
		hasNot(t, set, "cgroup.conf", "CgroupAutomount", "Kmem", "CgroupReleaseAgentDir", "TaskAffinity")
		for _, key := range []string{"CgroupAutomount", "ConstrainKmemSpace"} {
			c := cluster(v, gpuNode("n1", "a40", 1))
			c.Extra = extraKeys("cgroup.conf", map[string]string{key: "yes"})
			if got := len(slurmconf.Check(c).Errors()) > 0; got != v.AtLeast(slurmconf.V2311) {
				t.Errorf("%s on %s: refused %v", key, v, got)
			}
		}
	}
}

// TestCaseS100: the version of control groups is found by itself.
func TestCaseS100(t *testing.T) {
	for _, v := range slurmconf.Supported {
		hasNot(t, render(t, cluster(v, gpuNode("n1", "a40", 1))), "cgroup.conf", "CgroupPlugin", "MemorySwappiness", "CgroupMountpoint")
	}
}

// TestCaseS102: slurmdbd refuses a file that others can read.
func TestCaseS102(t *testing.T) {
	c := cluster(slurmconf.V2205, gpuNode("n1", "", 0))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	c.Accounting = &slurmconf.Accounting{Host: host}
	c.Paths.SlurmUser = "root"
	f, ok := render(t, c).Get("slurmdbd.conf")
	if !ok || f.Mode != "0600" || f.Owner != "root" {
		t.Fatalf("slurmdbd.conf: %v, mode %s, owner %s", ok, f.Mode, f.Owner)
	}
	j := judge.For(t, slurmconf.V2205)
	program := filepath.Join(j.Root, "usr/sbin/slurmdbd")
	if _, err := os.Stat(program); err != nil || j.Root != "/" {
		t.Skip("slurmdbd 22.05 is not installed (apt-get install slurmdbd)")
	}
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: true} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "slurmdbd.conf"), []byte(f.Content), mode); err != nil {
			t.Fatal(err)
		}
		// No database answers in the empty network, so it ends either way or
		// is ended.
		cmd := exec.Command("unshare", "--net", "--", "timeout", "3", program, "-D")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))
		out, _ := cmd.CombinedOutput()
		if got := strings.Contains(string(out), "should be 600"); got != refused {
			t.Errorf("mode %o: refused for it %v\n%s", mode, got, out)
		}
	}
}

// TestCaseS105: pam_slurm_adopt needs the extern step.
func TestCaseS105(t *testing.T) {
	for _, v := range slurmconf.Supported {
		has(t, render(t, cluster(v, gpuNode("n1", "a40", 1))), "slurm.conf", "PrologFlags=Contain")
	}
}

// TestCaseS108: a plugin that is loaded twice adds its options twice.
func TestCaseS108(t *testing.T) {
	c := cluster(slurmconf.V2411, gpuNode("n1", "", 0))
	c.Plugins = []slurmconf.Plugin{{Path: "spank_pyxis.so"}, {Path: "/usr/local/lib/slurm/spank_pyxis.so"}}
	reported(t, c, "plugins[1].path", "load it once")
}

// TestCaseS109: plugins stand in plugstack.conf itself, which is handed out.
func TestCaseS109(t *testing.T) {
	for _, v := range slurmconf.Supported {
		c := cluster(v, gpuNode("n1", "", 0))
		c.Plugins = []slurmconf.Plugin{{Path: "spank_pyxis.so", Args: []string{"runtime_path=/run/pyxis"}}, {Path: "x.so", Optional: true}}
		set := render(t, c)
		has(t, set, "plugstack.conf", "required spank_pyxis.so runtime_path=/run/pyxis", "optional x.so")
		if f, _ := set.Get("plugstack.conf"); !f.Pushed {
			t.Error("plugstack.conf is not handed out")
		}
	}
}

// TestCaseS114: no limit is a key left out, never -1.
func TestCaseS114(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			for _, f := range render(t, c).Files {
				if !strings.HasSuffix(f.Name, ".sh") && strings.Contains(f.Content, "=-1") {
					t.Errorf("%s %s: %s has -1", v, name, f.Name)
				}
			}
		}
	}
	c := cluster(slurmconf.V2411, gpuNode("n1", "", 0))
	c.Partitions[0].MaxNodes = -1
	reported(t, c, "partitions[0].maxNodes", "0 for no limit")
}

// TestCaseS115 and S119: GPUs and their types are accounted for.
func TestCaseS115(t *testing.T) {
	for _, v := range slurmconf.Supported {
		c := cluster(v, gpuNode("n1", "h100", 8), gpuNode("n2", "a30", 4))
		c.Accounting = &slurmconf.Accounting{Host: "db"}
		has(t, render(t, c), "slurm.conf", "AccountingStorageTRES=gres/gpu,gres/gpu:a30,gres/gpu:h100")
	}
}

// TestCaseS118: keys that belong to slurmdbd, and old spellings.
func TestCaseS118(t *testing.T) {
	c := cluster(slurmconf.V2411, gpuNode("n1", "", 0))
	c.Extra = extraKeys("slurm.conf", map[string]string{"AccountingStorageUser": "slurm"})
	c.Nodes[0].Extra = map[string]string{"Procs": "16"}
	reported(t, c, `extra."slurm.conf".AccountingStorageUser`, "slurmdbd")
	reported(t, c, "nodes[0].extra.Procs", "written by the toolkit")
}
