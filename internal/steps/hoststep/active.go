package hoststep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// Active fails when one of the units does not run on the host, or somebody has
// changed the drop-in that a role placed for it.
func Active(ctx context.Context, session *remote.Session, host string, units ...string) error {
	words := "systemctl is-active --quiet"
	var missing []error
	for _, unit := range units {
		_, err := session.Run(ctx, host, words+" "+unit, nil)
		if remote.IsUnreachable(err) {
			return err
		}
		if err != nil {
			missing = append(missing, fmt.Errorf("%s does not run on %s", unit, host))
		}
	}
	if len(missing) == 0 {
		return dropinsKept(ctx, session, host, units)
	}
	return errors.Join(missing...)
}

// dropinsQuestion lists the drop-ins of units that differ from the digest that
// the module daemon noted down when it placed them.
const dropinsQuestion = `while read -r unit; do
	file=/etc/systemd/system/$unit.service.d/gpucluster.conf
	placed=$(head -c 64 "/var/lib/gpucluster/placed/etc-systemd-system-$unit.service.d-gpucluster.conf.sha256" 2>/dev/null)
	[ -z "$placed" ] || [ "$placed" = "$(sha256sum "$file" 2>/dev/null | head -c 64)" ] || echo "$file"
done`

func dropinsKept(ctx context.Context, session *remote.Session, host string, units []string) error {
	out, err := session.Run(ctx, host, dropinsQuestion, []byte(strings.Join(units, "\n")+"\n"))
	if err != nil {
		return err
	}
	if changed := strings.Fields(out); len(changed) > 0 {
		return fmt.Errorf("files on %s were changed by somebody else: %s", host, strings.Join(changed, "; "))
	}
	return nil
}
