package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// CheckChange refuses ids of people and groups that hosts, as the last update
// left them, know under another id. NewHosts refuses them too, but a program
// that makes the hosts itself asks before it declares them. The assessment holds
// what the last update left. The error names each id and the way that exists.
func CheckChange(env *config.Environment, assessment *heal.Assessment) error {
	if env == nil {
		return errors.New("hosts need an environment")
	}
	if env.Identity == nil || env.Identity.Source == config.IdentityExisting {
		return nil // nobody makes accounts: those who do may change them
	}
	users, groups, err := knownIDs(env, assessment)
	if err != nil {
		return err
	}
	var refused []string
	refuse := func(kind, key, name string, known, declared int) {
		if known != 0 && known != declared {
			refused = append(refused, fmt.Sprintf(
				"%[1]s %[2]s has the id %[3]d on the hosts and cannot get %[4]d, since files belong to the old one: put %[5]s: %[3]d back, or give the %[1]s a new name",
				kind, name, known, declared, key))
		}
	}
	for _, group := range env.Identity.Groups {
		refuse("group", "gid", group.Name, groups[group.Name], group.GID)
	}
	for _, user := range env.Identity.Users {
		refuse("user", "uid", user.Name, users[user.Name], user.UID)
	}
	if len(refused) > 0 {
		return errors.New(strings.Join(refused, "\n"))
	}
	return nil
}

// knownIDs are the ids by which the hosts of the last update that stay know
// people and groups. A host in quarantine may not have got them.
func knownIDs(env *config.Environment, assessment *heal.Assessment) (users, groups map[string]int, err error) {
	users, groups = map[string]int{}, map[string]int{}
	for _, resource := range assessment.Named(hoststep.Baseline) {
		text, _ := assessment.Stdin(resource)
		var was struct {
			Host        string
			Environment string
			Vars        struct {
				Groups  []config.Group `json:"host_baseline_groups"`
				Users   []config.User  `json:"host_baseline_users"`
				Managed bool           `json:"host_baseline_manage_accounts"`
			}
		}
		if err := json.Unmarshal([]byte(text), &was); err != nil {
			return nil, nil, fmt.Errorf("reading what was done last: %w", err)
		}
		stays := slices.ContainsFunc(env.AllHosts(), func(host config.Host) bool { return host.Name == was.Host })
		if was.Environment != env.Name || !stays || !was.Vars.Managed || assessment.Quarantined(resource) {
			continue
		}
		for _, group := range was.Vars.Groups {
			groups[group.Name] = group.GID
		}
		for _, user := range was.Vars.Users {
			users[user.Name] = user.UID
		}
	}
	return users, groups, nil
}
