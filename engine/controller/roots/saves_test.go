package roots

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

const (
	kindName = "saveds.bugs.example.com"
	first    = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n"
	second   = "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: two\n"
	other    = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: three\n"
)

// A live is a root that a Reader reads, with a clock that only the test moves.
type live struct {
	*testing.T
	*Reader
	dir   string
	clock *clocktesting.FakeClock
	last  Reading
}

// readLive starts to read a root.
func readLive(t *testing.T, dir string) *live {
	t.Helper()
	clock := clocktesting.NewFakeClock(time.Unix(1_000_000, 0))
	l := &live{T: t, dir: dir, clock: clock, Reader: NewReader(clock, []*folder.Root{folder.FromDir(dir)})}
	l.last = l.Read()
	return l
}

// write writes a file of the root in one step.
func (l *live) write(name, text string) {
	l.Helper()
	writeFile(l.T, filepath.Join(l.dir, name), text)
}

func shell(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("sh", "-ec", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// pass lets time pass and reads all the while.
func (l *live) pass(d time.Duration, check func()) {
	l.Helper()
	for end := l.clock.Now().Add(d); ; l.clock.Step(min(100*time.Millisecond, end.Sub(l.clock.Now()))) {
		if l.last = l.Read(); check != nil {
			check()
		}
		if !l.clock.Now().Before(end) {
			return
		}
	}
}

// source is what counts of the kind, or nil.
func (l *live) source() *folder.Source {
	if i := slices.IndexFunc(l.last.Sources, func(s folder.Source) bool { return s.Kind == kindName }); i >= 0 {
		return &l.last.Sources[i]
	}
	return nil
}

// texts is what counts of the kind, as one text.
func (l *live) texts() string {
	switch s := l.source(); {
	case s == nil:
		return "none"
	case s.Err != nil:
		return s.Err.Error()
	default:
		var b strings.Builder
		for _, f := range s.Folder.All() {
			b.WriteString(f.Name + ":\n" + string(f.Data))
		}
		return b.String()
	}
}

// A step is a shell command, and how long the next one is waited for. In a command,
// $r is the root, $d the folder, $f its file all.yaml and $k a copy of the folder.
type step struct {
	command string
	hold    time.Duration
}

// waysToSave are ways to write a folder that is the same in the end.
func waysToSave() map[string][]step {
	const seconds = time.Second
	ways := map[string][]step{
		"vim's 4913":                 {{"touch $d/4913", seconds}, {"rm $d/4913", 0}},
		"a swap file":                {{"cp $f $d/.all.yaml.swp", seconds}, {"rm $d/.all.yaml.swp", 0}},
		"an auto-save file of emacs": {{"cp $f '$d/#all.yaml#'", 3 * seconds}, {"rm '$d/#all.yaml#'", 0}},
		"a lock file of emacs":       {{"ln -s me@host.1 $d/.#all.yaml", 3 * seconds}, {"rm $d/.#all.yaml", 0}},
		"a left-over .orig":          {{"cp $f $f.orig", 3 * seconds}, {"rm $f.orig", 0}},
		"an atomic rename":           {{"cp $f $f.tmp", 0}, {"mv $f.tmp $f", 0}},
		"sed -i":                     {{"sed -i s/two/two/ $f", 0}},
		"touch":                      {{"touch $f", 0}},
		"a link that is swapped":     {{"cp $f $d/..two; ln -sfn ..two $d/..link; mv -T $d/..link $f", 0}},
		"both files truncated":       {{": > $f", seconds}, {": > $d/other.yaml", seconds}, {"cp $k/all.yaml $f", seconds}, {"cp $k/other.yaml $d", 0}},
		"the whole directory":        {{"cp -r $d $d.new", 0}, {"rm -r $d", 0}, {"mv $d.new $d", 0}},
		"templates/ away for long":   {{"mv $r/templates $r/x", 20 * seconds}, {"mv $r/x $r/templates", 0}},
		"the root away for long":     {{"mv $r $r.old", 20 * seconds}, {"mv $r.old $r", 0}},
		"the root removed and copied slowly": {{"rm -r $r", 20 * seconds}, {"mkdir $r", 20 * seconds}, {"mkdir $r/templates", 4 * seconds},
			{"mkdir $d", 4 * seconds}, {"cp $k/all.yaml $d", 4 * seconds}, {"cp $k/other.yaml $d", 0}},
	}
	for _, hold := range []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, seconds, 3 * seconds} {
		h := " for " + hold.String()
		ways["truncated"+h] = []step{{": > $f", hold}, {"cat $k/all.yaml > $f", 0}}
		ways["blank"+h] = []step{{"echo > $f", hold}, {"cat $k/all.yaml > $f", 0}}
		ways["first document only"+h] = []step{{"head -4 $k/all.yaml > $f", hold}, {"cat $k/all.yaml > $f", 0}}
		ways["absent"+h] = []step{{"rm $f", hold}, {"cp $k/all.yaml $f", 0}}
		ways["moved to a backup"+h] = []step{{"mv $f $f~", hold}, {"cp $k/all.yaml $f; rm $f~", 0}}
		ways["directory absent"+h] = []step{{"mv $d $r/x", hold}, {"mv $r/x $d", 0}}
	}
	return ways
}

// newSaved makes a root with a folder, and returns it and the variables of its steps.
func newSaved(t *testing.T) (root string, variables *strings.Replacer) {
	t.Helper()
	top := t.TempDir()
	root = filepath.Join(top, "live")
	dir, kept := filepath.Join(root, "templates", kindName), filepath.Join(top, "kept")
	for _, dir := range []string{dir, kept} {
		writeFile(t, filepath.Join(dir, "all.yaml"), first+second)
		writeFile(t, filepath.Join(dir, "other.yaml"), other)
	}
	return root, strings.NewReplacer("$r", root, "$d", dir, "$f", filepath.Join(dir, "all.yaml"), "$k", kept)
}

// TestSaves: however editors and tools save a file that stays the same, and whenever it
// is read meanwhile, the folder counts as it was.
func TestSaves(t *testing.T) {
	for name, steps := range waysToSave() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, variables := newSaved(t)
			l := readLive(t, root)
			want := l.texts()
			if !strings.Contains(want, "name: two") {
				t.Fatal(want)
			}
			unchanged := func() {
				t.Helper()
				if got := l.texts(); got != want {
					t.Fatalf("what counts is now:\n%s", got)
				}
			}
			l.pass(10*time.Second, unchanged)
			for _, s := range steps {
				shell(t, variables.Replace(s.command))
				l.pass(s.hold, unchanged)
			}
			l.pass(10*time.Second, unchanged)
			if len(l.last.Waiting) > 0 || len(l.last.Missing) > 0 {
				t.Errorf("at the end: %+v %+v", l.last.Waiting, l.last.Missing)
			}
		})
	}
}

