// Package local runs programs on this machine as Pulumi resources. Its name is part of the resources' type tokens.
package local

import (
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi-go-provider/infer/types"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// BaseInputs says how a program is run; the resource and the function share it.
type BaseInputs struct {
	Stdin                  *string            `pulumi:"stdin,optional"`
	Logging                *Logging           `pulumi:"logging,optional"`
	Interpreter            *[]string          `pulumi:"interpreter,optional"`
	Dir                    *string            `pulumi:"dir,optional"`
	Environment            *map[string]string `pulumi:"environment,optional"`
	AssetPaths             *[]string          `pulumi:"assetPaths,optional"`
	ArchivePaths           *[]string          `pulumi:"archivePaths,optional"`
	AddPreviousOutputInEnv *bool              `pulumi:"addPreviousOutputInEnv,optional"`
}

// Annotate describes the inputs in the schema.
func (b *BaseInputs) Annotate(a infer.Annotator) {
	a.Describe(&b.Stdin, "What the program reads from its standard input.")
	a.Describe(&b.Logging, "Which of the program's streams are shown while it runs. Both are outputs in any case. Default: both.")
	a.Describe(&b.Interpreter, `The program that is given the command as its last argument. Default: ["/bin/sh", "-c"].`)
	a.Describe(&b.Dir, "The folder that the command runs in. Default: the folder of the Pulumi program.")
	a.Describe(&b.Environment, "Variables that the command gets beside those of the plugin.")
	a.Describe(&b.AssetPaths, "Globs of files to return one by one; a glob that begins with ! takes files out again.")
	a.Describe(&b.ArchivePaths, "Globs of files to return as one archive; a glob that begins with ! takes files out again.")
	a.Describe(&b.AddPreviousOutputInEnv,
		"Whether update and delete find what the run before them wrote in PULUMI_COMMAND_STDOUT and PULUMI_COMMAND_STDERR. Default: true.")
}

// BaseOutputs is what a program that ended well leaves behind.
type BaseOutputs struct {
	Stdout  string                           `pulumi:"stdout"`
	Stderr  string                           `pulumi:"stderr"`
	Assets  *map[string]types.AssetOrArchive `pulumi:"assets,optional"`
	Archive *resource.Archive                `pulumi:"archive,optional"`
}

// Annotate describes the outputs in the schema.
func (b *BaseOutputs) Annotate(a infer.Annotator) {
	a.Describe(&b.Stdout, "What the program wrote to its standard output, without the last newline.")
	a.Describe(&b.Stderr, "What the program wrote to its standard error, without the last newline.")
	a.Describe(&b.Assets, "The files that assetPaths matched, by their path below dir.")
	a.Describe(&b.Archive, "The files that archivePaths matched.")
}

// Logging says which streams of a program are shown while it runs.
type Logging string

// The values of Logging.
const (
	LogStdout          Logging = "stdout"
	LogStderr          Logging = "stderr"
	LogStdoutAndStderr Logging = "stdoutAndStderr"
	LogNone            Logging = "none"
)

// Values lists the values of the enumeration in the schema.
func (Logging) Values() []infer.EnumValue[Logging] {
	return []infer.EnumValue[Logging]{
		{Name: string(LogStdout), Value: LogStdout, Description: "Show standard output only"},
		{Name: string(LogStderr), Value: LogStderr, Description: "Show standard error only"},
		{Name: string(LogStdoutAndStderr), Value: LogStdoutAndStderr, Description: "Show both"},
		{Name: string(LogNone), Value: LogNone, Description: "Show nothing"},
	}
}

func (l *Logging) showsStdout() bool {
	return l == nil || *l == LogStdout || *l == LogStdoutAndStderr
}

func (l *Logging) showsStderr() bool {
	return l == nil || *l == LogStderr || *l == LogStdoutAndStderr
}
