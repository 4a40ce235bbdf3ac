package slurm

import (
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// declareKeys makes the cluster's keys, or takes those of the site.
func (b *builder) declareKeys() error {
	keys, err := stepresource.New(b.ctx, b.name+"-keys", stepresource.Args{
		Step: slurmstep.Keys, Spec: slurmstep.KeysSpec{Cluster: b.env.Slurm.ClusterName}, SecretResult: true,
	}, pulumi.Parent(b.Cluster))
	if err != nil {
		return err
	}
	part := func(pick func(slurmstep.KeysResult) string) pulumi.StringOutput {
		return pulumi.ToSecret(keys.Stdout.ApplyT(func(text string) (string, error) {
			made, err := slurmstep.ReadKeys(text)
			return pick(made), err
		})).(pulumi.StringOutput)
	}
	b.munge = part(func(k slurmstep.KeysResult) string { return k.Munge })
	b.password = part(func(k slurmstep.KeysResult) string { return k.Database })
	if given := b.env.Slurm.MungeKey; given.Set {
		b.munge = pulumi.ToSecret(pulumi.String(given.Value)).(pulumi.StringOutput)
	}
	if db := b.env.Slurm.Database; db != nil && db.MariaDB != nil {
		b.password = pulumi.ToSecret(pulumi.String(db.MariaDB.Password.Value)).(pulumi.StringOutput)
	}
	return nil
}

// secrets that every host of the cluster needs.
func (b *builder) secrets() map[string]pulumi.StringInput {
	return map[string]pulumi.StringInput{slurmstep.SecretMunge: b.munge}
}

// packageVars are the variables of the packages' role.
func (b *builder) packageVars() map[string]any {
	return map[string]any{
		"slurm_packages_version": b.env.Slurm.Version,
		"slurm_packages_uid":     b.env.Slurm.SlurmUID,
		"slurm_packages_gid":     b.env.Slurm.SlurmGID,
	}
}

// declareDatabase makes slurmdbd and MariaDB, unless the site has them.
func (b *builder) declareDatabase() error {
	all := b.env.HostsWithRole(config.RoleDatabase)
	content, ok := b.files.Get("slurmdbd.conf")
	if len(all) == 0 || !ok {
		return nil
	}
	host := all[0].Name
	vars := b.packageVars()
	local := b.env.Slurm.Database == nil || b.env.Slurm.Database.MariaDB == nil
	vars["database_is_local"] = local
	if b.env.Lab != nil {
		// A container shares its machine's memory with all the others.
		vars["mariadb_buffer_pool_mib"] = 64
	}
	secrets := b.secrets()
	secrets[slurmstep.SecretDatabase] = b.password
	name := b.name + "-database"
	database, err := stepresource.New(b.ctx, name, stepresource.Args{
		Step: slurmstep.Database,
		Spec: slurmstep.DatabaseSpec{
			Host: host, Local: local, Files: map[string]string{content.Name: content.Content}, Vars: vars,
		},
		Targets: b.connections(host), Secrets: secrets, Later: b.hosts.OwnerEntry(), Heal: b.heal.Count(name), Toolkit: playbook.Digest(playbook.Database),
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(b.ready(host)))
	if err != nil {
		return err
	}
	b.last = append(b.last, database)
	return nil
}

// declareController activates the configuration.
func (b *builder) declareController() error {
	controllers := b.controllers()
	spec := slurmstep.ControllerSpec{
		Cluster: b.clusterName(), Controllers: controllers, Version: b.env.Slurm.Version, DrainDeadline: b.env.Slurm.DrainDeadline,
		Files: map[string]string{}, Vars: b.packageVars(),
	}
	for _, file := range b.files.For(slurmconf.OnControllers) {
		spec.Files[file.Name] = file.Content
		if file.Mode == "0755" {
			spec.Scripts = append(spec.Scripts, file.Name)
		}
	}
	spec.Vars["slurm_controller_state_dir"] = b.env.Slurm.StateSaveLocation
	if home := b.env.Home; home != nil && within(b.env.Slurm.StateSaveLocation, home.Path) {
		spec.Vars["slurm_controller_require_mount"] = home.Path
	}
	if len(controllers) > 1 {
		spec.Vars["slurm_controller_shared"] = true
	}
	name := b.name + "-controller"
	controller, err := stepresource.New(b.ctx, name, stepresource.Args{
		Step: slurmstep.Controller, Spec: spec,
		Targets: b.connections(controllers...), Secrets: b.secrets(), Later: b.hosts.OwnerEntry(), Heal: b.heal.Count(name),
		Toolkit: playbook.Digest(playbook.Controller), UsesPrevious: true,
	}, pulumi.Parent(b.Cluster), pulumi.DependsOn(append(b.ready(controllers...), b.last...)))
	if err != nil {
		return err
	}
	b.controller = controller
	b.last = append(b.last, controller)
	return nil
}

// within reports whether a path is a folder or lies in it.
func within(inner, folder string) bool {
	return strings.HasPrefix(inner+"/", strings.TrimSuffix(folder, "/")+"/")
}

// declareLogins gives the login hosts the cluster's commands.
func (b *builder) declareLogins() error {
	keys := map[string][]string{}
	if b.env.Identity != nil {
		for _, user := range b.env.Identity.Users {
			if len(user.AuthorizedKeys) > 0 {
				keys[user.Name] = user.AuthorizedKeys
			}
		}
	}
	sackd := b.files.Version.HasSackd()
	for _, host := range b.env.HostsWithRole(config.RoleLogin) {
		// slurmctld and slurmd have the configuration already, and sackd would be in their way.
		own := !host.Has(config.RoleController) && !host.Has(config.RoleCompute)
		vars := b.packageVars()
		vars["slurm_login_own_config"] = own
		vars["slurm_login_authorized_keys"] = keys
		vars["slurm_login_files"] = placed(b.files.For(slurmconf.OnLogin))
		if sackd {
			vars["slurm_login_conf_servers"] = b.controllers()
		}
		name := b.name + "-" + host.Name + "-login"
		login, err := stepresource.New(b.ctx, name, stepresource.Args{
			Step: slurmstep.Login, Spec: slurmstep.LoginSpec{Host: host.Name, Sackd: sackd && own, Vars: vars},
			Targets: b.connections(host.Name), Secrets: b.secrets(), Later: b.hosts.Later(host.Name), Heal: b.heal.Count(name),
			Toolkit: playbook.Digest(playbook.Login),
		}, pulumi.Parent(b.Cluster), pulumi.DependsOn(append(b.ready(host.Name), b.controller)))
		if err != nil {
			return err
		}
		b.outcomes = append(b.outcomes, login.Stdout)
		b.outcomes = append(b.outcomes, b.hosts.Outcomes(host.Name)...)
		b.last = append(b.last, login)
	}
	return nil
}

// placed lists files as the roles take them.
func placed(files []slurmconf.File) []map[string]any {
	out := []map[string]any{}
	for _, file := range files {
		out = append(out, map[string]any{
			"path": slurmconf.DefaultConfigDir + "/" + file.Name, "content": file.Content, "mode": file.Mode,
		})
	}
	return out
}
