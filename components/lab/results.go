package lab

import (
	"encoding/json"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/labstep"
)

// splitKey takes the key step's result apart. The public half is no secret.
func splitKey(result pulumi.StringOutput) (private, public pulumi.StringOutput) {
	private = pulumi.ToSecret(result.ApplyT(func(text string) (string, error) {
		pair, err := labstep.ReadKey(text)
		return pair.Private, err
	})).(pulumi.StringOutput)
	public = pulumi.Unsecret(result.ApplyT(func(text string) (string, error) {
		pair, err := labstep.ReadKey(text)
		return pair.Public, err
	})).(pulumi.StringOutput)
	return private, public
}

// partOf takes one part of a host step's result.
func partOf(result pulumi.StringOutput, pick func(lab.HostInfo) string) pulumi.StringOutput {
	return result.ApplyT(func(text string) (string, error) {
		info, err := labstep.ReadHost(text)
		return pick(info), err
	}).(pulumi.StringOutput)
}

func charts(result pulumi.StringOutput) pulumi.StringOutput {
	return result.ApplyT(func(text string) (string, error) {
		var info lab.ArtifactsInfo
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			return "", fmt.Errorf("reading the result of the lab's server of artifacts: %w", err)
		}
		return "http://" + info.Address + "/" + artifacts.ChartsFolder, nil
	}).(pulumi.StringOutput)
}

func subnet(result pulumi.StringOutput) pulumi.StringOutput {
	return result.ApplyT(func(text string) (string, error) {
		var info lab.NetworkInfo
		if err := json.Unmarshal([]byte(text), &info); err != nil {
			return "", fmt.Errorf("reading the result of the lab's network: %w", err)
		}
		return info.Subnet, nil
	}).(pulumi.StringOutput)
}
