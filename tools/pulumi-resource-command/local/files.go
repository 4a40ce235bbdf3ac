package local

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/gobwas/glob"
	"github.com/pulumi/pulumi-go-provider/infer/types"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
)

// collectFiles fills the assets and the archive of out with the files below dir that in asks for.
func collectFiles(dir string, in BaseInputs, out *BaseOutputs) error {
	if in.AssetPaths != nil {
		assets, err := matchFiles(dir, *in.AssetPaths)
		if err != nil {
			return fmt.Errorf("reading assetPaths: %w", err)
		}
		members := make(map[string]types.AssetOrArchive, len(assets))
		for name, asset := range assets {
			members[name] = types.AssetOrArchive{Asset: asset}
		}
		out.Assets = &members
	}
	if in.ArchivePaths != nil {
		assets, err := matchFiles(dir, *in.ArchivePaths)
		if err != nil {
			return fmt.Errorf("reading archivePaths: %w", err)
		}
		members := make(map[string]any, len(assets))
		for name, asset := range assets {
			members[name] = asset
		}
		if out.Archive, err = resource.NewAssetArchive(members); err != nil {
			return fmt.Errorf("reading archivePaths: %w", err)
		}
	}
	return nil
}

// matchFiles returns the files below dir that the globs select, by their path below dir. The last glob that matches a
// file decides; one that begins with ! leaves it out.
func matchFiles(dir string, globs []string) (map[string]*resource.Asset, error) {
	type rule struct {
		glob    glob.Glob
		exclude bool
	}
	rules := make([]rule, 0, len(globs))
	for _, text := range globs {
		pattern, exclude := strings.CutPrefix(text, "!")
		compiled, err := glob.Compile(pattern, '/')
		if err != nil {
			return nil, fmt.Errorf("glob %q: %w", text, err)
		}
		rules = append(rules, rule{compiled, exclude})
	}
	assets := map[string]*resource.Asset{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		selected := false
		for _, rule := range rules {
			if rule.glob.Match(name) {
				selected = !rule.exclude
			}
		}
		if !selected {
			return nil
		}
		assets[name], err = resource.NewPathAsset(path.Join(dir, name))
		return err
	})
	return assets, err
}
