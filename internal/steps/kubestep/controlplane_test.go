package kubestep

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/etcdctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// planes are stand-ins for control planes: those that are members, those whose
// API server answers, those whose etcd is dead, and those that are going.
type planes struct {
	members, serving, dead, going string
	// known are etcd's members. Default: members.
	known string
	// ansible is what ansible-playbook does at last.
	ansible string
}

// among is a condition of the shell.
func among(host, list string) string {
	return `case " ` + list + ` " in *" ` + host + ` "*) true ;; *) false ;; esac`
}

func (p planes) hosts(t *testing.T) *steptest.Hosts {
	t.Helper()
	known := p.known
	if known == "" {
		known = p.members
	}
	var list, health []string
	for i, host := range strings.Fields(known) {
		id, ok := string(rune('1'+i)), "true"
		if strings.Contains(" "+p.dead+" ", " "+host+" ") {
			ok = "false"
		}
		list = append(list, `{"ID":`+id+`,"name":"`+host+`","clientURLs":["https://`+host+`:2379"]}`)
		health = append(health, `{"endpoint":"https://`+host+`:2379","health":`+ok+`}`)
	}
	return steptest.New(t, map[string]string{
		"ssh": `while [ "$1" != -- ]; do shift; done
export host=$2
command=$3
echo "$host: $(echo "$command" | sed "s/.* sh '//; s/'\$//" | grep . | tail -n 1)" >>"$(dirname "$0")/asked"
case $host in
gone) echo "ssh: connect to host gone port 22: No route to host" >&2; exit 255 ;;
esac
case $command in
*kubelet.conf*) ` + among("$host", p.members) + ` && echo member; exit 0 ;;
*"snapshot /var/backups"*) echo /var/backups/gpucluster/etcd-1.db; exit 0 ;;
*"member list"*) echo '{"members":[` + strings.Join(list, ",") + `]}'; exit 0 ;;
*"endpoint health"*) echo '[` + strings.Join(health, ",") + `]'; exit 0 ;;
*"member remove"*) exit 0 ;;
*kubernetes-going*) ` + among("$host", p.going) + ` && echo going; exit 0 ;;
*"cat /etc/kubernetes/pki"*) echo pem; exit 0 ;;
*"token create"*) echo abcdef.0123456789abcdef; exit 0 ;;
*"token delete"*) exit 0 ;;
esac
exec sh -c "$command"`,
		"kubectl": among("$host", p.serving) + ` || { echo refused >&2; exit 1; }
case "$*" in *"-o json node "*) echo '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}' ;; esac`,
		"ansible-playbook": `{ echo "play $*" | grep -o 'kubernetes_[a-z_]*.yml'; cat vars.json; echo; } >>"$(dirname "$0")/asked"; ` + p.ansible,
	})
}

// planeSpec is that of a control plane among others.
func planeSpec(host string, all ...string) ControlPlaneSpec {
	return ControlPlaneSpec{Host: host, ControlPlanes: all, Endpoint: "127.0.0.1:6444",
		Node: map[string]any{"kubernetes_node_endpoint": "127.0.0.1:6444", "kubernetes_node_binaries_url": "http://x", "kubernetes_node_files": []any{}},
		Vars: map[string]any{"kubernetes_control_plane_cluster": "env", "kubernetes_control_plane_first": all[0],
			"kubernetes_control_plane_version": "v1.36.3", "kubernetes_control_plane_binaries_url": "http://x"}}
}

