package controller

import (
	"fmt"

	"github.com/jacquard-operator/jacquard/engine/controller/shard"
)

// describeConflict returns why a kind is not served here, and how to take it over.
func describeConflict(name string, mine shard.Shard, other shard.Claim) string {
	why := fmt.Sprintf("operator %s serves this kind, so %s does not", other.Identity, mine.Identity)
	if !mine.Whole() || !other.Whole() {
		why = fmt.Sprintf("operator %s serves %s of this kind; %s, which is to serve %s, does not, since a resource could be of both",
			other.Identity, other.Shard, mine.Identity, mine)
	}
	return fmt.Sprintf("%s; to take it over, stop that operator or remove its folder, then: kubectl annotate crd %s %s-", why, name, other.Key)
}
