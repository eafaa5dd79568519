// The files of the playground as those of a root, as `jacquard --root` wants them.

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
