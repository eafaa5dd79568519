package scale

import (
	"fmt"
	"testing"
	"time"
)

// TestFollower: what a warm follower holds in memory, beside its leader.
func TestFollower(t *testing.T) {
	n := sizes(t)[0]
	l := newLoad(t, "follower", map[string]string{"one.yaml": fmt.Sprintf(configMap, "one"), "two.yaml": fmt.Sprintf(configMap, "two")})
	l.make(0, n)
	elect := []string{"--leader-elect", "--leader-election-namespace", "follower"}
	leader := l.run(elect...)
	l.await(n)
	follower := l.run(elect...)
	time.Sleep(20 * time.Second)
	ofLeader, _, _ := leader.memory()
	ofFollower, _, _ := follower.memory()
	l.table.add("", "leader", "follower")
	l.table.add("---", "---", "---")
	l.table.add("memory", mib(ofLeader), mib(ofFollower))
	l.table.add("CPU at rest", leader.atRest(), follower.atRest())
	l.write(fmt.Sprintf("Two replicas, %d resources", n))
}
