package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/lab"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

// reach is how hosts are reached, and what is fetched from where.
type reach struct {
	connections connection.Connections
	// artifacts is what hosts fetch from, where it is made here.
	artifacts []pulumi.Resource
	// charts is the place that has Helm's charts; nil for that of their makers.
	charts pulumi.StringInput
}

// connect makes the hosts and what they fetch from, or finds those that exist.
func connect(ctx *pulumi.Context, env *config.Environment, assessment *heal.Assessment) (reach, error) {
	if env.Lab == nil {
		connections, err := connection.FromInventory(env)
		return reach{connections: connections, charts: siteCharts(env)}, err
	}
	made, err := lab.NewLab(ctx, env.Name, &lab.LabArgs{Environment: env, Heal: assessment})
	if err != nil {
		return reach{}, fmt.Errorf("lab: %w", err)
	}
	reached := reach{connections: made.Connections, charts: siteCharts(env)}
	if made.Artifacts != nil {
		reached.artifacts = append(reached.artifacts, made.Artifacts)
		if env.Artifacts.Charts == config.LabCharts {
			reached.charts = made.Charts
		}
	}
	return reached, nil
}

// siteCharts is the place that the environment names. A folder is one of the
// checkout, and the program runs in another one of it.
func siteCharts(env *config.Environment) pulumi.StringInput {
	if env.Artifacts == nil || env.Artifacts.Charts == "" {
		return nil
	}
	charts := env.Artifacts.Charts
	if !strings.Contains(charts, "://") {
		charts = filepath.Join("..", charts)
	}
	return pulumi.String(charts)
}
