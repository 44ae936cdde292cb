package features

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Limits of what is loaded, so that a wrong file is an error and not a dead process.
const (
	maxFiles    = 256
	maxFileSize = 1 << 20
)

//go:embed views/*.yaml
var builtin embed.FS

// Builtin is the views that come with the program.
func Builtin() ([]*View, error) {
	sub, err := fs.Sub(builtin, "views")
	if err != nil {
		return nil, fmt.Errorf("embedded views: %w", err)
	}
	return Load(sub)
}

// Load reads every .yaml and .yml file of fsys, at any depth, one view each, and returns
// the views ordered by name and version. When definitions are wrong the error is a Faults
// with every fault of every file, and no view is returned: a set that is half loaded would
// silently stop features that somebody reads.
func Load(fsys fs.FS) ([]*View, error) {
	files, err := viewFiles(fsys)
	if err != nil {
		return nil, err
	}
	var views []*View
	var faults Faults
	for _, file := range files {
		text, err := readLimited(fsys, file)
		if err != nil {
			faults.add(file, 1, "%v", err)
			continue
		}
		if v := decodeView(file, text, &faults); v != nil {
			views = append(views, v)
		}
	}
	checkUnique(views, &faults)
	if err := faults.err(); err != nil {
		return nil, err
	}
	slices.SortFunc(views, func(a, b *View) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.Version - b.Version
	})
	return views, nil
}

func viewFiles(fsys fs.FS) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
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
		return nil, fmt.Errorf("list feature views: %w", err)
	}
	if len(files) == 0 {
		return nil, errors.New("list feature views: no .yaml file")
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
