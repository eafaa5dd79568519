package live

import (
	"regexp"
	"strings"
)

var (
	// webhookFails is how the API server says that it cannot convert an object.
	webhookFails = regexp.MustCompile(`conversion webhook for [^\n]* failed: [^\n]*`)
	// storedObject is how it names one that it cannot read.
	storedObject = regexp.MustCompile(`(?:, (?:Key|Code|ResourceVersion): | revision=)[^,:\n]*`)
)

// Unreadable returns what the API server says of stored objects that it cannot read, if
// it does. A conversion webhook that fails is named. The objects are not, since they may
// be in any namespace, and are others from one request to the next.
func Unreadable(message string) (text string, is bool) {
	if fails := webhookFails.FindString(message); fails != "" {
		return fails, true
	}
	if strings.Contains(message, "StorageError: ") {
		return storedObject.ReplaceAllString(message, ""), true
	}
	return message, false
}
