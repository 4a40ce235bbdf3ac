package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// refName is the annotation by which an OCI layout names what is in it.
const refName = "org.opencontainers.image.ref.name"

// writeImages makes all images as one OCI layout. Layers that images share are one.
func (b *builder) writeImages(ctx context.Context, file func(string) string, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making images: %w", err)
	}
	out, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("making images: %w", err)
	}
	made := map[string]v1.Layer{}
	for _, spec := range b.table.Images {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.say("image %s", spec.Name)
		image, err := b.image(spec, file, made)
		if err == nil {
			err = out.AppendImage(image, layout.WithAnnotations(map[string]string{refName: spec.Name}))
		}
		if err != nil {
			return fmt.Errorf("making the image %s: %w", spec.Name, err)
		}
	}
	return nil
}

func (b *builder) image(spec artifacts.Image, file func(string) string, made map[string]v1.Layer) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	var layers []v1.Layer
	add := func(key string, entries func() ([]entry, error)) error {
		if made[key] == nil {
			list, err := entries()
			if err != nil {
				return err
			}
			if made[key], err = newLayer(list); err != nil {
				return err
			}
		}
		layers = append(layers, made[key])
		return nil
	}
	if err := add("base", func() ([]entry, error) { return base, nil }); err != nil {
		return nil, err
	}
	for _, l := range spec.Layers {
		if err := add(l.Program+" "+l.Path, func() ([]entry, error) { return programEntries(l, file(l.Program)), nil }); err != nil {
			return nil, err
		}
	}
	if spec.NetTables {
		if err := add("nft", netTablesEntries); err != nil {
			return nil, err
		}
	}
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config.Entrypoint, config.Config.User = spec.Entrypoint, spec.User
	config.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return mutate.ConfigFile(image, config)
}

// entry is a file of a layer: content out of a file or a text, a link, or a folder.
type entry struct {
	path, file, text, link string
	mode                   int64
	folder                 bool
}

// base is what programs expect of any system.
var base = []entry{
	{path: "/etc", folder: true, mode: 0o755},
	{path: "/etc/passwd", mode: 0o644, text: "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin\n"},
	{path: "/etc/group", mode: 0o644, text: "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"},
	{path: "/tmp", folder: true, mode: 0o1777},
}

func programEntries(l artifacts.Layer, file string) []entry {
	list := []entry{{path: l.Path, file: file, mode: 0o755}}
	for _, name := range l.Links {
		list = append(list, entry{path: path.Join(path.Dir(l.Path), name), link: path.Base(l.Path)})
	}
	return list
}

// protocols gives nft their names. It writes numbers without it, and kube-proxy, which reads
// back what an earlier one has left, then takes every service for one that is gone.
var protocols = entry{path: "/etc/protocols", mode: 0o644, text: "ip 0 IP\nicmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nipv6-icmp 58 IPv6-ICMP\nsctp 132 SCTP\n"}

// netTablesEntries keep the paths: the loader looks for libraries where this machine has them.
func netTablesEntries() ([]entry, error) {
	files, err := netTables()
	if err != nil {
		return nil, err
	}
	list := []entry{protocols}
	for _, f := range files {
		list = append(list, entry{path: f, file: f, mode: 0o755})
	}
	for _, name := range []string{"iptables", "ip6tables"} {
		list = append(list, entry{path: "/usr/sbin/" + name, link: filepath.Base(xtables)})
	}
	return list, nil
}

// newLayer makes a layer; the same entries make the same bytes. Speed matters more than size: it travels over one bridge.
func newLayer(entries []entry) (v1.Layer, error) {
	open := func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeEntries(w, entries)) }()
		return r, nil
	}
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.BestSpeed), tarball.WithMediaType(types.OCILayer))
}

func writeEntries(to io.Writer, entries []entry) error {
	w := tar.NewWriter(to)
	for _, e := range entries {
		if err := writeEntry(w, e); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeEntry(w *tar.Writer, e entry) error {
	h := &tar.Header{Name: e.path[1:], Mode: e.mode, ModTime: time.Unix(0, 0)}
	switch {
	case e.folder:
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		return w.WriteHeader(h)
	case e.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		return w.WriteHeader(h)
	case e.file == "":
		h.Typeflag, h.Size = tar.TypeReg, int64(len(e.text))
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := io.WriteString(w, e.text)
		return err
	}
	f, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
