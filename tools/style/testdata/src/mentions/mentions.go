package mentions

import (
	"strings"
	stdtime "time"
)

// A leaseFence is what [leaseFence.remaining], [remaining] and [*leaseFence] are about.
type leaseFence struct {
	maxAge    stdtime.Duration `json:"maximumAge"`
	LastRenew stdtime.Time
}

// remaining needs maxAge, and replaces [tenureLeft]. // want `^tenureLeft is named in a comment, but neither this package nor an import has it; name what exists`
func (f leaseFence) remaining(timeNow stdtime.Time) stdtime.Duration {
	// timeNow is local; nowTime is nothing. // want `^nowTime is named in a comment`
	return f.maxAge - timeNow.Sub(f.LastRenew)
}

// Imports are found by the name that they have here or there: stdtime.Duration, time.Time.Sub,
// strings.Builder. Not so time.Moment, // want `^time.Moment is named in a comment`
// or sync.Mutex, which nothing imports. // want `^sync.Mutex is named in a comment`
// Of a variable that is a field: fence.LastRenew, but not fence.NextRenew. // want `^fence.NextRenew is named in a comment`
var fence = leaseFence{}

// Names of imports: [strings.Cut], [text/strings.Split], [strings.Snip]. // want `^strings.Snip is named in a comment`
// Methods and fields of imports: unixMilli and writeString are none. // want `^unixMilli is named in a comment` `^writeString is named in a comment`
// UnixMilli and WriteString are. A method of what is gone: turnSet.begin. // want `^turnSet is named in a comment`
var _ strings.Builder

// Words in texts of this package are known: maximumAge in a tag, and healthCheck. So are fields of
// the API, one or several: ownerReferences, resourceVersions.
const key = "spec.healthCheck: true"

/* A block names oldName. // want `^oldName is named in a comment` */
var _ = key

// Paths, annotations, flags and escapes name other things: docs/fileName.md, fileName.go-like,
// example.org/someKey, --some-flagName, .Values.someValue, $someVar, \uXXXX and 10-secondLimit.
//
//	blocks of code, such as someCode.Here
//
//nolint:someLinter
var _ = fence

// A list [of words], an index [0], a slice []string and a set {"a"} are no links.
var _ = fence

// Words of English, of two in one line, e.g. This or i.e. That, and KUBERNETES stay.
var _ = fence
