package slurmconf_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

// TestSetAtWork runs a whole cluster on a rendered set, as it lands on the
// hosts: a controller that holds it, slurmd that fetch it, a prolog that comes
// the release's own way, and jobs that share a host's GPUs and memory.
func TestSetAtWork(t *testing.T) {
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			c := &slurmtest.Cluster{Sandbox: slurmtest.Start(t, v.String())}
			set := render(t, twoOnOneHost(v))
			c.StartMunge(t)
			for _, f := range set.For(slurmconf.OnControllers) {
				c.Write(t, "/etc/controller/"+f.Name, f.Content)
			}
			for _, f := range set.For(slurmconf.OnCompute) {
				c.Write(t, set.ConfigDir+"/"+f.Name, f.Content)
				c.Must(t, "chmod "+f.Mode+" "+set.ConfigDir+"/"+f.Name)
			}
			c.Write(t, set.ConfigDir+"/prolog.d/10-mark", "#!/bin/sh\necho \"$SLURM_JOB_ID\" >>/run/prolog-ran\n")
			c.Must(t, "chmod 755 "+set.ConfigDir+`/prolog.d/10-mark
chmod 755 /etc/controller/*.sh 2>/dev/null
install -d -o slurm -g slurm /var/spool/slurmctld /run/slurmctld
mkdir -p /var/spool/slurmd
cat /etc/controller/slurm.conf >/run/as-rendered
setpriv --reuid slurm --regid slurm --init-groups sh -c 'slurmctld -D -f /etc/controller/slurm.conf >/tmp/slurmctld.log 2>&1 </dev/null &'
`)
			c.Until(t, 30*time.Second, "SLURM_CONF=/etc/controller/slurm.conf scontrol ping", func(out string) bool { return strings.Contains(out, " UP") })
			for _, n := range []string{"n1", "n2"} {
				c.Must(t, "slurmd -D -N "+n+" --conf-server ctl1:6817 >/tmp/slurmd-"+n+".log 2>&1 </dev/null & sleep 0.1")
			}
			c.Until(t, 60*time.Second, "SLURM_CONF=/etc/controller/slurm.conf sinfo -h -N -o '%N %t'; tail -n 20 /tmp/slurmd-n1.log", func(out string) bool {
				return strings.Contains(out, "n1 idle") && strings.Contains(out, "n2 idle")
			})
			const client = "export SLURM_CONF=/etc/controller/slurm.conf; cd /tmp; "
			// Two jobs that wish for no memory share one host.
			for range 2 {
				c.Must(t, client+"sbatch --parsable -w n1 --gres=gpu:h100:2 --wrap 'echo $CUDA_VISIBLE_DEVICES >>/run/gpus; sleep 60'")
			}
			c.Until(t, 60*time.Second, client+"squeue -h -t R -w n1 -o %i; tail -n 3 /tmp/slurm*.log >&2", func(out string) bool { return len(strings.Fields(out)) == 2 })
			seen := c.Until(t, 20*time.Second, "sort /run/gpus", func(out string) bool { return len(strings.Fields(out)) == 2 })
			if seen != "0,1\n2,3\n" {
				t.Errorf("the jobs see the GPUs %q; want 0,1 and 2,3", seen)
			}
			if ran := strings.Fields(c.Must(t, "sort -u /run/prolog-ran")); len(ran) != 2 {
				t.Errorf("the prolog ran for jobs %q; want two", ran)
			}
		})
	}
}

// twoOnOneHost has two simulated hosts with 4 GPUs each on the sandbox's one,
// without control groups, which the sandbox lacks.
func twoOnOneHost(v slurmconf.Version) slurmconf.Cluster {
	var nodes []slurmconf.Node
	for i, name := range []string{"n1", "n2"} {
		n := gpuNode(name, "h100", 4)
		n.Hostname, n.Addr, n.Port = "ctl1", "10.77.0.1", 17001+i
		nodes = append(nodes, n)
	}
	c := cluster(v, nodes...)
	c.Controllers = []slurmconf.Controller{{Name: "ctl1"}}
	c.Overrides = slurmconf.Overrides{TrustDeclared: true, NoCgroups: true}
	return c
}
