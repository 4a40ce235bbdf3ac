package slurmconf

// secretKeys never stand in a file that others can read, or that lies about in
// an environment file.
var secretKeys = map[string]string{
	"accountingstoragepass": "slurmctld reaches slurmdbd with MUNGE and needs no password",
	"jobcomppass":           "use accounting instead of a job completion database",
	"storagepass":           "the database password is a secret of its own",
}

// goneKey is a key that has no effect, or stops the daemon, from a release on.
type goneKey struct {
	since   Version
	instead string
}

// gone are keys that old files still have: some stop a daemon, some are passed
// over. Where the release's table does not have the key at all, only the
// advice counts.
var gone = map[string]goneKey{
	"fastschedule":                   {V2205, "use SlurmdParameters=config_overrides where declared hardware is to be believed"},
	"accountingstorageloc":           {V2205, "the database belongs to slurmdbd: set accounting.storage"},
	"accountingstorageuser":          {V2205, "the database belongs to slurmdbd: set accounting.storage"},
	"accountingstorejobcomment":      {V2205, "use AccountingStoreFlags=job_comment"},
	"sallocdefaultcommand":           {V2205, "use LaunchParameters=use_interactive_step"},
	"cachegroups":                    {V2205, "leave it out"},
	"checkpointtype":                 {V2205, "leave it out"},
	"jobcheckpointdir":               {V2205, "leave it out"},
	"memlimitenforce":                {V2205, "memory is confined by control groups"},
	"schedulerport":                  {V2205, "leave it out"},
	"schedulerrootfilter":            {V2205, "leave it out"},
	"schedulerauth":                  {V2205, "leave it out"},
	"slurmctldplugstack":             {V2302, "leave it out"},
	"launchtype":                     {V2302, "leave it out"},
	"routeplugin":                    {V2311, "use TopologyParam=RouteTree"},
	"jobcredentialprivatekey":        {V2311, "leave it out: credentials go with MUNGE"},
	"jobcredentialpubliccertificate": {V2311, "leave it out: credentials go with MUNGE"},
	"extsensorstype":                 {V2311, "leave it out"},
	"extsensorsfreq":                 {V2311, "leave it out"},
	"powerparameters":                {V2405, "leave it out"},
	"powerplugin":                    {V2405, "leave it out"},
	"corespecplugin":                 {V2405, "leave it out"},
	"getenvtimeout":                  {V2505, "leave it out"},
	"taskaffinity":                   {V2205, "the task/affinity plugin is loaded"},
	"cgroupautomount":                {V2311, "leave it out: systemd mounts control groups"},
	"cgroupreleaseagentdir":          {V2205, "leave it out"},
	"constrainkmemspace":             {V2311, "leave it out: kernels have no such limit any more"},
	"allowedkmemspace":               {V2311, "leave it out: kernels have no such limit any more"},
	"maxkmempercent":                 {V2311, "leave it out: kernels have no such limit any more"},
	"minkmemspace":                   {V2311, "leave it out: kernels have no such limit any more"},
	"alloweddevicesfile":             {V2205, "leave it out: devices come from gres.conf"},
	"memorylimitenforcement":         {V2205, "leave it out"},
	"memorylimitthreshold":           {V2205, "leave it out"},
}

// goneTokens are tokens that later releases only complain of.
var goneTokens = map[string]goneKey{
	"communicationparameters/noaddrcache": {V2311, "leave it out: that is how it works now"},
	"slurmctldparameters/cloud_reg_addrs": {V2311, "leave it out: that is how it works now"},
}
