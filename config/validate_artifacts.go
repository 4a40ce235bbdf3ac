package config

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// artifacts checks where things come from.
func (v *validator) artifacts() {
	a := v.env.Artifacts
	if a == nil || v.env.Scheduler == SchedulerSlurm {
		return
	}
	if v.place("artifacts.registry", a.Registry, "http", "https") {
		if u, err := url.Parse(a.Registry); err == nil && strings.Trim(u.Path, "/") != "" {
			v.addf(KindInvalid, "artifacts.registry", "write "+u.Scheme+"://"+u.Host, "%q is a path: a mirror has images under the names that they have upstream", u.Path)
		}
	}
	v.place("artifacts.binaries", a.Binaries, "http", "https")
	v.place("artifacts.apt", a.APT, "http", "https")
	if strings.Contains(a.Charts, "://") {
		v.place("artifacts.charts", a.Charts, "http", "https", "oci")
		return
	}
	v.folder("artifacts.charts", a.Charts)
}

// place checks a URL, and reports whether it is one.
func (v *validator) place(at, text string, schemes ...string) bool {
	if text == "" || v.isBroken(at) {
		return false
	}
	u, err := url.Parse(text)
	switch {
	case strings.ContainsAny(text, "@?#"):
		v.add(KindSecret, at, "let the place be read without a password or a token, within the site", "a URL with one of @ ? #, which may hold a secret")
	case err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) || strings.ContainsAny(text, " \t\n\"'\\`$"):
		v.addf(KindInvalid, at, "write it as https://mirror.example.org", "%q is not a URL of %s", text, wordList(schemes))
	case u.Scheme == "http" && v.env.Lab == nil:
		v.add(KindWarning, at, "write https, where the place has it", "over http anybody on the way can change what hosts install")
		return true
	default:
		return true
	}
	return false
}

// folder checks a folder of the checkout. One elsewhere would differ from one
// deployer to the next.
func (v *validator) folder(at, dir string) {
	if dir == "" || v.isBroken(at) {
		return
	}
	if path.IsAbs(dir) || path.Clean(dir) != strings.TrimSuffix(dir, "/") || dir == ".." || strings.HasPrefix(dir, "../") || strings.ContainsAny(dir, " \t\n\"'\\") {
		v.addf(KindInvalid, at, "write a URL, or a folder of the checkout, as in charts", "%q is neither a URL nor a folder of the checkout", dir)
	}
}
