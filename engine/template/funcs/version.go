package funcs

import (
	"errors"
	"fmt"

	"github.com/Masterminds/semver/v3"
)

var versionFuncs = map[string]any{
	"semver":        splitVersion,
	"semverCompare": versionIn,
}

// maxVersion is the most bytes of a version or of a constraint.
const maxVersion = 256

// splitVersion gives the parts of a version under the names that sprig's object
// has: Major, Minor, Patch, Prerelease, Metadata and Original.
func splitVersion(s string) (map[string]any, error) {
	v, err := parseVersion(0, s)
	if err != nil {
		return nil, err
	}
	parts := map[string]any{
		"Prerelease": v.Prerelease(), "Metadata": v.Metadata(), "Original": v.Original(),
	}
	for name, n := range map[string]uint64{"Major": v.Major(), "Minor": v.Minor(), "Patch": v.Patch()} {
		if int64(n) < 0 {
			return nil, wrapArgument(0, errors.New("has a number beyond 64 bits"))
		}
		parts[name] = int64(n)
	}
	return parts, nil
}

func versionIn(constraint, s string) (bool, error) {
	if len(constraint) > maxVersion {
		return false, wrapArgument(0, fmt.Errorf("is more than the limit of %d bytes", maxVersion))
	}
	c, err := semver.NewConstraint(constraint)
	if err != nil {
		return false, wrapArgument(0, errors.New("is not a constraint for versions"))
	}
	v, err := parseVersion(1, s)
	if err != nil {
		return false, err
	}
	return c.Check(v), nil
}

func parseVersion(i int, s string) (*semver.Version, error) {
	if len(s) > maxVersion {
		return nil, wrapArgument(i, fmt.Errorf("is more than the limit of %d bytes", maxVersion))
	}
	v, err := semver.NewVersion(s)
	if err != nil {
		return nil, wrapArgument(i, errors.New("is not a semantic version"))
	}
	return v, nil
}
