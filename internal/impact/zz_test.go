package impact
import ("testing";"strings";"time";"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest")
func TestZZ(t *testing.T){
 for _, rel := range []string{"22.05","24.11","26.05"} {
  t.Run(rel, func(t *testing.T){
  conf := slurmtest.Conf{Nodes: map[string]string{"n1": slurmtest.GPUNode,"n2": slurmtest.GPUNode}, Extra:"PartitionName=side Nodes=n1 MaxTime=60"}
  c := slurmtest.StartCluster(t, rel, conf)
  id := c.Submit(t, "-p main -w n1 -t 10", "sleep 300")
  id2 := c.Submit(t, "-p side -w n1 -t 10", "sleep 300")
  c.WaitJob(t,id,"RUNNING"); c.WaitJob(t,id2,"RUNNING")
  pend := c.Submit(t, "-p side -w n1 -t 10 --exclusive", "sleep 300")
  step := func(what string){ c.Place(t,conf); t.Log(what, c.Must(t,"scontrol reconfigure; sleep 3; scontrol show node n1 -o | tr ' ' '\\n' | grep -E 'Weight|AvailableF|RealMem|CfgTRES|State|Gres='; scontrol show part -o | tr ' ' '\\n' | grep -E 'PartitionName|MaxTime|AllowAcc'; scontrol show config | grep -E 'MaxJobCount|SelectTypeParam|AccountingStorageEnf|PrologFlags|TopologyPl|MaxArray|SchedulerParameters|PropagateResourceLimitsE'"), "jobs", c.JobState(t,id), c.JobState(t,id2), c.JobState(t,pend)) }
  conf.Extra="PartitionName=side Nodes=n1 MaxTime=120"; step("limit")
  conf.Nodes["n1"]=slurmtest.GPUNode+" Weight=7 Features=ib"; step("weight+features")
  conf.Nodes["n1"]=strings.Replace(conf.Nodes["n1"],"RealMemory=8000","RealMemory=9000",1); step("more memory")
  conf.Extra="PartitionName=side Nodes=n1 MaxTime=120\nMaxJobCount=20000\nMaxArraySize=3000\nPropagateResourceLimitsExcept=MEMLOCK"; step("maxjobcount")
  conf.Extra="MaxJobCount=20000"; step("partition removed")
  _ = time.Second
  t.Log(c.Must(t,"tail -n 15 /var/log/slurmctld.log"))
  })
 }
}
