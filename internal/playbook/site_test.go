package playbook_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
)

// What a site has on its hosts already is neither replaced nor removed.
func TestWhatTheSiteHas(t *testing.T) {
	w := newWorldOf(t, lab.ImageSpec{Slurm: "24.11"}, "site")
	t.Run("a MUNGE key", func(t *testing.T) { w.of(t).siteKey() })
}

// of is the world for a subtest.
func (w world) of(t *testing.T) *world {
	w.t = t
	return &w
}

// refused runs a playbook that must fail with every one of the texts.
func (w *world) refused(book playbook.Playbook, groups map[string][]string, v, secrets vars, texts ...string) {
	w.t.Helper()
	_, err := w.run(book, groups, v, secrets)
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			w.t.Errorf("%s: the report lacks %q: %v", book, text, err)
		}
	}
}

// siteKey covers every key that a host may hold: the site's, the one that Debian
// makes, ours, an earlier one of ours.
func (w *world) siteKey() {
	const digest = "sha256sum </etc/munge/munge.key"
	v, secrets := vars{"slurm_packages_version": w.release, "slurm_compute_conf_servers": []string{"ctl1"}}, vars{"munge_key": w.munge}
	w.on("gpu1", "/usr/sbin/mungekey --create && chown munge: /etc/munge/munge.key && systemctl start munge")
	site := w.on("gpu1", digest)
	w.refused(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, secrets,
		"/etc/munge/munge.key: exists and is not ours; move it away, or take its content over into the environment")
	w.want("gpu1", digest, site)
	if _, err := w.run(playbook.ControllerRemove, only("gpu1"), nil, nil); err != nil {
		w.t.Error(err)
	}
	w.want("gpu1", digest+"; systemctl is-active munge", site+"\nactive")

	// The package was not there: the key that comes with it is nobody's. Half
	// way the host was reset.
	w.on("gpu1", "apt-get purge -qy munge && rm -rf /etc/munge && apt-get update -q")
	w.on("gpu1", `printf '#!/bin/sh\n# written by gpucluster, for as long as it installs packages\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d`)
	w.twice(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, secrets)
	w.want("gpu1", "base64 -w0 /etc/munge/munge.key; ls /usr/sbin/policy-rc.d 2>/dev/null; stat -c ' %a %U' /var/lib/gpucluster/placed/*", w.munge+" 600 root")

	w.twice(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, vars{"munge_key": w.otherMunge()})
	w.on("gpu1", "/usr/sbin/mungekey --create --force && chown munge: /etc/munge/munge.key")
	site = w.on("gpu1", digest)
	w.refused(playbook.Compute, only("gpu1"), v, secrets, "/etc/munge/munge.key: exists and is not ours")
	if _, err := w.run(playbook.ControllerRemove, only("gpu1"), nil, nil); err != nil {
		w.t.Error(err)
	}
	w.want("gpu1", digest, site)
}

// otherMunge is another key of the cluster.
func (w *world) otherMunge() string { return w.munge[4:] }
