package live

import "testing"

// TestUnreadable: of answers of an API server 1.37 about objects that it cannot read,
// the reason stays, and no name of an object does.
func TestUnreadable(t *testing.T) {
	const webhook = `conversion webhook for sick.example.com/v1beta1, Kind=Sick failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`
	for name, c := range map[string]struct {
		message, text string
		is            bool
	}{
		"list":  {`failed to read one or more sicks.sick.example.com from the storage: StorageError: corrupt object, Code: 7, Key: /registry/sick.example.com/sicks/default/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=215: ` + webhook, webhook, true},
		"get":   {`Internal error occurred: StorageError: corrupt object, Code: 7, Key: /sick.example.com/sicks/default/a, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=215: ` + webhook, webhook, true},
		"watch": {webhook, webhook, true},
		"other": {`Internal error occurred: StorageError: corrupt object, Code: 7, Key: /registry/secrets/team-a/db, ResourceVersion: 0, AdditionalErrorMsg: data from the storage is not transformable revision=3: no matching prefix found`,
			`Internal error occurred: StorageError: corrupt object, AdditionalErrorMsg: data from the storage is not transformable: no matching prefix found`, true},
		"not ready": {"storage is (re)initializing", "storage is (re)initializing", false},
	} {
		t.Run(name, func(t *testing.T) {
			if text, is := Unreadable(c.message); text != c.text || is != c.is {
				t.Errorf("got %t %s\nwant %t %s", is, text, c.is, c.text)
			}
		})
	}
}
