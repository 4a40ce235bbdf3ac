package judge

import (
	"fmt"
	"path"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// place is where a daemon that only judges lives.
type place struct {
	// dir is an empty directory for its state and pid file.
	dir string
	// host is the short name of the host it runs on.
	host string
	// noCgroups leaves control groups out, for a slurmd that only reads files.
	noCgroups bool
}

// What a trial replaces or leaves out: whatever would reach a live daemon, a
// database, a key or another host.
var (
	trialDrops = setOf("SlurmctldHost", "SlurmUser", "StateSaveLocation", "SlurmdSpoolDir", "SlurmctldPort", "SlurmdPort",
		"SlurmctldPidFile", "SlurmdPidFile", "SlurmctldLogFile", "SlurmdLogFile", "AuthType", "CredType", "AuthInfo", "AuthAltTypes",
		"AuthAltParameters", "AccountingStorageType", "AccountingStorageHost", "AccountingStorageBackupHost",
		"AccountingStoragePort", "AccountingStorageEnforce", "AccountingStorageTRES", "AccountingStoreFlags", "JobCompType",
		"PrologSlurmctld", "EpilogSlurmctld", "ResumeProgram", "SuspendProgram", "SlurmctldPrimaryOnProg",
		"SlurmctldPrimaryOffProg", "RebootProgram", "MailProg",
		// These name QOS or resources, which only a database knows.
		"PreemptType", "PreemptMode", "PreemptExemptTime", "PriorityWeightTRES")
	cgroupKeys            = setOf("ProctrackType", "TaskPlugin", "JobAcctGatherType", "PrologFlags", "JobContainerType", "NamespaceType")
	trialDropsInPartition = setOf("QOS", "AllowQos", "DenyQos", "AllowAccounts", "DenyAccounts", "TRESBillingWeights", "PreemptMode")
)

func setOf(keys ...string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[strings.ToLower(k)] = true
	}
	return m
}

// trial returns the files, name to content, with which a daemon can try a set
// and meet nothing live: own state, no accounting, no keys, all nodes on the
// loopback address. It does not judge what needs the database: QOS, accounts
// and limits.
func trial(set slurmconf.FileSet, at place) (map[string]string, error) {
	out := set.Map()
	delete(out, "slurmdbd.conf")
	lines, err := slurmconf.Parse(out["slurm.conf"])
	if err != nil {
		return nil, fmt.Errorf("reading slurm.conf for a trial: %w", err)
	}
	var b strings.Builder
	for _, kv := range [][2]string{
		{"SlurmctldHost", at.host + "(127.0.0.1)"}, {"SlurmUser", "root"}, {"AuthType", "auth/none"}, {"CredType", "cred/none"},
		{"SlurmctldPort", "16817"}, {"SlurmdPort", "16818"}, {"SlurmctldPidFile", path.Join(at.dir, "slurmctld.pid")},
		{"StateSaveLocation", path.Join(at.dir, "state")}, {"SlurmdSpoolDir", path.Join(at.dir, "spool")},
		{"MailProg", "/bin/true"},
	} {
		b.WriteString(kv[0] + "=" + kv[1] + "\n")
	}
	if at.noCgroups {
		b.WriteString("ProctrackType=proctrack/linuxproc\n")
		delete(out, "cgroup.conf")
		if set.Version.AtLeast(slurmconf.V2405) {
			out["cgroup.conf"] = "CgroupPlugin=disabled\n"
		}
	}
	for _, l := range lines {
		if at.noCgroups && len(l.Pairs) > 0 && cgroupKeys[strings.ToLower(l.Pairs[0].Key)] {
			continue
		}
		writeTrialLine(&b, l)
	}
	out["slurm.conf"] = b.String()
	return out, nil
}

func writeTrialLine(b *strings.Builder, l slurmconf.Line) {
	if l.Include != "" {
		b.WriteString("Include " + l.Include + "\n")
		return
	}
	node, partition := l.Is("NodeName"), l.Is("PartitionName")
	defaults := node && l.Pairs[0].Value == "DEFAULT" // has no address
	wrote := false
	for _, p := range l.Pairs {
		key := strings.ToLower(p.Key)
		if !node && !partition && trialDrops[key] || partition && trialDropsInPartition[key] || node && key == "nodeaddr" {
			continue
		}
		if wrote {
			b.WriteByte(' ')
		}
		b.WriteString(p.Key + p.Op + `"` + p.Value + `"`)
		wrote = true
	}
	if node && wrote && !defaults {
		b.WriteString(" NodeAddr=127.0.0.1")
	}
	if wrote {
		b.WriteByte('\n')
	}
}