// TestGrowsAtOnce: what adds something counts with the next reading, what loses
// something after five quiet seconds.
func TestGrowsAtOnce(t *testing.T) {
	l := readLive(t, t.TempDir())
	dir := "templates/" + kindName + "/"
	l.write(dir+"all.yaml", first)
	l.pass(0, nil)
	if got := l.texts(); got != "all.yaml:\n"+first {
		t.Fatalf("a new folder: %s", got)
	}
	l.write(dir+"all.yaml", first+second)
	l.write(dir+"files/empty", "")
	l.pass(0, nil)
	if got := l.texts(); got != "all.yaml:\n"+first+second+"files/empty:\n" {
		t.Fatalf("a document and a file more: %s", got)
	}
	l.write(dir+"all.yaml", first)
	l.pass(QuietPeriod-1, func() {
		if got := l.texts(); !strings.Contains(got, "two") || len(l.last.Waiting) != 1 {
			t.Fatalf("before it was quiet: %s", got)
		}
	})
	if next := l.last.Next; !next.Equal(l.clock.Now().Add(1)) {
		t.Errorf("it is read again at %s", next)
	}
	l.write(dir+"other.yaml", other) // it is not quiet
	l.pass(QuietPeriod-1, nil)
	if got := l.texts(); !strings.Contains(got, "two") || strings.Contains(got, "three") {
		t.Fatalf("while it changes: %s", got)
	}
	l.pass(1, nil)
	if got := l.texts(); got != "all.yaml:\n"+first+"other.yaml:\n"+other+"files/empty:\n" || !l.last.Next.IsZero() {
		t.Fatalf("once it was quiet: %s", got)
	}
	shell(t, "rm -r "+filepath.Join(l.dir, dir))
	l.pass(QuietPeriod-1, nil)
	if l.source() == nil {
		t.Error("the folder was removed before it was quiet")
	}
	l.pass(1, nil)
	if l.source() != nil {
		t.Error("the folder was not removed once it was quiet")
	}
	l.write(dir+"all.yaml", first)
	l.pass(time.Second, nil)
	if l.source() != nil {
		t.Error("a folder that came back with less counts before it is quiet")
	}
	l.pass(QuietPeriod, nil)
	if got := l.texts(); got != "all.yaml:\n"+first {
		t.Errorf("a folder that came back: %s", got)
	}
}

// TestLeftOver: a file that no folder may hold is reported once it stays, and that
// ends when it goes.
func TestLeftOver(t *testing.T) {
	for _, name := range []string{"all.yaml~", "#all.yaml#", "4913", "all.yaml.orig", "all.yaml.swp", "blank.yaml", "_blank.tpl"} {
		l := readLive(t, t.TempDir())
		dir := "templates/" + kindName + "/"
		l.write(dir+"all.yaml", first)
		l.pass(time.Minute, nil)
		l.write(dir+name, "\n")
		l.pass(QuietPeriod, nil)
		if err := l.source().Err; err == nil || !strings.Contains(err.Error(), dir+name) {
			t.Errorf("%s: %v", name, err)
		}
		shell(t, "rm '"+filepath.Join(l.dir, dir, name)+"'")
		l.pass(0, nil)
		if got := l.texts(); got != "all.yaml:\n"+first {
			t.Errorf("%s was removed: %s", name, got)
		}
	}
}
