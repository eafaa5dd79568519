package replicas

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jacquard-operator/jacquard/engine/api"
)

// mostLate is how many writes of one replica may be on their way when it is cut off: one of
// each worker.
func mostLate() int { return 4 * len(sorts()) }

// judge compares what replicas wrote with what they served.
func (w *crowd) judge(l *timeline, began time.Time) {
	log := w.written(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	accounts := w.accounts(log)
	users, harmed, told := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, user := range accounts {
		users[user] = true
	}
	for _, e := range w.events {
		harmed[e.user] = harmed[e.user] || !e.planned
		told[e.user] = told[e.user] || e.planned
	}
	for _, r := range w.replicas { // of those that nobody ended: the machine had no time for it
		user := r.access.User()
		harmed[user] = harmed[user] || !told[user] && strings.Contains(r.log.String(), lostLease)
	}
	writes, late, made := 0, map[string]int{}, map[string]int{}
	for _, one := range log {
		kind, name := w.ownerOf(one)
		if name == "" || !users[one.User.Username] {
			continue
		}
		key := one.ObjectRef.Resource + " " + one.ObjectRef.Namespace + "/" + one.ObjectRef.Name
		switch {
		case one.Verb == "delete":
			w.Errorf("%s deleted %s", one.User.Username, key)
		case one.ResponseStatus.Code == 201:
			if made[key]++; made[key] > 1 {
				w.Errorf("%s was made again", key)
			}
		}
		writes++
		mine := slices.ContainsFunc(during(l.eras, one), func(e era) bool {
			return accounts[e.Owner(kind, w.uids[kind+name])] == one.User.Username ||
				slices.ContainsFunc(e.Exclusive[kind], func(yet string) bool { return accounts[yet] == one.User.Username }) // it ends what it began
		})
		if !mine {
			late[one.User.Username]++
			w.Logf("%s wrote %s at %s", one.User.Username, key, one.Received.Format("05.000"))
		}
	}
	w.Logf("%d writes by %d replicas under %d divisions; late: %v", writes, len(users), len(l.eras), late)
	for user, n := range late {
		if !harmed[user] {
			w.Errorf("%s ended in order, and wrote %d times what another replica served", user, n)
		} else if most := mostLate(); n > most {
			w.Errorf("%s wrote %d times what another replica serves, at most %d may be on their way", user, n, most)
		}
	}
	if writes < 100 {
		w.Errorf("there were just %d writes: the test shows nothing", writes)
	}
	w.tellGaps(l.eras, accounts)
	w.tellWaits(log, users)
}

// ownerOf returns the kind and name of the resource whose child or patched object was written.
func (w *crowd) ownerOf(o written) (kind, name string) {
	short, rest, _ := strings.Cut(o.ObjectRef.Name, ".")
	for _, s := range sorts() {
		if o.ObjectRef.Resource == "configmaps" && short == s.short() {
			if _, isKnown := w.uids[s.name()+rest]; isKnown {
				return s.name(), rest
			}
		}
		if s.short() == "patches" && o.ObjectRef.Resource == "serviceaccounts" {
			for i := range w.each {
				_, name := w.in(s, i)
				if strings.Contains(o.RequestURI, "fieldManager="+api.PatchManager(w.uids[s.name()+name])+"&") {
					return s.name(), name
				}
			}
		}
	}
	return "", ""
}

// tellGaps tells how long buckets had no other owner after something happened to theirs,
// while another replica lived.
func (w *crowd) tellGaps(eras []era, accounts map[string]string) {
	gaps := map[string][]time.Duration{}
	for _, e := range w.events {
		if e.alone {
			continue
		}
		for i := range eras[0].Owners {
			n := slices.IndexFunc(eras, func(at era) bool { return at.last.After(e.at) }) - 1
			if n < 0 || i >= len(eras[n].Owners) || accounts[eras[n].Owners[i]] != e.user {
				continue
			}
			for _, next := range eras[n+1:] {
				if owner := next.Owners[i]; owner != "" && accounts[owner] != e.user {
					gaps[e.what] = append(gaps[e.what], next.last.Sub(e.at))
					break
				}
			}
		}
	}
	for what, all := range gaps {
		w.Logf("a bucket whose owner was %s has another one after: %s", what, spread(all))
	}
}

// tellWaits tells how long it took from an edit until a child was written next, while
// things happened to replicas.
func (w *crowd) tellWaits(log []written, users map[string]bool) {
	at := map[string][]time.Time{} // when children were written, by resource
	for _, one := range log {
		if kind, name := w.ownerOf(one); name != "" && users[one.User.Username] {
			key := kind + "/" + name
			at[key] = append(at[key], one.Done)
		}
	}
	var waits []time.Duration
	for _, one := range log {
		if one.ObjectRef.Resource != "things" || one.ObjectRef.Subresource != "" || users[one.User.Username] {
			continue
		}
		short, _, _ := strings.Cut(one.ObjectRef.Name, "-")
		written := at["things."+short+".example.com/"+one.ObjectRef.Name]
		if n := slices.IndexFunc(written, func(t time.Time) bool { return t.After(one.Received) }); n >= 0 {
			waits = append(waits, written[n].Sub(one.Received))
		}
	}
	w.Logf("a child follows an edit after: %s", spread(waits))
}

func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "none"
	}
	slices.Sort(all)
	at := func(of float64) time.Duration { return all[int(of*float64(len(all)-1))].Round(time.Millisecond) }
	return fmt.Sprintf("median %s, 99 of 100 %s, most %s, of %d", at(0.5), at(0.99), at(1), len(all))
}
