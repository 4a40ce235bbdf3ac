package lab

import (
	"archive/tar"
	"bytes"
	_ "embed" // programs that run inside a host
	"fmt"
	"io"
	"path"
	"strings"
)

//go:embed guest/init.sh
var guestInit string

//go:embed guest/devices.sh
var guestDevices string

//go:embed guest/nvidia-smi.py
var guestNvidiaSMI string

const (
	hostKeyFile = "/etc/ssh/ssh_host_ed25519_key"
	sudoersFile = "/etc/sudoers.d/gpucluster-lab-ops"
	// opsID is the uid and gid of the user ops in the image.
	opsID = 890
)

// guestFile is a file that the lab places on a host.
type guestFile struct {
	path    string
	mode    int64
	owner   int
	content []byte
}

// files lists what the lab owns on a host. The host's private key is there only when it is
// to be placed.
func (s HostSpec) files(key *KeyPair) []guestFile {
	list := []guestFile{
		{guestDir + "/init", 0o755, 0, []byte(guestInit)},
		{guestDir + "/devices", 0o755, 0, []byte(guestDevices)},
		{guestDir + "/nvidia-smi", 0o755, 0, []byte(guestNvidiaSMI)},
		{etcDir + "/devices", 0o644, 0, []byte(s.devices())},
		{etcDir + "/gpus.json", 0o644, 0, s.gpusJSON()},
		{HardwareFile, 0o644, 0, s.hardwareJSON()},
		{"/root/.ssh/authorized_keys", 0o600, 0, []byte(s.AuthorizedKey + "\n")},
	}
	opsKey, sudoers := "", "# The user ops is not in use here.\n"
	if s.SudoUser {
		opsKey, sudoers = s.AuthorizedKey+"\n", "ops ALL=(ALL:ALL) NOPASSWD: ALL\n"
	}
	list = append(list,
		guestFile{"/home/ops/.ssh/authorized_keys", 0o600, opsID, []byte(opsKey)},
		guestFile{sudoersFile, 0o440, 0, []byte(sudoers)})
	if key != nil {
		list = append(list,
			guestFile{hostKeyFile, 0o600, 0, []byte(key.Private)},
			guestFile{hostKeyFile + ".pub", 0o644, 0, []byte(key.Public + "\n")})
	}
	return list
}

// ownFolders are the folders that may have to be made, with their modes and owners; every
// other folder is in the image.
var ownFolders = map[string]guestFile{
	guestDir:         {mode: 0o755},
	etcDir:           {mode: 0o755},
	"/root/.ssh":     {mode: 0o700},
	"/home/ops/.ssh": {mode: 0o700, owner: opsID},
}

// archiveOf packs files for `docker cp - <container>:/`.
func archiveOf(files []guestFile) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{}
	for _, f := range files {
		dir := path.Dir(f.path)
		if own, ok := ownFolders[dir]; ok && !made[dir] {
			made[dir] = true
			h := &tar.Header{Typeflag: tar.TypeDir, Name: dir[1:] + "/", Mode: own.mode, Uid: own.owner, Gid: own.owner}
			if err := w.WriteHeader(h); err != nil {
				return nil, err
			}
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.path[1:], Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content))}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// firstFile returns the content of the first regular file in an archive.
func firstFile(archive string) ([]byte, error) {
	r := tar.NewReader(strings.NewReader(archive))
	for {
		h, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("reading a file of a host: %w", err)
		}
		if h.Typeflag == tar.TypeReg {
			return io.ReadAll(r)
		}
	}
}
