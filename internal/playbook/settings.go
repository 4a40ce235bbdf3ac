package playbook

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// maxForks bounds how many hosts Ansible works on at the same time; each costs
// a process of about 50 MiB on the deployer.
const maxForks = 32

// settings is the ansible.cfg of a run. Paths are relative to it.
func settings(sshConfig string, hosts int) string {
	return fmt.Sprintf(`[defaults]
collections_path = collections
roles_path = roles
callback_plugins = plugins/callback
stdout_callback = gpucluster_events
forks = %d
gathering = explicit
host_key_checking = True
interpreter_python = /usr/bin/python3
inject_facts_as_vars = False
no_target_syslog = True
retry_files_enabled = False
nocows = True
bin_ansible_callbacks = False
local_tmp = tmp
deprecation_warnings = False
localhost_warning = False
internal_poll_interval = 0.02
timeout = 10

[inventory]
enable_plugins = ansible.builtin.yaml

[ssh_connection]
pipelining = True
ssh_args = -F %s
retries = 1
`, max(1, min(hosts, maxForks)), sshConfig)
}

// environment is the deployer's own, without what would configure Ansible or
// Python differently.
func environment(dir string) []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "ANSIBLE_") || strings.HasPrefix(name, "PYTHON") ||
			strings.HasPrefix(name, "GPUCLUSTER_") || strings.HasPrefix(name, "PULUMI_") ||
			strings.HasPrefix(name, "LC_") || name == "LANG" || name == "LANGUAGE" {
			continue
		}
		env = append(env, e)
	}
	env = append(env, "ANSIBLE_CONFIG="+dir+"/ansible.cfg", "ANSIBLE_HOME="+dir+"/home",
		"LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1")
	// Modules packed by earlier runs; see the callback. They are code that
	// runs as root on hosts, so the folder is the user's own.
	if cache, err := os.UserCacheDir(); err == nil {
		modules := filepath.Join(cache, "gpucluster", "modules", digestOf("collections"))
		if os.MkdirAll(modules, 0o700) == nil {
			env = append(env, "GPUCLUSTER_MODULE_CACHE="+modules)
		}
	}
	return env
}

// inventory writes groups and hosts as Ansible's YAML inventory (JSON is YAML),
// and lists the hosts, sorted. The group all is Ansible's own and holds every
// host anyway.
func inventory(session *remote.Session, groups map[string][]string) ([]byte, []string, error) {
	type host map[string]any
	hosts := map[string]host{}
	children := map[string]any{}
	for group, names := range groups {
		members := map[string]host{}
		for _, n := range names {
			t, ok := session.Target(n)
			if !ok {
				return nil, nil, fmt.Errorf("group %s: host %s is not a target of the session", group, n)
			}
			hosts[n] = host{"ansible_become": t.User != "root"}
			members[n] = nil
		}
		if group == "all" {
			continue
		}
		children[group] = map[string]any{"hosts": members}
	}
	names := make([]string, 0, len(hosts))
	for n := range hosts {
		names = append(names, n)
	}
	sort.Strings(names)
	text, err := json.Marshal(map[string]any{"all": map[string]any{"hosts": hosts, "children": children}})
	return text, names, err
}

// endWithGroup makes the end of the context reach ansible-playbook's workers
// and their ssh processes too.
func endWithGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
