package features

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Limits of what is loaded, so that a wrong file is an error and not a dead process.
const (
	maxFiles    = 256
	maxFileSize = 1 << 20
)

//go:embed views/*.yaml services/*.yaml
var builtin embed.FS

func definitionFiles(src Source) ([]string, error) {
	var files []string
	err := fs.WalkDir(src.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := path.Ext(p); !d.IsDir() && (ext == ".yaml" || ext == ".yml") {
			files = append(files, p)
		}
		if len(files) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list definitions of %s: %w", src.Name, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("list definitions of %s: no .yaml file", src.Name)
	}
	return files, nil
}

func readLimited(fsys fs.FS, file string) ([]byte, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFileSize {
		return nil, fmt.Errorf("larger than %d bytes", maxFileSize)
	}
	return text, nil
}

// checkUnique refuses a second definition of a view's version, and versions of one view
// that are keyed differently: "view:feature" must mean the same entity in each.
func checkUnique(views []*View, faults *Faults) {
	first := make(map[string]*View)
	keyed := make(map[string]*View)
	for _, v := range views {
		ref := v.Ref()
		if w, ok := first[ref]; ok {
			faults.add(v.File, v.Line, "view %s is already defined at %s:%d", ref, w.File, w.Line)
			continue
		}
		first[ref] = v
		if w, ok := keyed[v.Name]; ok && (v.Entity != w.Entity || !slices.Equal(v.Keys, w.Keys)) {
			faults.add(v.File, v.Line, "view %s has entity %s %v, but %s has %s %v",
				ref, v.Entity, v.Keys, w.Ref(), w.Entity, w.Keys)
			continue
		}
		keyed[v.Name] = v
	}
}
