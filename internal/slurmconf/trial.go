package slurmconf

import (
	"fmt"
	"path"
	"strings"
)

// Trial is where a slurmctld that only judges a file set lives: apart from any
// live one, in a network namespace of its own.
type Trial struct {
	// Dir is an empty directory for its state and pid file.
	Dir string
	// Host is the short name of the host it runs on.
	Host string
	// User runs it. Default "root".
	User string
	// NoCgroups leaves control groups out, for a slurmd that only reads its
	// files.
	NoCgroups bool
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

// ForTrial returns the files, name to content, with which a slurmctld can try
// the set and meet nothing live: own state, no accounting, no keys, all nodes
// on the loopback address. Where the namespace has no address but 127.0.0.1,
// Slurm resolves nothing: give its loopback a second one. The result does not judge what needs the database: QOS,
// accounts and limits.
func (s FileSet) ForTrial(t Trial) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range s.Files {
		if f.Name != "slurmdbd.conf" {
			out[f.Name] = f.Content
		}
	}
	lines, err := Parse(out["slurm.conf"])
	if err != nil {
		return nil, fmt.Errorf("reading slurm.conf for a trial: %w", err)
	}
	set(&t.User, "root")
	var b strings.Builder
	for _, kv := range [][2]string{
		{"SlurmctldHost", t.Host + "(127.0.0.1)"}, {"SlurmUser", t.User}, {"AuthType", "auth/none"}, {"CredType", "cred/none"},
		{"SlurmctldPort", "16817"}, {"SlurmdPort", "16818"}, {"SlurmctldPidFile", path.Join(t.Dir, "slurmctld.pid")},
		{"StateSaveLocation", path.Join(t.Dir, "state")}, {"SlurmdSpoolDir", path.Join(t.Dir, "spool")},
		{"MailProg", "/bin/true"},
	} {
		b.WriteString(kv[0] + "=" + kv[1] + "\n")
	}
	if t.NoCgroups {
		b.WriteString("ProctrackType=proctrack/linuxproc\n")
		delete(out, "cgroup.conf")
		if s.Version.AtLeast(V2405) {
			out["cgroup.conf"] = "CgroupPlugin=disabled\n"
		}
	}
	for _, l := range lines {
		if t.NoCgroups && len(l.Pairs) > 0 && cgroupKeys[strings.ToLower(l.Pairs[0].Key)] {
			continue
		}
		writeTrialLine(&b, l)
	}
	out["slurm.conf"] = b.String()
	return out, nil
}

func writeTrialLine(b *strings.Builder, l Line) {
	if l.Include != "" {
		b.WriteString("Include " + l.Include + "\n")
		return
	}
	node, partition := l.Is("NodeName"), l.Is("PartitionName")
	wrote := false
	for _, p := range l.Pairs {
		key := strings.ToLower(p.Key)
		if !node && !partition && trialDrops[key] || partition && trialDropsInPartition[key] || node && key == "nodeaddr" {
			continue
		}
		if wrote {
			b.WriteByte(' ')
		}
		b.WriteString(p.Key + p.Op + quote(p.Value))
		wrote = true
	}
	if node && wrote {
		b.WriteString(" NodeAddr=127.0.0.1")
	}
	if wrote {
		b.WriteByte('\n')
	}
}
