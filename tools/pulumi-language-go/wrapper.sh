#!/bin/sh
# Starts Pulumi's language host for Go. This release takes the option buildTarget only as a flag, which today's Pulumi
# does not pass. With it the compiled program stays and is linked again only when it has changed.
exec "$(dirname "$0")/pulumi-language-go-host" ${GPUCLUSTER_BUILD_TARGET:+-buildTarget="$GPUCLUSTER_BUILD_TARGET"} "$@"
