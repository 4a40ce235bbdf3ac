module github.com/gpucluster/pulumi-gpucluster/tools/gpu-check

go 1.26
