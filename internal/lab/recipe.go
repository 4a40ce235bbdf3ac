package lab

import (
	"crypto/sha256"
	_ "embed" // the build scripts are part of the recipe
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/debmirror"
)

// ImageSpec asks for the image of lab hosts.
type ImageSpec struct {
	// Release of Debian: "bookworm" or "trixie". Default: the one that has the Slurm
	// version.
	Release string `json:"release,omitempty"`
	// Slurm is the Slurm version whose packages are in the image: "22.05" (bookworm),
	// "24.11" or "26.05" (trixie). Empty: none.
	Slurm string `json:"slurm,omitempty"`
	// Packages are Debian packages to add to those that every host has.
	Packages []string `json:"packages,omitempty"`
	// Kubernetes adds what a host of a Kubernetes cluster takes from Debian: containerd,
	// runc, plugins for the network of pods. Only on trixie.
	Kubernetes bool `json:"kubernetes,omitempty"`
}

// ImageInfo names a built image.
type ImageInfo struct {
	// Image is the name to start hosts from. It ends with a digest of the recipe.
	Image string `json:"image"`
}

// SlurmReleases maps each Slurm version that the lab can install to its Debian release.
var SlurmReleases = map[string]string{"22.05": "bookworm", "24.11": "trixie", "26.05": "trixie"}

// fromForky are the Slurm versions that come from Debian's next release: the host stays
// what it is, only Slurm and what it needs come from there.
var fromForky = map[string]bool{"26.05": true}

// serverPackages are on every host: what a server has anyway, and what the toolkit's roles
// would otherwise spend minutes installing on each host.
var serverPackages = []string{
	"acl", "ca-certificates", "chrony", "cron", "curl", "dbus", "ethtool", "fuse3", "glusterfs-client", "glusterfs-server",
	"iproute2", "iptables", "iputils-ping", "kmod", "less", "libpam-modules", "logrotate", "lsof", "mariadb-client",
	"mariadb-server", "munge", "nftables", "openssh-server", "procps", "psmisc", "python3", "python3-apt",
	"python3-pymysql", "rsync", "sudo", "systemd", "systemd-sysv", "tzdata", "udev", "util-linux", "xz-utils",
}

// slurmPackages are what any role of a Slurm cluster needs.
var slurmPackages = []string{
	"libpam-slurm-adopt", "slurm-client", "slurm-wlm-basic-plugins", "slurm-wlm-jwt-plugin", "slurm-wlm-mysql-plugin",
	"slurmctld", "slurmd", "slurmdbd", "slurmrestd",
}

// kubernetesPackages are what a member of a Kubernetes cluster needs beside Kubernetes itself.
var kubernetesPackages = []string{
	"conntrack", "containerd", "containernetworking-plugins", "ethtool", "haproxy", "iptables", "kmod", "nftables", "runc", "socat",
}

//go:embed guest/build-server.sh
var buildServerScript string

//go:embed guest/build-slurm.sh
var buildSlurmScript string

//go:embed guest/build-kubernetes.sh
var buildKubernetesScript string

var packagePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]+$`)

// recipe is everything that decides what is in an image. It is built in layers: the
// release's root file system, the server on top, Slurm on top of that, and what Kubernetes
// needs at last; what releases and versions have in common is built once.
type recipe struct {
	Release    string
	Mirror     string
	Server     []string
	Slurm      string
	Forky      bool
	Added      []string
	Kubernetes bool
	Scripts    [3]string
}

// newRecipe fills in a spec's defaults and refuses what cannot be built.
func newRecipe(spec ImageSpec, mirror string) (recipe, error) {
	release := spec.Release
	if spec.Slurm != "" {
		needs, ok := SlurmReleases[spec.Slurm]
		if !ok {
			return recipe{}, fmt.Errorf("the lab has no Slurm %q; it has 22.05, 24.11 and 26.05", spec.Slurm)
		}
		if release == "" {
			release = needs
		}
		if release != needs {
			return recipe{}, fmt.Errorf("the lab has Slurm %s on %s, not on %s", spec.Slurm, needs, release)
		}
	}
	if release == "" {
		release = "trixie"
	}
	if release != "bookworm" && release != "trixie" {
		return recipe{}, fmt.Errorf("the lab has no release %q; it has bookworm and trixie", release)
	}
	if spec.Kubernetes && release != "trixie" {
		return recipe{}, fmt.Errorf("the lab has hosts for Kubernetes on trixie, not on %s", release)
	}
	added := slices.Clone(spec.Packages)
	slices.Sort(added)
	added = slices.Compact(added)
	for _, p := range added {
		if !packagePattern.MatchString(p) {
			return recipe{}, fmt.Errorf("%q is not the name of a Debian package", p)
		}
	}
	return recipe{
		Release: release, Mirror: mirror, Server: serverPackages, Slurm: spec.Slurm,
		Forky: fromForky[spec.Slurm], Added: added, Kubernetes: spec.Kubernetes,
		Scripts: [3]string{buildServerScript, buildSlurmScript, buildKubernetesScript},
	}, nil
}

// slurm lists the packages of the Slurm layer.
func (r recipe) slurm() []string {
	var list []string
	if r.Slurm != "" {
		list = append(list, slurmPackages...)
		if r.Slurm == "22.05" {
			// Later packages name what their PMIx plugin needs by themselves.
			list = append(list, "libpmix2")
		} else {
			list = append(list, "sackd")
		}
	}
	return append(list, r.Added...)
}

// recipeFormat counts changes in how layers are made that the rest of a recipe does not show.
const recipeFormat = 2

// rootTag names the image of the bare release, serverTag the one with a server's packages,
// tag the finished one.
func (r recipe) rootTag() string {
	return "gpucluster-lab-root:" + r.Release + "-" + digest(r.Release, r.Mirror)
}

func (r recipe) serverTag() string {
	return "gpucluster-lab-server:" + r.Release + "-" + digest(recipeFormat, r.rootTag(), r.Server, r.Scripts[0])
}

func (r recipe) tag() string {
	if !r.Kubernetes {
		return r.slurmTag()
	}
	variant := "kubernetes"
	if r.Slurm != "" {
		variant = r.Slurm + "-kubernetes"
	}
	return fmt.Sprintf("gpucluster-lab:%s-%s-%s", r.Release, variant, digest(r.slurmTag(), kubernetesPackages, r.Scripts[2]))
}

// slurmTag names the image with Slurm, or with nothing but added packages, below what
// Kubernetes needs.
func (r recipe) slurmTag() string {
	variant := r.Slurm
	if variant == "" {
		variant = "plain"
	}
	return fmt.Sprintf("gpucluster-lab:%s-%s-%s", r.Release, variant, digest(r.serverTag(), r.slurm(), r.Forky, r.Scripts[1]))
}

// title says what the layer of Slurm adds.
func (r recipe) title() string {
	if r.Slurm == "" {
		return "added packages"
	}
	return "Slurm " + r.Slurm
}

// digest is a short digest of values that JSON can hold.
func digest(values ...any) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // only strings, bools and lists of strings come here
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:12]
}

// machineRecipe is the recipe of a spec with this machine's mirror.
func machineRecipe(spec ImageSpec) (recipe, error) {
	mirror, err := debmirror.Find()
	if err != nil {
		return recipe{}, err
	}
	return newRecipe(spec, mirror)
}

// ImageName returns the name that EnsureImage would give the image on this machine,
// without building it.
func ImageName(spec ImageSpec) (string, error) {
	r, err := machineRecipe(spec)
	if err != nil {
		return "", err
	}
	return r.tag(), nil
}

// sourcesList is apt's view of the world inside a host.
func (r recipe) sourcesList() string {
	lines := []string{"deb " + r.Mirror + " " + r.Release + " main"}
	if r.Forky {
		lines = append(lines, "deb "+r.Mirror+" forky main")
	}
	return strings.Join(lines, "\n") + "\n"
}
