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

// asRoot are the files of the playground as `jacquard --root` wants them, and the name of
// the kind's CRD.
export function asRoot(files) {
  const crd = Object.keys(files).find((name) => name.startsWith('crds/'))
  const kind = crd ? crd.slice('crds/'.length).replace(/\.ya?ml$/, '') : 'kind'
  const all = {}
  for (const name of Object.keys(files).sort()) {
    const example = `examples/${kind}.yaml`
    if (name === 'resource.yaml' && !(example in files)) all[example] = files[name]
    else if (name !== 'cluster.yaml' || files[name].trim() !== '') all[name] = files[name]
  }
  return { kind, files: all }
}

// renamed are the files with one of them under another name. With its CRD a kind is renamed:
// its folder, its example, and its plural and group where files write them.
export function renamed(files, from, to) {
  const name = (file) => /^crds\/([\w-]+\.[\w.-]+)\.yaml$/.exec(file)?.[1]
  const [was, is] = [name(from), name(to)]
  if (!was || !is) return Object.fromEntries(Object.entries(files).map(([file, text]) => [file === from ? to : file, text]))
  const parts = (of) => [of.slice(0, of.indexOf('.')), of.slice(of.indexOf('.') + 1)]
  const [[plural, group], [newPlural, newGroup]] = [parts(was), parts(is)]
  const literal = (text) => text.replace(/[.-]/g, '\\$&')
  const places = [
    [new RegExp(`(?<![\\w.-])${literal(was)}(?![\\w-])`, 'g'), is],
    [new RegExp(`(?<=\\bplural: *)${literal(plural)}(?![\\w-])`, 'g'), newPlural],
    [new RegExp(`(?<=\\b(?:group|apiVersion): *)${literal(group)}(?![\\w.-])`, 'g'), newGroup],
  ]
  return Object.fromEntries(
    Object.entries(files).map(([file, text]) => [
      file === from ? to : file === `examples/${was}.yaml` ? `examples/${is}.yaml` : file.replace(`templates/${was}/`, `templates/${is}/`),
      places.reduce((all, [at, by]) => all.replace(at, by), text),
    ]),
  )
}
