package roots

import (
	"context"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"github.com/jacquard-operator/jacquard/engine/folder"
)

// patience is how long a test waits for an event of the kernel.
const patience = time.Minute

// A watched is a root whose changes a running Reader follows. Its clock moves only
// after an event, so that nothing is read without one.
type watched struct {
	*testing.T
	clock    *clocktesting.FakeClock
	events   chan struct{}
	readings chan Reading
	last     Reading
}

func watch(t *testing.T, dir string) *watched {
	t.Helper()
	w := &watched{T: t, clock: clocktesting.NewFakeClock(time.Unix(1_000_000, 0)), events: make(chan struct{}), readings: make(chan Reading)}
	reader := NewReader(w.clock, []*folder.Root{folder.FromDir(dir)})
	ctx, stop := context.WithCancel(t.Context())
	reader.eventSeen = func() {
		select {
		case w.events <- struct{}{}:
		case <-ctx.Done():
		}
	}
	done := make(chan error)
	go func() {
		done <- reader.Run(ctx, func(_ context.Context, r Reading) {
			select {
			case w.readings <- r:
			case <-ctx.Done():
			}
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	w.last = <-w.readings
	return w
}

// await waits until a reading that follows an event is as wanted. Without an event,
// little time passes.
func (w *watched) await(what string, wanted func(Reading) bool) {
	w.Helper()
	limit := time.After(patience)
	for !wanted(w.last) {
		select {
		case <-w.events:
			w.clock.Step(debounce)
		case w.last = <-w.readings:
			for !w.last.Next.IsZero() && !w.clock.HasWaiters() {
				runtime.Gosched() // until it waits for the folder to be quiet
			}
			if !w.last.Next.IsZero() {
				w.clock.Step(QuietPeriod)
			}
		case <-limit:
			w.Fatalf("no event led to a reading with %s: %+v", what, w.last)
		}
	}
}

// has is a wanted reading: of no missing root, with a text in the folder.
func has(text string) func(Reading) bool {
	return func(r Reading) bool {
		if len(r.Missing) > 0 || len(r.Sources) != 1 || r.Sources[0].Err != nil {
			return false
		}
		all := r.Sources[0].Folder.All()
		return len(all) == 1 && strings.Contains(string(all[0].Data), text)
	}
}

// version writes a root whose only folder has a text.
func version(t *testing.T, root, text string) {
	t.Helper()
	writeFile(t, filepath.Join(root, "templates", kindName, "all.yaml"), strings.Replace(first, "one", text, 1))
}

// TestGitSync: git-sync swaps a link to a worktree, and removes the old worktree later.
func TestGitSync(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	variables := strings.NewReplacer("$top", top)
	swap := func(to string) {
		version(t, filepath.Join(top, ".worktrees", to), to)
		shell(t, variables.Replace("ln -s .worktrees/"+to+" $top/tmp; mv -T $top/tmp $top/current"))
	}
	swap("v-one")
	w := watch(t, filepath.Join(top, "current"))
	for _, now := range []string{"v-two", "v-three", "v-four"} {
		swap(now)
		w.await(now, has(now))
		shell(t, variables.Replace("for w in $top/.worktrees/*; do [ $w = $top/.worktrees/"+now+" ] || rm -r $w; done"))
	}
	version(t, filepath.Join(top, "current"), "edited-in-place") // in the worktree of now
	w.await("the edited file", has("edited-in-place"))
	shell(t, variables.Replace("rm $top/current"))
	w.await("a missing root", func(r Reading) bool { return len(r.Missing) == 1 && len(r.Sources) == 1 && !r.Missing[0].NeverRead })
	swap("v-five-is-here")
	w.await("the link that is back", has("v-five"))
}

// TestDirectorySwaps: a directory that takes the place of another is read and watched.
func TestDirectorySwaps(t *testing.T) {
	for name, commands := range map[string]string{
		"the root moved":      "mv $top/live $top/old; mv $top/next $top/live; rm -r $top/old",
		"the root copied":     "rm -r $top/live; cp -r $top/next $top/live",
		"templates/ moved":    "mv $top/live/templates $top/old; mv $top/next/templates $top/live/templates",
		"templates/ copied":   "rm -r $top/live/templates; cp -r $top/next/templates $top/live",
		"the folder moved":    "mv $top/live/templates/* $top/old; mv $top/next/templates/* $top/live/templates",
		"the folder copied":   "rm -r $top/live/templates/*; cp -r $top/next/templates/* $top/live/templates",
		"a file renamed":      "mv $top/next/templates/*/all.yaml $top/live/templates/*/",
		"templates/ a link":   "rm -r $top/live/templates; ln -s ../next/templates $top/live/templates; rm $top/live/templates; mv $top/next/templates $top/live",
		"a link inside":       "mv $top/next/templates $top/live/next; rm -r $top/live/templates; ln -s next $top/live/templates",
		"the root made first": "rm -r $top/live; mkdir $top/live; mkdir $top/live/templates; cp -r $top/next/templates/* $top/live/templates/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			version(t, filepath.Join(top, "live"), "one")
			version(t, filepath.Join(top, "next"), "two-is-longer")
			w := watch(t, filepath.Join(top, "live"))
			w.await("the first version", has("one"))
			shell(t, strings.ReplaceAll(commands, "$top", top))
			w.await("the second version", has("two"))
			version(t, filepath.Join(top, "live"), "three-is-even-longer")
			w.await("the third version", has("three"))
		})
	}
}

// TestConfigMapVolume: the kubelet swaps ..data, which the files of a folder are links
// into.
func TestConfigMapVolume(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir := filepath.Join(top, "templates", kindName)
	update := func(text string) {
		writeFile(t, filepath.Join(dir, ".."+text, "all.yaml"), strings.Replace(first, "one", text, 1))
		shell(t, "cd "+dir+"; ln -sfn ..data/all.yaml all.yaml; ln -s .."+text+" ..tmp; mv -T ..tmp ..data; "+
			"for o in ..[a-z]*; do case $o in ..data|.."+text+") ;; *) rm -r $o;; esac; done")
	}
	update("one")
	w := watch(t, top)
	for _, now := range []string{"two", "three"} {
		update(now)
		w.await(now, has(now))
	}
}

// TestRootComesLate: a root that is not there yet is read when it comes, wherever on
// the way to it something was missing.
func TestRootComesLate(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	w := watch(t, filepath.Join(top, "git", "current", "deploy"))
	if m := w.last.Missing; len(m) != 1 || !m[0].NeverRead || !strings.Contains(m[0].Err.Error(), "deploy") {
		t.Fatalf("missing: %+v", m)
	}
	for _, command := range []string{"mkdir $top/git", "ln -s one $top/git/current", "mkdir $top/git/one"} {
		shell(t, strings.ReplaceAll(command, "$top", top))
		w.last.Changed = time.Time{}
		w.await("an event after "+command, func(r Reading) bool { return !r.Changed.IsZero() && len(r.Missing) == 1 })
	}
	version(t, filepath.Join(top, "git", "one", "deploy"), "here")
	w.await("the root", has("here"))
}

// TestBusyNeighbours: files beside a root, and beside the links to it, are no events.
func TestBusyNeighbours(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	version(t, filepath.Join(top, "real"), "one")
	shell(t, "ln -s real "+filepath.Join(top, "live"))
	root := folder.FromDir(filepath.Join(top, "live"))
	w := (&Reader{roots: []*rootReader{{root: root}}}).watchAgain(t.Context(), nil)
	defer w.close()
	for file, want := range map[string]bool{
		"live": true, "real": true, "other": false, "real/templates": true, "real/notes.txt": true, "real/templates/" + kindName + "/x": true,
		"": false,
	} {
		if got := w.isRelevant(filepath.Join(top, file)); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

// TestMissing: what a root lacks, and when it is missing.
func TestMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		make, later string
		optional    bool
		want, then  string
	}{
		"there":                            {"mkdir -p $r/templates", ":", false, "", ""},
		"not there":                        {":", ":", false, "no such file", "no such file"},
		"empty":                            {"mkdir $r", ":", false, "neither templates/ nor crds/", "neither templates/ nor crds/"},
		"the current directory, empty":     {"mkdir $r", ":", true, "", ""},
		"definitions only":                 {"mkdir -p $r/crds", ":", false, "", ""},
		"definitions only, then templates": {"mkdir -p $r/crds", "mkdir $r/templates", false, "", ""},
		"templates/ goes":                  {"mkdir -p $r/templates $r/crds", "rmdir $r/templates", false, "", "no templates/ any more"},
		"the current directory's goes":     {"mkdir -p $r/templates", "rmdir $r/templates", true, "", "no templates/ any more"},
		"it goes":                          {"mkdir -p $r/templates", "rm -r $r", false, "", "no such file"},
		"it comes":                         {":", "mkdir -p $r/templates", false, "no such file", ""},
		"a file":                           {": > $r", ":", false, "not a directory", "not a directory"},
		"a link to nothing":                {"ln -s nothing $r", ":", false, "no such file", "no such file"},
		"templates/ is a file":             {"mkdir $r; : > $r/templates", ":", false, "not a directory", "not a directory"},
	} {
		dir := filepath.Join(t.TempDir(), "root")
		shell(t, strings.ReplaceAll(tt.make, "$r", dir))
		root := folder.FromDir(dir)
		if tt.optional {
			root = root.AsOptional()
		}
		r := NewReader(clocktesting.NewFakeClock(time.Unix(1000, 0)), []*folder.Root{root})
		for i, want := range []string{tt.want, tt.then} {
			if i == 1 {
				shell(t, strings.ReplaceAll(tt.later, "$r", dir))
			}
			got := ""
			for _, m := range r.Read().Missing {
				got = m.Err.Error()
			}
			if (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s, %d: %q, want %q", name, i, got, want)
			}
		}
	}
}