// TestEnter checks whether a cluster begins on a host or the host joins one, and
// that a second cluster never begins.
func TestEnter(t *testing.T) {
	const begins, joins = `"kubernetes_control_plane_begins":true`, `"kubernetes_control_plane_replaces":true`
	const fails = `echo '{"event":"result","host":"ctl1","status":"failed","task":"t","message":"no disk"}'; exit 2`
	three := []string{"ctl1", "ctl2", "ctl3"}
	for name, c := range map[string]struct {
		planes
		host            string
		all             []string
		asked, notAsked []string
		quarantined     string
		want            string // the error
	}{
		"the only one":                {planes{serving: "ctl1"}, "ctl1", []string{"ctl1"}, []string{begins}, []string{"snapshot", "token"}, "", ""},
		"the first, none is there":    {planes{serving: "ctl1"}, "ctl1", three, []string{begins}, []string{"token"}, "", ""},
		"the first was lost":          {planes{members: "ctl2 ctl3", serving: "ctl1 ctl2 ctl3"}, "ctl1", three, []string{joins, "ctl2: snapshot", "ctl2: kubeadm token create"}, []string{begins, "member remove"}, "", ""},
		"the first was lost for long": {planes{members: "ctl2 ctl3", known: "ctl1 ctl2 ctl3", dead: "ctl1", serving: "ctl1 ctl2 ctl3"}, "ctl1", three, []string{joins, "ctl2: etcd member remove 1", "delete node ctl1"}, []string{begins}, "", ""},
		"a dead one is replaced":      {planes{members: "ctl1 ctl2", known: "ctl1 ctl2 ctl9", dead: "ctl9", serving: "ctl1 ctl2 ctl3"}, "ctl3", three, []string{joins, "ctl1: etcd member remove 3", "delete node ctl9"}, nil, "", ""},
		"one that is dead stays":      {planes{members: "ctl1 ctl2", known: "ctl1 ctl2 ctl4", dead: "ctl4", serving: "ctl1 ctl2 ctl3"}, "ctl3", []string{"ctl1", "ctl2", "ctl3", "ctl4", "ctl5"}, []string{joins}, []string{"member remove"}, "", ""},
		"no majority is left":         {planes{members: "ctl1", known: "ctl1 ctl2 ctl3", dead: "ctl2 ctl3", serving: "ctl1 ctl2"}, "ctl2", three, []string{"ctl1: snapshot"}, []string{"member remove", joins}, "", "ctl2 cannot be replaced: etcd would have no majority"},
		"nobody can tell":             {planes{serving: "ctl1"}, "ctl1", []string{"ctl1", "gone", "ctl3"}, nil, []string{begins, joins}, "", "nobody can tell whether the cluster exists, so it was not begun on ctl1"},
		"a member does not serve":     {planes{members: "ctl2"}, "ctl1", three, nil, []string{begins, joins}, "", "nobody can tell whether the cluster exists"},
		"the first does not serve":    {planes{members: "ctl1"}, "ctl2", three, nil, []string{begins, joins}, "", "no control plane serves the API, so ctl2 cannot join"},
		"it is a member":              {planes{members: "ctl1 ctl2 ctl3", serving: "ctl1 ctl2 ctl3"}, "ctl1", three, []string{"kubernetes_control_plane.yml"}, []string{begins, joins, "token", "snapshot"}, "", ""},
		"it was a member":             {planes{members: "ctl1 ctl2 ctl3", known: "ctl2 ctl3", serving: "ctl2 ctl3", ansible: fails}, "ctl1", three, []string{"kubernetes_remove.yml"}, []string{begins}, "no disk", ""},
		"it fails, others serve":      {planes{members: "ctl2 ctl3", serving: "ctl2 ctl3", ansible: fails}, "ctl1", three, nil, []string{begins}, "no disk", ""},
		"it fails, no other serves":   {planes{ansible: fails}, "ctl1", three, nil, []string{begins}, "", "no disk"},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.hosts(t)
			result, err := applyControlPlane(t.Context(), s.Input(t, planeSpec(c.host, c.all...), c.all...))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if err == nil {
				outcome := result.(step.Outcome)
				if (outcome.Status == step.StatusQuarantined) != (c.quarantined != "") || !strings.Contains(outcome.Reason, c.quarantined) {
					t.Errorf("outcome %+v, want a quarantine with %q", outcome, c.quarantined)
				}
			}
			check(t, s, c.asked, c.notAsked)
		})
	}
}

