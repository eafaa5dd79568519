// Where the boxes of a resource's tree stand. On a wide page the tree grows to the right,
// each parent beside the middle of what it owns; on a narrow one it is an outline.

const wide = { width: 248, height: 56, gapX: 52, gapY: 12 }

// pruned cuts how many children of one parent are shown, unless it was opened.
export function pruned(root, limit, open) {
  const cut = (node) => {
    const dependents = node.dependents ?? []
    const shown = open.has(node.id) ? dependents : dependents.slice(0, limit)
    return { ...node, dependents: shown.map(cut), hidden: dependents.length - shown.length }
  }
  return cut(root)
}

// rooted makes of a tree of the API one node with an id for each, unique by its place.
export function rooted(tree) {
  const node = (n, parent, i) => {
    const id = `${parent}/${i}`
    return { ...n, id, dependents: (n.dependents ?? []).map((o, j) => node(o, id, j)) }
  }
  const of = (type) => (tree.conditions ?? []).find((c) => c.type === type)
  const ready = of('Ready')
  return {
    id: '0',
    root: true,
    kind: String(tree.resource ?? '').split(' ')[0],
    namespace: tree.namespace,
    name: tree.name,
    created: tree.created,
    ready: ready?.status === 'True',
    color: tree.color,
    word: tree.word,
    message: ready?.status === 'True' ? '' : ready?.message,
    dependents: (tree.children ?? []).map((c, i) => node(c, '0', i)),
  }
}

export function layout(root, narrow = false) {
  const boxes = []
  const lines = []
  let next = 0
  const place = (node, depth, parent) => {
    const box = { node, depth, parent, x: depth * (wide.width + wide.gapX), y: 0, width: wide.width, height: wide.height }
    boxes.push(box)
    const dependents = node.dependents.map((child) => place(child, depth + 1, box))
    if (dependents.length === 0) {
      box.y = next
      next += wide.height + wide.gapY
    } else {
      box.y = (dependents[0].y + dependents[dependents.length - 1].y) / 2
    }
    for (const child of dependents) lines.push({ from: box, to: child, dashed: Boolean(child.node.patched) })
    return box
  }
  place(root, 0, null)
  if (narrow) {
    boxes.forEach((box, i) => {
      box.x = box.depth * 16
      box.y = i * (wide.height + 8)
    })
  }
  const width = Math.max(...boxes.map((b) => b.x + b.width))
  const height = Math.max(...boxes.map((b) => b.y + b.height))
  return { boxes, lines: lines.map((l) => ({ ...l, path: path(l.from, l.to, narrow) })), width, height }
}

function path(from, to, narrow) {
  if (narrow) return `M${from.x + 8} ${from.y + from.height}V${to.y + to.height / 2}H${to.x}`
  const x1 = from.x + from.width
  const y1 = from.y + from.height / 2
  const y2 = to.y + to.height / 2
  const mid = (x1 + to.x) / 2
  return y1 === y2 ? `M${x1} ${y1}H${to.x}` : `M${x1} ${y1}C${mid} ${y1} ${mid} ${y2} ${to.x} ${y2}`
}
