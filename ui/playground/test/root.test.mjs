import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asRoot, renamed } from '../src/root.js'

test('files are where jacquard looks for them', () => {
  const files = { 'resource.yaml': 'r', 'cluster.yaml': ' \n', 'crds/a.example.com.yaml': 'c', 'templates/a.example.com/b.yaml': 't' }
  assert.deepEqual(asRoot(files), {
    kind: 'a.example.com',
    files: { 'examples/a.example.com.yaml': 'r', 'crds/a.example.com.yaml': 'c', 'templates/a.example.com/b.yaml': 't' },
  })
  assert.equal(asRoot({ ...files, 'cluster.yaml': 'x' }).files['cluster.yaml'], 'x')
  const both = asRoot({ ...files, 'examples/a.example.com.yaml': 'e' }).files
  assert.deepEqual([both['examples/a.example.com.yaml'], both['resource.yaml']], ['e', 'r'])
})

test('the resource is the example of its own kind', () => {
  const files = {
    'resource.yaml': 'kind: Secret\n---\nkind: B\n', 'crds/as.example.com.yaml': 'kind: CustomResourceDefinition\nnames: {kind: A}',
    'crds/bs.example.com.yaml': 'kind: CustomResourceDefinition\nnames: {kind: B}',
  }
  assert.equal(asRoot(files).files['examples/bs.example.com.yaml'], files['resource.yaml'])
})

test('with its CRD a kind is renamed, and no other of its group', () => {
  const files = {
    'resource.yaml': 'apiVersion: example.com/v1\nkind: Theme\n---\napiVersion: "example.com/v1"\nkind: A\n',
    'cluster.yaml': 'apiVersion: example.com/v1\nkind: Theme\n',
    'crds/as.example.com.yaml': 'kind: CustomResourceDefinition\nmetadata: {name: as.example.com}\nspec: {group: "example.com", names: {kind: A, plural: as, listKind: AsList}}\n',
    'schemas/themes.example.com.yaml': 'metadata: {name: themes.example.com}\nspec: {group: example.com, names: {plural: themes}}\n',
    'templates/as.example.com/b.yaml': 'host: www.example.com\n# templates/as.example.com\n{{ lookup "example.com/v1" "Theme" }}',
    'templates/as.example.com/kind.yaml': 'reads: [{apiVersion: example.com/v1, kind: Theme}]\n',
    'examples/as.example.com.yaml': 'apiVersion: example.com/v1\nkind: A',
  }
  assert.deepEqual(renamed(files, 'crds/as.example.com.yaml', 'crds/bs.acme.dev.yaml'), {
    'resource.yaml': 'apiVersion: example.com/v1\nkind: Theme\n---\napiVersion: "acme.dev/v1"\nkind: A\n',
    'cluster.yaml': files['cluster.yaml'],
    'crds/bs.acme.dev.yaml': 'kind: CustomResourceDefinition\nmetadata: {name: bs.acme.dev}\nspec: {group: "acme.dev", names: {kind: A, plural: bs, listKind: AsList}}\n',
    'schemas/themes.example.com.yaml': files['schemas/themes.example.com.yaml'],
    'templates/bs.acme.dev/b.yaml': 'host: www.example.com\n# templates/bs.acme.dev\n{{ lookup "example.com/v1" "Theme" }}',
    'templates/bs.acme.dev/kind.yaml': files['templates/as.example.com/kind.yaml'],
    'examples/bs.acme.dev.yaml': 'apiVersion: acme.dev/v1\nkind: A',
  })
  const file = 'templates/as.example.com/b.yaml'
  assert.deepEqual(renamed(files, file, 'templates/as.example.com/c.yaml'), Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name === file ? 'templates/as.example.com/c.yaml' : name, text])))
})