// TestPlaneLeaves checks what is done before a control plane leaves, and what
// keeps it.
func TestPlaneLeaves(t *testing.T) {
	three := []string{"ctl1", "ctl2", "ctl3"}
	all := planes{members: "ctl1 ctl2 ctl3", serving: "ctl1 ctl2 ctl3"}
	lone := all
	lone.dead = "ctl2"
	going := lone
	going.going = "ctl1 ctl2"
	for name, c := range map[string]struct {
		planes
		host, override  string
		all             []string
		asked, notAsked []string
		want            string
	}{
		"one of three":                        {all, "ctl3", "", three, []string{"ctl1: snapshot", "ctl1: etcd member remove 3", "delete node ctl3", "kubernetes_remove.yml"}, nil, ""},
		"one that is gone":                    {planes{members: "ctl1 ctl2", known: "ctl1 ctl2 gone", dead: "gone", serving: "ctl1 ctl2"}, "gone", "", []string{"ctl1", "ctl2", "gone"}, []string{"ctl1: etcd member remove 3", "delete node gone"}, []string{"kubernetes_remove.yml"}, ""},
		"no majority is left":                 {lone, "ctl3", "", three, []string{"ctl1: snapshot"}, []string{"member remove", "kubernetes_remove.yml"}, "ctl3 was not removed: ctl3 cannot be replaced: etcd would have no majority: of its 3 members 2 answer now, and of the 2 that would be left 1 would: mend"},
		"no majority, and the cluster goes":   {going, "ctl3", "", three, []string{"kubernetes_remove.yml"}, []string{"member remove", "snapshot"}, ""},
		"no majority, and so be it":           {lone, "ctl3", "yes", three, []string{"kubernetes_remove.yml"}, []string{"member remove"}, ""},
		"the last one, the others have left":  {planes{members: "ctl1", serving: "ctl1"}, "ctl1", "", three, []string{"kubernetes_remove.yml"}, []string{"member remove", "snapshot"}, ""},
		"the last one, the others are gone":   {planes{members: "ctl1"}, "ctl1", "", []string{"ctl1", "gone"}, []string{"kubernetes_remove.yml"}, nil, ""},
		"the others are there and do not act": {planes{members: "ctl1 ctl2 ctl3", serving: "ctl3"}, "ctl3", "", three, nil, []string{"kubernetes_remove.yml"}, "no other control plane serves the API"},
		"it is no member of etcd":             {planes{members: "ctl1 ctl2", serving: "ctl1 ctl2"}, "ctl3", "", three, []string{"delete node ctl3", "kubernetes_remove.yml"}, []string{"member remove"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(hoststep.OverrideVariable, c.override)
			s := c.hosts(t)
			err := removeControlPlane(t.Context(), s.Input(t, planeSpec(c.host, c.all...), c.all...))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			check(t, s, c.asked, c.notAsked)
		})
	}
}

func check(t *testing.T, s *steptest.Hosts, asked, notAsked []string) {
	t.Helper()
	for _, words := range asked {
		if !strings.Contains(s.Asked(), words) {
			t.Errorf("%q was not asked:\n%s", words, s.Asked())
		}
	}
	for _, words := range notAsked {
		if strings.Contains(s.Asked(), words) {
			t.Errorf("%q was asked:\n%s", words, s.Asked())
		}
	}
}

// TestLost checks which members of etcd are given up.
func TestLost(t *testing.T) {
	spec := planeSpec("ctl3", "ctl1", "ctl2", "ctl3")
	for name, c := range map[string]struct {
		member etcdctl.Member
		lost   bool
	}{
		"another that works":            {etcdctl.Member{Name: "ctl1", Healthy: true}, false},
		"another that does not":         {etcdctl.Member{Name: "ctl1"}, false},
		"the host's own of before":      {etcdctl.Member{Name: "ctl3"}, true},
		"one that works and will leave": {etcdctl.Member{Name: "ctl9", Healthy: true}, false},
		"a dead one of no host of ours": {etcdctl.Member{Name: "ctl9"}, true},
		"one that never started":        {etcdctl.Member{}, true},
	} {
		if got := len(lost([]etcdctl.Member{c.member}, spec)) == 1; got != c.lost {
			t.Errorf("%s is lost: %v, want %v", name, got, c.lost)
		}
	}
}
