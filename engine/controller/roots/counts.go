package roots

import (
	"bytes"
	"path"
	"time"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// QuietPeriod is how long a folder that lost something must stay as it is before it
// counts. Whoever writes a file in two steps has finished by then.
const QuietPeriod = 5 * time.Second

// Files says how much there is of each file of a folder, by name; nil: there is no
// folder that can be read.
type Files map[string]Amount

// An Amount is the size of a file in bytes, and in documents.
type Amount struct{ Bytes, Documents int }

// FilesOf returns the files of a folder.
func FilesOf(f *folder.Folder) Files {
	if f == nil {
		return nil
	}
	files := Files{}
	for _, file := range f.All() {
		name := file.Name
		if folder.IsLib(file) {
			name = path.Join(folder.LibName, name)
		}
		files[name] = amountOf(file.Data)
	}
	return files
}

func amountOf(data []byte) Amount {
	a := Amount{Bytes: len(data), Documents: 1}
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("---")) {
			a.Documents++
		}
	}
	return a
}

// Counts reports whether a folder that now has these files counts at the given time,
// if it had the files before when it counted last, and changed last at changed. What
// was added or edited counts at once. A folder that is gone, cannot be read, or lost a
// file or a part of one may be half written, and counts once it is quiet.
func Counts(before, now Files, changed, at time.Time) bool {
	return !LostPart(before, now) || at.Sub(changed) >= QuietPeriod
}

// LostPart reports whether a file, or a part of one, of those before is not there now.
func LostPart(before, now Files) bool {
	if now == nil {
		return before != nil
	}
	for name, was := range before {
		if is, found := now[name]; !found || is.Bytes < was.Bytes || is.Documents < was.Documents {
			return true
		}
	}
	return false
}
