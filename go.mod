module github.com/gpucluster/pulumi-gpucluster

go 1.26
