module github.com/gpucluster/pulumi-gpucluster/tools/pause

go 1.26
