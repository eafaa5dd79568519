package health

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// describeSkew returns which of three versions do not fit: the operator's, that of this program,
// and that of the chart which installed it. Builds that are no releases are not compared.
func describeSkew(operator, own, chart string) (all []string) {
	if countMinors(operator, own) > 1 {
		all = append(all, fmt.Sprintf("this program is %s and the operator %s: use one that is at most one minor version apart", own, operator))
	}
	if countMinors(operator, chart) > 0 {
		all = append(all, fmt.Sprintf("the chart is of %s and the operator %s: its rights and flags may not fit; leave image.tag out, or upgrade the chart",
			chart, operator))
	}
	return all
}

// countMinors returns by how many minor versions two versions differ. The result is 100 for another
// major version, and 0 if one of them is not that of a release.
func countMinors(a, b string) int {
	x, err := version.ParseSemantic(a)
	if err != nil {
		return 0
	}
	y, err := version.ParseSemantic(b)
	if err != nil {
		return 0
	}
	if x.Major() != y.Major() {
		return 100
	}
	return max(int(x.Minor())-int(y.Minor()), int(y.Minor())-int(x.Minor())) //nolint:gosec // minor versions are small
}
