package folder

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// filesPrefix stands for files/ where a name may hold no slash, as in the keys
// of a ConfigMap.
const filesPrefix = filesName + "--"

// FromMap makes a folder of files in memory, by name; files--NAME stands for
// files/NAME, and there is no templates/_lib beside it: its partials are among
// the data. Errors call the files by shown and their name.
func FromMap(name, shown string, data map[string][]byte) (*Folder, error) {
	f := &Folder{Name: name}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(data)) {
		file := key
		below, inFiles := strings.CutPrefix(key, filesPrefix)
		if inFiles {
			file = path.Join(filesName, below)
		}
		as := path.Join(shown, file)
		switch {
		case !inFiles && !isKnown(key), inFiles && (below == "" || strings.Contains(below, "/")):
			errs = append(errs, fmt.Errorf("%s: a folder holds *.yaml, _*.tpl and %sNAME, nothing else: rename or remove it", as, filesPrefix))
		case len(data[key]) > MaxFile:
			errs = append(errs, fmt.Errorf("reading %s: it is larger than %d bytes", as, MaxFile))
		default:
			errs = append(errs, f.addFile(file, File{Shown: as, Data: data[key]}))
		}
	}
	f.Digest = f.computeDigest()
	return f, errors.Join(errs...)
}
