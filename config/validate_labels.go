package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

const (
	maxLabelPrefix = 253
	// maxTaints is how many taints a flavour of Kueue can name.
	maxTaints = 8

	labelHint = `letters, digits, "-", "_" and ".", a letter or digit first and last, at most 63`
)

var (
	labelName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)
)

// labelOwners are the domains of labels and taints that programs of a cluster
// set and read. A host may not give itself those of Kubernetes.
var labelOwners = []struct{ domain, owner string }{
	{"kubernetes.io", "Kubernetes"},
	{"k8s.io", "Kubernetes"},
	{"nvidia.com", "NVIDIA's GPU operator"},
	{"topograph.run", "the discovery of the fabric"},
	{"gpucluster", "gpucluster"},
}

// labels checks node labels.
func (v *validator) labels(path string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := strictyaml.Child(path, key)
		from := len(v.problems)
		v.labelKey(at, "label", key)
		v.atKey(from)
		v.labelValue(at, labels[key])
	}
}

// taints checks node taints. One key may have several effects, each once.
func (v *validator) taints(path string, taints []Taint) {
	if len(taints) > maxTaints {
		v.addf(KindInvalid, path, "use one key with several values", "%d taints, at most %d", len(taints), maxTaints)
	}
	type identity struct {
		key    string
		effect TaintEffect
	}
	seen := map[identity]bool{}
	for i, taint := range taints {
		at := strictyaml.Item(path, i)
		if taint.Key != "" {
			v.labelKey(at+".key", "taint", taint.Key)
		}
		v.labelValue(at+".value", taint.Value)
		id := identity{taint.Key, taint.Effect}
		if seen[id] && taint.Key != "" {
			v.addf(KindDuplicate, at, "keep one of them", "taint %s:%s is listed twice", taint.Key, taint.Effect)
		}
		seen[id] = true
	}
}

// labelKey checks a name, or a domain, a slash and a name.
func (v *validator) labelKey(path, what, key string) {
	if v.isBroken(path) {
		return
	}
	domain, name, found := strings.Cut(key, "/")
	if !found {
		domain, name = "", key
	}
	switch {
	case !labelName.MatchString(name):
		v.addf(KindInvalid, path, labelHint, "%q cannot name a %s", key, what)
	case found && (!dnsSubdomain.MatchString(domain) || len(domain) > maxLabelPrefix):
		v.addf(KindInvalid, path, "write a domain of your own before the slash, as in example.org/"+name, "%q is not a domain", domain)
	default:
		if owner := labelOwner(domain); owner != "" {
			v.addf(KindCollision, path, fmt.Sprintf("use a domain of your own, as in example.org/%s", name), "%ss of %s belong to %s", what, domain, owner)
		}
	}
}

// labelOwner is who sets the labels of a domain; empty for the site's own.
func labelOwner(domain string) string {
	for _, known := range labelOwners {
		if domain == known.domain || strings.HasSuffix(domain, "."+known.domain) {
			return known.owner
		}
	}
	return ""
}

func (v *validator) labelValue(path, value string) {
	if value != "" && !labelName.MatchString(value) && !v.isBroken(path) {
		v.addf(KindInvalid, path, labelHint, "%q cannot be a value", value)
	}
}
