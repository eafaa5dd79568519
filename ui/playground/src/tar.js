// A tar archive, as POSIX.1-1988 (ustar) has it: a header of 512 bytes before each file,
// whose text is filled up to a multiple of 512, and two empty blocks at the end.

const block = 512

// split is a name as the two fields that ustar has for it.
function split(name) {
  if (name.length <= 100) return ['', name]
  const at = name.lastIndexOf('/', 155)
  return [name.slice(0, at), name.slice(at + 1)]
}

function header(name, size) {
  const bytes = new Uint8Array(block)
  const put = (at, text) => bytes.set(new TextEncoder().encode(text), at)
  const octal = (n, digits) => n.toString(8).padStart(digits, '0')
  const [prefix, rest] = split(name)
  put(0, rest)
  put(100, '0000644\0')
  put(108, '0000000\0')
  put(116, '0000000\0')
  put(124, `${octal(size, 11)}\0`)
  put(136, `${octal(0, 11)}\0`)
  put(148, '        ')
  put(156, '0')
  put(257, 'ustar\x0000')
  put(345, prefix)
  put(148, `${octal(bytes.reduce((sum, b) => sum + b, 0), 6)}\0 `)
  return bytes
}

// tar is an archive of files, which are texts by name.
export function tar(files) {
  const parts = []
  for (const [name, text] of Object.entries(files)) {
    const bytes = new TextEncoder().encode(text)
    parts.push(header(name, bytes.length), bytes, new Uint8Array((block - (bytes.length % block)) % block))
  }
  parts.push(new Uint8Array(2 * block))
  return parts
}

// kindOf is the kind that a CRD defines, and named the kind of an object: '' if there is none.
const kindOf = (crd) => [...(crd ?? '').matchAll(/\bkind: *["']?(\w+)/g)].map(([, kind]) => kind).find((kind) => kind !== 'CustomResourceDefinition') ?? ''
const named = (object) => /^kind: *["']?(\w+)/m.exec(object)?.[1] ?? ''
const objects = (text) => text.split(/^(?=---)/m)

// asRoot are the files of the playground as `jacquard --root` wants them, and the name of
// the CRD: the resource is the example of its kind if that has none.
export function asRoot(files) {
  const crds = Object.keys(files).filter((name) => name.startsWith('crds/'))
  const kinds = objects(files['resource.yaml'] ?? '').map(named)
  const crd = crds.find((name) => kinds.includes(kindOf(files[name]))) ?? crds[0]
  const kind = crd ? crd.slice('crds/'.length).replace(/\.ya?ml$/, '') : 'kind'
  const example = `examples/${kind}.yaml`
  const all = {}
  for (const name of Object.keys(files).sort()) {
    if (name === 'resource.yaml' && !(example in files)) all[example] = files[name]
    else if (name !== 'cluster.yaml' || files[name].trim() !== '') all[name] = files[name]
  }
  return { kind, files: all }
}

// renamed are the files with one of them under another name. With its CRD a kind is renamed:
// its folder and its example, its name wherever it is written, its plural and group in the
// CRD, and its group in its resources. Of two files with one name only one is left.
export function renamed(files, from, to) {
  const name = (file) => /^crds\/([\w-]+\.[\w.-]+)\.yaml$/.exec(file)?.[1]
  const [was, is] = [name(from), name(to)]
  if (!was || !is) return Object.fromEntries(Object.entries(files).map(([file, text]) => [file === from ? to : file, text]))
  const [example, kind] = [`examples/${was}.yaml`, kindOf(files[from])]
  const parts = (of) => [of.slice(0, of.indexOf('.')), of.slice(of.indexOf('.') + 1)]
  const [[plural, group], [newPlural, newGroup]] = [parts(was), parts(is)]
  const literal = (text) => text.replace(/[.-]/g, '\\$&')
  const field = (key, text) => new RegExp(`(?<=\\b${key}: *["']?)${literal(text)}(?![\\w.-])`, 'g')
  const whole = new RegExp(`(?<![\\w.-])${literal(was)}(?![\\w-])`, 'g')
  const changed = (file, text) => {
    if (file === from) return text.replace(field('plural', plural), newPlural).replace(field('group', group), newGroup)
    if (file !== 'resource.yaml' && file !== example) return text
    return objects(text).map((one) => (named(one) === kind ? one.replace(field('apiVersion', group), newGroup) : one)).join('')
  }
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => [
      file === from ? to : file === example ? `examples/${is}.yaml` : file.replace(`templates/${was}/`, `templates/${is}/`),
      changed(file, text).replace(whole, is),
    ]),
  )
}
