package playbook

// The playbooks of the embedded tree.
const (
	Baseline         Playbook = "baseline"
	SharedHome       Playbook = "shared_home"
	SharedHomeRemove Playbook = "shared_home_remove"
	Database         Playbook = "database"
	DatabaseRemove   Playbook = "database_remove"
	Controller       Playbook = "controller"
	ControllerRemove Playbook = "controller_remove"
	Login            Playbook = "login"
	LoginRemove      Playbook = "login_remove"
	Compute          Playbook = "compute"
	ComputeRemove    Playbook = "compute_remove"
)
