// A picture of a resource and its objects: text stays text, and the same objects give the
// same bytes. Layered layout libraries (dagre, elkjs) were looked at: a tree of two levels
// needs no more than rows.

const width = { resource: 200, child: 260, below: 150 };
const height = 46;
const gap = 14;
const between = 36;

const escape = (text) => text.replace(/[&<>"{}]/g, (c) => `&#${c.codePointAt(0)};`);

/** shortened is a text that fits into a box; the whole is its tooltip. */
const shortened = (text, box) => {
  const most = Math.floor((box - 20) / 7);
  return text.length <= most ? text : text.slice(0, most - 1) + "…";
};

function box(kind, x, y, title, note) {
  const w = width[kind];
  return [
    `<g class="${kind}"><title>${escape(title + (note ? ": " + note : ""))}</title>`,
    `<rect x="${x}" y="${y}" width="${w}" height="${height}" rx="6"/>`,
    `<text x="${x + 10}" y="${y + (note ? 19 : 28)}">${escape(shortened(title, w))}</text>`,
    note ? `<text class="note" x="${x + 10}" y="${y + 37}">${escape(shortened(note, w))}</text>` : "",
    "</g>",
  ].join("");
}

function line(x1, y1, x2, y2, kind) {
  const half = (x1 + x2) / 2;
  return `<path class="${kind}" d="M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}"/>`;
}

/**
 * picture draws a resource, its objects beside it, and what Kubernetes creates for them.
 * resource is {title, note}; each object is {title, note, patch, below}.
 */
export function picture(resource, objects) {
  const rows = Math.max(objects.length, 1);
  const tall = rows * (height + gap) - gap;
  const left = width.resource + between;
  const right = left + width.child + between;
  const wide = right + width.below; // so that all pictures have one scale
  const middle = tall / 2;
  const parts = objects.map((object, i) => {
    const y = i * (height + gap);
    const kind = object.patch ? "patch" : "owns";
    let part = line(width.resource, middle, left, y + height / 2, kind);
    part += box("child", left, y, object.title, object.note);
    if (object.below) {
      part += line(left + width.child, y + height / 2, right, y + height / 2, "below");
      part += box("below", right, y, object.below, "");
    }
    return part;
  });
  const label = `${resource.title} and its objects: ${objects.map((o) => o.title).join(", ") || "none"}`;
  return [
    `<svg v-pre class="objects" role="img" aria-label="${escape(label)}" viewBox="-1 -1 ${wide + 2} ${tall + 2}" width="${wide + 2}">`,
    ...parts,
    box("resource", 0, middle - height / 2, resource.title, resource.note),
    "</svg>",
  ].join("");
}
