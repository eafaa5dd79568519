package life

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	k := newThing(t, "zz", with(plain(), map[string]string{"deployment.yaml": deployment}))
	other := newThing(t, "zzother", plain())
	k.run(t).Stop(t)
	for i := range 10 {
		k.apply(t, fmt.Sprint("a", i), "")
	}
	for i := range 60 {
		op := k.run(t, other)
		time.Sleep(time.Duration(i*20) * time.Millisecond)
		timer := time.AfterFunc(6*time.Second, func() {
			b := make([]byte, 4<<20)
			os.WriteFile("/tmp/zz-stacks.txt", b[:runtime.Stack(b, true)], 0o644)
			os.Exit(3)
		})
		op.Stop(t)
		timer.Stop()
	}
}
