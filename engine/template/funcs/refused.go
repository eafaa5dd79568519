package funcs

// Why a name is refused, where several share the reason.
const (
	clock     = "depends on the clock, so every render would differ; put the time into the resource's spec"
	dates     = "works on times of the operator's clock and time zone; write dates as text"
	random    = "is random, so every render would differ; for a password use stable, for an identity .metadata.uid"
	keyMaking = "makes keys or certificates, which differ with every render; make a Certificate of cert-manager"
	ciphers   = "puts keys into templates; leave secrets in a Secret and refer to it"
	operator  = "reads the operator's environment; put a setting of the installation into config.yaml and use config"
	osPaths   = "depends on the operator's system; use the function without os"
	webPages  = "escapes for web pages, which objects are not; values need no escaping"
	toml      = "has no exact form for these values; write TOML as text, or use toJson"
)

var refused = map[string]string{
	"ago": clock, "now": clock,
	"date": dates, "dateInZone": dates, "date_in_zone": dates,
	"dateModify": dates, "date_modify": dates,
	"mustDateModify": dates, "must_date_modify": dates,
	"htmlDate": dates, "htmlDateInZone": dates,
	"toDate": dates, "mustToDate": dates, "unixEpoch": dates,

	"randAlphaNum": random, "randAlpha": random, "randAscii": random,
	"randNumeric": random, "randBytes": random, "randInt": random,
	"shuffle": "is random, so every render would differ; keep the order, or use sortAlpha",
	"uuidv4":  "is random, so every render would differ; for an identity use .metadata.uid",

	"genPrivateKey": keyMaking, "genCA": keyMaking, "genCAWithKey": keyMaking,
	"genSelfSignedCert": keyMaking, "genSelfSignedCertWithKey": keyMaking,
	"genSignedCert": keyMaking, "genSignedCertWithKey": keyMaking,
	"buildCustomCert": keyMaking,

	"bcrypt":         "salts at random, so every render would differ; hash the password where the Secret is made",
	"htpasswd":       "salts at random, so every render would differ; hash the password where the Secret is made",
	"derivePassword": "makes passwords in templates, slowly; use stable, which draws a password once",
	"encryptAES":     ciphers, "decryptAES": ciphers,

	"env": operator, "expandenv": operator,
	"getHostByName": "asks DNS, whose answer changes; use the host name itself",
	"osBase":        osPaths, "osClean": osPaths, "osDir": osPaths,
	"osExt": osPaths, "osIsAbs": osPaths,

	"html": webPages, "js": webPages,
	"call":  "calls functions that are values, and no value is a function; use include",
	"hello": "only greets; write the text itself",
	"tpl":   "would run a value as a template; write the template into the folder and use include",

	"toToml": toml, "mustToToml": toml,
	"fromToml": "has no exact form for these values; use fromYaml or fromJson",
}
