package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// writeBinaries places the programs of hosts, a folder for each version with their checksums. Several names of one program
// are one file.
func writeBinaries(binaries []artifacts.Binary, file func(string) string, folder string) error {
	sums := map[string]string{}
	for _, b := range binaries {
		to := filepath.Join(folder, b.Version)
		if err := os.MkdirAll(to, 0o755); err != nil {
			return fmt.Errorf("placing binaries: %w", err)
		}
		if err := os.Link(file(b.Program), filepath.Join(to, b.Name)); err != nil {
			return fmt.Errorf("placing binaries: %w", err)
		}
		sum, err := fileDigest(file(b.Program))
		if err != nil {
			return err
		}
		sums[to] += sum + "  " + b.Name + "\n"
	}
	for to, lines := range sums {
		if err := os.WriteFile(filepath.Join(to, "SHA256SUMS"), []byte(lines), 0o644); err != nil {
			return fmt.Errorf("placing binaries: %w", err)
		}
	}
	return nil
}

// writeCharts packs each chart as Helm does: one folder with the chart's name.
func (b *builder) writeCharts(ctx context.Context, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("packing charts: %w", err)
	}
	for _, c := range b.table.Charts {
		module, err := b.moduleFolder(ctx, c)
		if err != nil {
			return err
		}
		content, err := packChart(c, filepath.Join(module, filepath.FromSlash(c.Folder)))
		if err != nil {
			return fmt.Errorf("packing the chart %s: %w", c.Name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, c.File()), content, 0o644); err != nil {
			return fmt.Errorf("packing the chart %s: %w", c.Name, err)
		}
	}
	return nil
}

// moduleFolder is where a module's files are; they are downloaded again where the program of the set was at hand already.
func (b *builder) moduleFolder(ctx context.Context, c artifacts.Chart) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", c.Module)
	cmd.Dir, cmd.Env = filepath.Join(b.tools, c.Set), append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	var module struct{ Dir, Error string }
	if unreadable := json.Unmarshal(out, &module); err == nil {
		err = unreadable
	}
	if err != nil {
		return "", fmt.Errorf("downloading the module %s: %w %s", c.Module, err, module.Error)
	}
	return module.Dir, nil
}

// packChart makes the archive of a chart's folder. Tests and what only packagers read stay out.
func packChart(c artifacts.Chart, folder string) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	w := tar.NewWriter(compressed)
	source := os.DirFS(folder)
	err := fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name == "tests" {
				return fs.SkipDir
			}
			return nil
		}
		content, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		if content, err = released(name, content, map[string][]artifacts.Replacement{"values.yaml": c.Values, "Chart.yaml": c.Metadata}[name]); err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(c.Name, name), Mode: 0o644, Size: int64(len(content))}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// released changes the lines of a chart's file that upstream changes when it releases the chart.
func released(file string, content []byte, changes []artifacts.Replacement) ([]byte, error) {
	for _, r := range changes {
		if !bytes.Contains(content, []byte(r.Old)) {
			return nil, fmt.Errorf("%s has no %q", file, strings.TrimSpace(r.Old))
		}
		content = bytes.Replace(content, []byte(r.Old), []byte(r.New), 1)
	}
	return content, nil
}

// xtables is iptables and ip6tables in one program. flannel asks for both at its start, to
// take back what an earlier one may have left, also where it works with nft alone.
const xtables = "/usr/sbin/xtables-nft-multi"

// netTables lists nft, xtables and the libraries that they load, on this machine.
func netTables() ([]string, error) {
	files := []string{"/usr/sbin/nft", xtables}
	out, err := exec.Command("ldd", files...).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the libraries of %s, of Debian's packages nftables and iptables: %w", strings.Join(files, " and "), err)
	}
	for line := range strings.Lines(string(out)) {
		// "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", or the loader's path alone.
		for _, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "/") && !strings.HasSuffix(word, ":") {
				files = append(files, word)
				break
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
