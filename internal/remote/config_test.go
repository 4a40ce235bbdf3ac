package remote

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

const bareKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2N1CsdvSr0y9CzQYkjNfDmJmYJ7vBnyuxzdiC8eJrK"

func TestSSHConfigGolden(t *testing.T) {
	targets := []Target{
		Target{Name: "ctl1"}.withDefaults(),
		Target{Name: "gpu1", Address: "10.0.0.7", Port: 2222, User: "ops", Bastion: "jump@gate.example:2200", TrustOnFirstUse: true}.withDefaults(),
		Target{Name: "gpu2", Address: "fd00::7", Bastion: "jump@gate.example:2200", TrustOnFirstUse: true}.withDefaults(),
	}
	got := sshConfig(targets, options{
		declaredKeys: "/tmp/gpc-1/known_hosts", rememberedKeys: "/home/me/.ssh/known_hosts", identity: "/tmp/gpc-1/key",
		connectTimeout: 7 * time.Second, sockets: map[string]string{"ctl1": "/tmp/gpc-1/s0", "gpu1": "/tmp/gpc-1/s1", "gpu2": "/tmp/gpc-1/s2"},
	})
	const file = "testdata/ssh_config.golden"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestKnownHostsLine(t *testing.T) {
	gpu := Target{Name: "gpu1", Address: "10.0.0.7", Port: 2222}.withDefaults()
	cases := map[string]struct {
		of   endpoint
		key  string
		want string
		fail string
	}{
		"bare key":               {gpu.endpoint(), bareKey + " root@gpu1", "[10.0.0.7]:2222 " + bareKey, ""},
		"bare key at port 22":    {Target{Name: "ctl1"}.withDefaults().endpoint(), bareKey, "ctl1 " + bareKey, ""},
		"line by name":           {gpu.endpoint(), "other,gpu1 " + bareKey, "[10.0.0.7]:2222 " + bareKey, ""},
		"line by address":        {gpu.endpoint(), "10.0.0.7 " + bareKey + " comment", "[10.0.0.7]:2222 " + bareKey, ""},
		"line by pattern":        {gpu.endpoint(), "[10.0.0.*]:2222 " + bareKey, "[10.0.0.*]:2222 " + bareKey, ""},
		"hashed line":            {gpu.endpoint(), "|1|abc=|def= " + bareKey, "|1|abc=|def= " + bareKey, ""},
		"certificate authority":  {gpu.endpoint(), "@cert-authority *.example " + bareKey, "@cert-authority *.example " + bareKey, ""},
		"bastion with user/port": {Target{Name: "x", Bastion: "me@gate:2200"}.bastion(), bareKey, "[gate]:2200 " + bareKey, ""},
		"bastion by address":     {Target{Name: "x", Bastion: "[fd00::1]:22"}.bastion(), bareKey, "fd00::1 " + bareKey, ""},
		"two lines":              {gpu.endpoint(), bareKey + "\nevil ssh-rsa AAAA", "", "more than one line"},
		"empty":                  {gpu.endpoint(), "  ", "", "empty"},
		"type alone":             {gpu.endpoint(), "ssh-ed25519", "", "without a key"},
		"not a key":              {gpu.endpoint(), "gpu1 hello world", "", "not a known_hosts line"},
		"authority without key":  {gpu.endpoint(), "@cert-authority * rsa", "", "not a known_hosts line"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.of.knownHostsLine(c.key)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Fatalf("got %q, %v; want an error with %q", got, err, c.fail)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func FuzzKnownHostsLine(f *testing.F) {
	f.Add(bareKey)
	f.Add("a,b " + bareKey)
	f.Add("@revoked * ssh-rsa AAAA")
	e := endpoint{name: "n", address: "10.0.0.1", port: "22"}
	f.Fuzz(func(t *testing.T, key string) {
		line, err := e.knownHostsLine(key)
		if err == nil && (line == "" || strings.ContainsAny(line, "\n\r")) {
			t.Errorf("%q became %q", key, line)
		}
	})
}

func TestOpenReportsEveryBadTarget(t *testing.T) {
	_, err := Open(t.Context(), Config{Targets: []Target{
		{Name: "a b"}, {Name: "ok", Address: "10.0.0.1 -oProxyCommand=x"}, {Name: "p", Port: 70000}, {Name: "u", User: "-l"},
		{Name: "j", Bastion: "gate -W x"}, {Name: "k", HostKeys: []string{"nonsense"}},
		{Name: "twin"}, {Name: "twin"}, {Name: "-oProxyCommand=id"},
	}})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{`target "a b": not a host name`, "target ok:", "target p: port 70000", `target u: "-l" is not a user name`, "target j: bastion",
		"target k: host key 0", "target twin: given twice", `target "-oProxyCommand=id"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the report lacks %q:\n%v", want, err)
		}
	}
}

func TestCommandErrorText(t *testing.T) {
	cases := map[string]struct {
		err  CommandError
		want string
	}{
		"status":      {CommandError{Host: "n1", Command: "false\nmore", ExitStatus: 1, Stderr: "no"}, `n1: command "false …" ended with status 1: no`},
		"unreachable": {CommandError{Host: "n1", Command: "true", ExitStatus: -1, Unreachable: true, Stderr: "no route"}, "n1: cannot be reached over SSH: no route"},
		"long":        {CommandError{Host: "n1", Command: strings.Repeat("x", 200), ExitStatus: 2}, `n1: command "` + strings.Repeat("x", 120) + ` …" ended with status 2`},
	}
	for name, c := range cases {
		if got := c.err.Error(); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	k := tail{limit: 5}
	for _, s := range []string{"ab", "cdefgh", " i\n"} {
		if n, err := k.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if k.String() != "gh i" {
		t.Errorf("kept %q", k.String())
	}
}
